"""The option `--device` of the commands that run a model."""

import argparse


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add it; `elmo_bench.devices.resolve_device` takes its value."""
    parser.add_argument(
        "--device", default="auto", metavar="DEVICE",
        help="where the model runs: cpu, cuda, cuda:1, mps; auto takes a GPU if there is one "
        "(default: %(default)s)",
    )  # fmt: skip
