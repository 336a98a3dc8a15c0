"""Run one task, or a sweep with -m: `python run.py task=ner`."""

import sys

from elmo_bench.commands.run import main

if __name__ == "__main__":
    sys.exit(main())
