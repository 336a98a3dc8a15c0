"""`elmo-bench neighbors`: nearest neighbors of a word in context, by the layers of a biLM."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elmo_bench.config.device_argument import add_device
from elmo_bench.errors import UserError

if TYPE_CHECKING:
    from elmo_bench.analysis.neighbors import Neighbor, Query

HELP = "find the uses of a word in a text file that are nearest to its use in a sentence"
AROUND = 15  # tokens shown on either side of the word


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "bilm",
        help="a biLM folder, a name in results/bilm, a published biLM such as official_small, or a "
        "transformer's folder or Hub id",
    )
    parser.add_argument(
        "file", type=Path,
        help="one tokenized sentence per line, or .jsonl with senses; plain or .gz",
    )  # fmt: skip
    parser.add_argument("--sentence", required=True, help="a tokenized sentence")
    parser.add_argument(
        "--word", required=True, help="a token of the sentence; its first occurrence is used"
    )
    parser.add_argument(
        "--layer", type=int, help="layer to compare; 0 is the token layer (default: the last layer)"
    )
    parser.add_argument(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="number of neighbors (default: %(default)s)",
    )
    parser.add_argument(
        "--any-word", action="store_true", help="search all words of the file, not only this one"
    )
    parser.add_argument(
        "--center", action="store_true", help="subtract the mean of all occurrences first"
    )
    parser.add_argument(
        "--vectors", type=Path, metavar="FILE",
        help="static vectors in GloVe's format for comparison (default: the biLM's token layer)",
    )  # fmt: skip
    parser.add_argument(
        "--picture", type=Path, metavar="FILE",
        help="plot the word's occurrences, colored by sense if known, to a .png, .svg or .pdf",
    )  # fmt: skip
    parser.add_argument(
        "--cache", type=Path, default=Path("cache/neighbors"), metavar="DIR",
        help="folder of indexes of text files (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, default=Path("results/analysis"), metavar="DIR",
        help="folder to record the result in (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--no-record", action="store_true", help="do not record the result")
    add_device(parser)


def run(args: argparse.Namespace) -> int:
    """Search, print, draw and record."""
    from elmo_bench.features.loading import load_encoder

    bilm = load_encoder(args.bilm, args.device)
    from elmo_bench.analysis import neighbors as neighbors
    from elmo_bench.analysis import static
    from elmo_bench.records.timer import StageTimer

    if args.top < 1:
        raise UserError(f"--top must be at least 1, not {args.top}")
    clock = StageTimer()
    layer = neighbors.check_layer(bilm, args.layer)
    query = neighbors.ask(bilm, args.sentence, args.word)
    word = None if args.any_word else args.word
    with clock("index"):
        index = neighbors.word_index(bilm, args.file, word, layer, args.cache)
    with clock("search"):
        found = neighbors.nearest(index, args.file, query, layer, args.top, args.center)
    with clock("static"):
        if args.vectors:
            alike = static.similar_words(args.word, args.vectors, args.top)
        else:
            alike = static.similar_tokens(args.word, bilm, args.file, args.top)
    _show(args, layer, len(index), query, found, alike)
    if args.picture:
        _draw(args, bilm, query, found)
    if not args.no_record:
        sizes = {"occurrences": len(index)}
        _record(args, bilm, layer, query, found, alike, sizes, clock.seconds)
    return 0


def _show(
    args: argparse.Namespace,
    layer: int,
    occurrences: int,
    query: "Query",
    found: list["Neighbor"],
    alike: list[tuple[float, str]],
) -> None:
    from elmo_bench.report.analysis_tables import in_context
    from elmo_bench.report.cells import Cell, Table, count, decimal, word
    from elmo_bench.report.terminal import new_console, show
    from elmo_bench.report.weights import layer_name

    rows = [
        {
            "cosine": decimal(neighbor.similarity, 3),
            "line": count(neighbor.line),
            "sense": word(neighbor.sense or ""),
            "sentence": Cell(
                in_context(neighbor.tokens, neighbor.position, AROUND),
                strong=f"[{neighbor.tokens[neighbor.position]}]",
            ),
        }
        for neighbor in found
    ]
    source = args.vectors.name if args.vectors else "the token layer"
    words = ", ".join(f"{other} {similarity:.2f}" for similarity, other in alike)
    notes = [f"Without context, by {source}: {words or 'the word is unknown'}"]
    asked = in_context(query.tokens, query.position, AROUND)
    where = f"{occurrences:,} occurrences in {args.file.name}, {layer_name(layer)}"
    title = f"{asked}\nNearest of {where}"
    columns = {"cosine": "cosine", "line": "line", "sense": "sense", "sentence": "sentence"}
    show(Table("neighbors", title, columns, rows, notes, narrow=("line",)), new_console())


def _draw(args: argparse.Namespace, bilm: Any, query: "Query", found: list["Neighbor"]) -> None:
    """Draw the word's occurrences at each layer except 0, where they hardly differ."""
    from elmo_bench.analysis.neighbors import word_index
    from elmo_bench.analysis.pictures import draw_occurrences, sample_rows
    from elmo_bench.analysis.text import pick_lines
    from elmo_bench.report.figures.style import save, styled

    index = word_index(bilm, args.file, args.word, bilm.num_layers - 1, args.cache)
    near = [row for n in found for row in index.rows(n.line, n.position)]
    rows = sample_rows(len(index), near)
    positions = [(int(line), int(position)) for line, position in index.positions[rows]]
    lines = pick_lines(args.file, {line for line, _ in positions})
    layers = range(1, bilm.num_layers)
    title = (
        f"{len(rows):,} of {len(index):,} occurrences"
        if len(rows) < len(index)
        else (f"{len(index):,} occurrences")
    )
    with styled():
        figure = draw_occurrences(
            f"{title} of “{args.word}” in {args.file.name}",
            {layer: index.vectors[layer][rows] for layer in layers},
            [lines[line].senses.get(position) for line, position in positions],
            {layer: query.layers[layer] for layer in layers},
            [rows.index(row) for row in near],
        )
        save(figure, args.picture)
    print(args.picture)


def _record(
    args: argparse.Namespace,
    bilm: Any,
    layer: int,
    query: "Query",
    found: list["Neighbor"],
    alike: list[tuple[float, str]],
    sizes: dict[str, int],
    seconds: dict[str, float],
) -> None:
    from dataclasses import asdict

    from elmo_bench.records.analysis import Analysis, write_analysis
    from elmo_bench.records.digest import file_identity

    settings = {
        "text": file_identity(args.file),
        "vectors": file_identity(args.vectors) if args.vectors else None,
        "sentence": list(query.tokens),
        "position": query.position,
        "layer": layer,
        "top": args.top,
        "any_word": args.any_word,
        "center": args.center,
    }
    analysis = Analysis(
        analysis="neighbors",
        bilm=bilm.name,
        fingerprint=bilm.fingerprint(),
        data=args.file.name,
        settings=settings,
        examples={
            "neighbors": [asdict(neighbor) for neighbor in found],
            "static": [[word, similarity] for similarity, word in alike],
        },
        sizes=sizes,
        seconds=seconds,
    )
    print(write_analysis(analysis, args.results))
