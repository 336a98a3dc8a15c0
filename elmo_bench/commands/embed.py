"""`elmo-bench embed`: write the layers of every line of a text file, as bilm-tf dumps them."""

import argparse
from pathlib import Path

from elmo_bench.config.device_argument import add_device

HELP = "write the layers of every line of a text file to an HDF5 file"
_LINES = 1000  # embedded at once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bilm",
        help="a biLM folder, a name in results/bilm, a published biLM such as official_small, or a "
        "transformer's folder or Hub id",
    )
    parser.add_argument("file", type=Path, help="one tokenized sentence per line; plain or .gz")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the HDF5 file to write")
    parser.add_argument(
        "--state",
        choices=["reset", "carry"],
        default="reset",
        help="reset: read each line separately; carry: read the file as one stream, as "
        "bilm-tf does (default: %(default)s)",
    )
    parser.add_argument(
        "--dtype",
        choices=["float32", "float16"],
        default="float32",
        help="type of the stored layers (default: %(default)s)",
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        help="lines per batch (default: 64 on the CPU, what fits into memory on a GPU)",
    )
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Store each line under its number, counted from 0, as (layer, time, dim)."""
    from functools import partial

    import h5py
    from rich.progress import track

    from elmo_bench.data.files import numbered_lines
    from elmo_bench.features.frozen import embed_with
    from elmo_bench.features.loading import load_encoder
    from elmo_bench.records.atomic import replace_file

    bilm = load_encoder(args.bilm, args.device)
    alone = partial(bilm.embed, batch_size=args.batch_size)
    embed = embed_with(bilm, "carry") if args.state == "carry" else alone
    sentences = [tuple(line.split()) for _, line in numbered_lines(args.file)]
    piece = max(len(sentences), 1) if args.state == "carry" else _LINES
    with replace_file(args.output) as unfinished, h5py.File(unfinished, "w") as file:
        starts = range(0, len(sentences), piece)
        for start in track(starts, description="embedding", disable=len(starts) < 2):
            some = sentences[start : start + piece]
            for number, layers in enumerate(embed(some), start=start):
                data = layers.numpy().astype(args.dtype)
                file.create_dataset(str(number), data=data)
    tokens = sum(map(len, sentences))
    print(f"{args.output}: {len(sentences)} lines, {tokens} tokens, {bilm.num_layers} layers")
    return 0
