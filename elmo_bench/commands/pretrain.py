"""`elmo-bench pretrain`: pretrain a biLM, as `python pretrain.py` does from a checkout."""

import argparse
import sys

HELP = "pretrain a biLM (as python pretrain.py)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = parser.add_argument("overrides", nargs="*", metavar="GROUP=OPTION or KEY=VALUE")
    words.completer = complete_options  # type: ignore[attr-defined]


def complete_options(prefix: str, **_: object) -> list[str]:
    """The options of config groups, for shell completion."""
    from elmo_bench.config.hydra_main import group_options

    return [word for word in group_options("pretrain") if word.startswith(prefix)]


def run(args: argparse.Namespace) -> int:
    return main(args.overrides, "elmo-bench pretrain")


def main(words: list[str] | None = None, program: str = "python pretrain.py") -> int:
    """Train what the command line says."""
    from elmo_bench.config.hydra_main import guarded

    def app() -> None:
        from elmo_bench.pretraining.app import pretrain_app  # Hydra takes a moment to import

        pretrain_app()

    return guarded(app, "pretrain", program, sys.argv[1:] if words is None else words)
