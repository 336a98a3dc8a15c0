"""`elmo-bench data`: open corpora that are compared with the manifest, or made from clones."""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from elmo_bench.errors import UserError

if TYPE_CHECKING:
    from elmo_bench.data.manifest import Manifest, OpenCorpus, OpenFile

HELP = "check open corpora against the manifest of the results, or make them from clones"

_STYLES = {"same": "green", "differs": "red", "missing": "yellow"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", help="compare a folder of open corpora with the manifest")
    make = actions.add_parser("make", help="make corpora from clones of their repositories")
    make.add_argument(
        "sources", type=Path, metavar="SOURCES",
        help="folder of the clones, each named like its repository; see docs/open-data.md",
    )  # fmt: skip
    update = actions.add_parser(
        "update", help="write the sizes, hashes and counts of a folder into the manifest"
    )
    for action in (check, make, update):
        action.add_argument("directory", type=Path, metavar="DIR", help="the folder of corpora")
        action.add_argument(
            "--only", type=lambda names: names.split(","), default=[], metavar="NAMES",
            help="only these folders or corpora, separated by commas, such as ner,srl",
        )  # fmt: skip
        action.add_argument(
            "--manifest", type=Path, metavar="FILE",
            help="another manifest (default: the one of the results)",
        )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from elmo_bench.data.manifest import SHIPPED, read_manifest

    path = args.manifest or SHIPPED
    manifest = read_manifest(path)
    corpora = manifest.only(args.only)
    if args.action == "update":
        return _update(manifest, corpora, args.directory, path.resolve())
    if args.action == "make":
        return _make(corpora, args.sources, args.directory)
    return _check(corpora, args.directory)


def _check(corpora: Sequence["OpenCorpus"], folder: Path) -> int:
    """Print a row per file; the status is 1 if a file that is there differs."""
    from rich.console import Console
    from rich.progress import Progress

    from elmo_bench.data.manifest import locate
    from elmo_bench.report.cells import Cell, Table, word
    from elmo_bench.report.terminal import new_console, show

    paths = {file.path: locate(folder, file) for corpus in corpora for file in corpus.files}
    size = sum(path.stat().st_size for path in paths.values() if path)
    if not any(paths.values()):
        raise UserError(f"{folder} has none of the {len(paths)} files that were asked for")
    rows = []
    states: Counter[str] = Counter()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("hashing", total=size)

        def watched(path: Path) -> BinaryIO:
            return progress.wrap_file(path.open("rb"), size, task_id=task)

        for corpus in corpora:
            heading = word(f"{corpus.folder}: {corpus.name} ({corpus.license})")
            for file in corpus.files:
                state, content = _compared(file, paths[file.path], watched)
                states[state] += 1
                name = word(file.path.removeprefix(f"{corpus.folder}/"))
                shown = Cell(state, style=_STYLES[state])
                rows.append({"file": name, "state": shown, "content": word(content), "of": heading})
    columns = {"file": "file", "state": "state", "content": "content", "of": ""}
    counts = ", ".join(f"{states[state]} {state}" for state in _STYLES)
    title = f"Files in {folder}"
    show(Table("data", title, columns, rows, [counts], headings=("of",)), new_console())
    return 1 if states["differs"] else 0


def _compared(
    file: "OpenFile", path: Path | None, open_file: Callable[[Path], BinaryIO]
) -> tuple[str, str]:
    """The state of a file, and what it has, or should have if it is missing."""
    from elmo_bench.data.files import DataError
    from elmo_bench.data.manifest import content

    if path is None:
        return "missing", _counted(file)
    try:
        found = content(path, open_file)
    except DataError:
        return "differs", "damaged or truncated .gz file"
    if found.sha256 == file.sha256:
        return "same", _counted(file)
    if found.bytes == file.bytes:
        return "differs", f"other content, as many bytes ({found.bytes:,})"
    return "differs", f"{found.bytes:,} bytes, not {file.bytes:,}"


def _counted(file: "OpenFile") -> str:
    counts = file.counts or {"bytes": file.bytes}
    return ", ".join(f"{number:,} {unit}" for unit, number in counts.items())


def _make(corpora: Sequence["OpenCorpus"], sources: Path, folder: Path) -> int:
    """Make what is missing and compare all with the manifest; what exists is not replaced."""
    from rich.console import Console

    from elmo_bench.data.manifest import locate
    from elmo_bench.data.open_corpora import MAKERS, make
    from elmo_bench.records.atomic import write_gzip, write_text

    corpora = [corpus for corpus in corpora if corpus.name in MAKERS]
    if not corpora:
        raise UserError(f"clones are enough for {', '.join(MAKERS)}; none of them was asked for")
    for corpus in corpora:
        with Console(stderr=True).status(f"making {corpus.name}"):
            missing = {file.path for file in corpus.files if locate(folder, file) is None}
            for name, text in make(corpus, sources) if missing else ():
                if name in missing and name.endswith(".gz"):
                    write_gzip(folder / name, text.encode())
                elif name in missing:
                    write_text(folder / name, text)
    return _check(corpora, folder)


def _update(manifest: "Manifest", chosen: Sequence["OpenCorpus"], folder: Path, path: Path) -> int:
    """Measure corpora in a folder; what was written by hand stays as it is."""
    from rich.console import Console
    from rich.progress import track

    from elmo_bench.data.manifest import measured, write_manifest

    steps = track(chosen, "measuring", console=Console(stderr=True), transient=True)
    found = {corpus.name: measured(corpus, folder) for corpus in steps}
    corpora = [found.get(corpus.name, corpus) for corpus in manifest.corpora]
    write_manifest(manifest.model_copy(update={"corpora": corpora}), path)
    print(f"wrote {path}")
    return 0
