"""`elmo-bench run`: one run or a sweep, as `python run.py` does from a checkout."""

import argparse
import sys

HELP = "run a task with and without ELMo, or a sweep (as python run.py)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = parser.add_argument("overrides", nargs="*", metavar="GROUP=OPTION or KEY=VALUE")
    words.completer = complete_options  # type: ignore[attr-defined]


def complete_options(prefix: str, **_: object) -> list[str]:
    """The options of config groups, for shell completion."""
    from elmo_bench.config.hydra_main import group_options

    return [word for word in group_options("run") if word.startswith(prefix)]


def run(args: argparse.Namespace) -> int:
    return main(args.overrides, "elmo-bench run")


def main(words: list[str] | None = None, program: str = "python run.py") -> int:
    """Run what the command line says."""
    from elmo_bench.config.hydra_main import guarded

    def app() -> None:
        from elmo_bench.sweep.app import run_app  # Hydra takes a moment to import

        run_app()

    return guarded(app, "run", program, sys.argv[1:] if words is None else words)
