"""Pretrain a biLM: `python pretrain.py bilm=mini corpus=mini`."""

import sys

from elmo_bench.commands.pretrain import main

if __name__ == "__main__":
    sys.exit(main())
