"""The `elmo-bench` command, with one module in `elmo_bench/commands` per subcommand.

A command module has HELP (one line), add_arguments(parser) and run(args) -> exit status; one that
reads its command line itself has main(words, program) too. Heavy packages are imported inside
run(), so that `elmo-bench --help` starts quickly.
"""

import argparse
import logging
import sys
from importlib import import_module, metadata
from pkgutil import iter_modules

import argcomplete

from elmo_bench import commands
from elmo_bench.errors import end
from elmo_bench.records.visible import VisibleFormatter

DESCRIPTION = (
    "Reproduce ELMo: run tasks, pretrain biLMs, use and analyze them, and compare recorded runs "
    "with the paper."
)


def main(argv: list[str] | None = None) -> int:
    """Run a subcommand; what the user can mend is reported in one line."""
    words = sys.argv[1:] if argv is None else argv
    modules = {
        module.name: import_module(f"elmo_bench.commands.{module.name}")
        for module in iter_modules(commands.__path__)
    }
    parser = argparse.ArgumentParser(prog="elmo-bench", description=DESCRIPTION)
    version = metadata.version("elmo_bench")
    parser.add_argument("--version", action="version", version=f"elmo_bench {version}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in sorted(modules.items()):
        module.add_arguments(subparsers.add_parser(name, help=module.HELP, description=module.HELP))
    argcomplete.autocomplete(parser)
    if words and hasattr(modules.get(words[0]), "main"):  # overrides and flags are Hydra's
        return int(modules[words[0]].main(words[1:], f"elmo-bench {words[0]}"))
    args = parser.parse_args(words)
    if logging.lastResort is not None:  # what prints warnings of commands
        logging.lastResort.setFormatter(VisibleFormatter())
    try:
        return int(modules[args.command].run(args))
    except (Exception, KeyboardInterrupt) as error:
        return end(f"elmo-bench {args.command}", error)


if __name__ == "__main__":
    sys.exit(main())
