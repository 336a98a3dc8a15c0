"""The `elmo-bench` command: one module in `elmo_bench/commands` per subcommand.

A command module has HELP (one line), add_arguments(parser) and run(args) -> exit status.
It imports heavy packages inside run(), so that `elmo-bench --help` answers at once.
"""

import argparse
import sys
from importlib import import_module
from pkgutil import iter_modules

from elmo_bench import commands


def main(argv: list[str] | None = None) -> int:
    """Run a subcommand; bad input is told in one line, not in a traceback."""
    parser = argparse.ArgumentParser(prog="elmo-bench", description=__doc__.splitlines()[0])
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {
        module.name: import_module(f"elmo_bench.commands.{module.name}")
        for module in iter_modules(commands.__path__)
    }
    for name, module in sorted(modules.items()):
        module.add_arguments(subparsers.add_parser(name, help=module.HELP, description=module.HELP))
    args = parser.parse_args(argv)
    try:
        return int(modules[args.command].run(args))
    except (ValueError, OSError) as error:
        print(f"elmo-bench {args.command}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
