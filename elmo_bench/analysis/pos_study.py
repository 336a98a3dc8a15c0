"""The part-of-speech analysis, from files to a result with every layer and the baselines."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from elmo_bench.analysis import pos_probe
from elmo_bench.analysis.pos_probe import PosScores, Tags, Training
from elmo_bench.analysis.static import read_known
from elmo_bench.analysis.tagged import (
    CONLL2000,
    DEV_EVERY,
    Columns,
    Tagged,
    cut_dev,
    is_conll2012,
    read_tagged,
)
from elmo_bench.features.encoder import Encoder
from elmo_bench.records.analysis import Analysis
from elmo_bench.records.digest import file_identity
from elmo_bench.records.timer import StageTimer

Splits = dict[str, Sequence[Tagged]]


def study_pos(
    bilm: Encoder,
    files: Mapping[str, Path],
    data: str,
    vectors: Path | None = None,
    limit: int | None = None,
    training: Training | None = None,
    cache: Path = Path("cache"),
    columns: Columns = CONLL2000,
) -> Analysis:
    """Train a linear classifier of parts of speech on every layer.

    Args:
        bilm: The biLM that computes the layers.
        files: Of `train` and `test`, in CoNLL-2012 or other columns, and of `dev`; without one,
            every tenth training sentence is dev.
        data: Their name in tables.
        vectors: Static vectors for a baseline.
        limit: Use at most this many training sentences.
        training: Training settings; the defaults if None.
        cache: The folder for temporary files of vectors.
        columns: Where words and tags are in files that are not CoNLL-2012.
    """
    timer = StageTimer()
    training = training or Training()
    splits = _read(files, columns)
    splits["train"] = splits["train"][:limit]
    tags = Tags(splits["train"])
    with timer("baselines"):
        baselines = _baselines(tags, splits, vectors, training)
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache, prefix="pos-") as folder:
        with timer("layers"):
            stacks = {
                name: pos_probe.gather(bilm, some, Path(folder) / f"{name}.npy")
                for name, some in splits.items()
            }
        with timer("probes"):
            layers = [
                pos_probe.probe_pos(tags, splits, {s: stacks[s][layer] for s in stacks}, training)
                for layer in range(bilm.num_layers)
            ]
    inputs = {**files, "vectors": vectors} if vectors else files
    identities = {name: file_identity(path) for name, path in sorted(inputs.items())}
    sizes = {name: sum(len(s.words) for s in some) for name, some in splits.items()}
    return Analysis(
        analysis="pos",
        bilm=bilm.name,
        fingerprint=bilm.fingerprint(),
        data=data,
        settings={
            "limit": limit,
            "training": asdict(training),
            "files": identities,
            **_reading(files, columns),
        },
        metric="accuracy",
        layers=[scores._asdict() for scores in layers],
        baselines={name: scores._asdict() for name, scores in baselines.items()},
        sizes={**sizes, "tags": len(tags.names)},
        seconds=timer.seconds,
    )


def _read(files: Mapping[str, Path], columns: Columns) -> Splits:
    splits: Splits = {name: read_tagged(path, columns) for name, path in files.items()}
    if "dev" not in splits:
        splits["train"], splits["dev"] = cut_dev(splits["train"])
    return splits


def _reading(files: Mapping[str, Path], columns: Columns) -> dict[str, Any]:
    """For the record: how the files were read, as far as they do not say it themselves."""
    plain = not all(is_conll2012(path) for path in files.values())
    found: dict[str, Any] = {"columns": list(columns)} if plain else {}
    return found if "dev" in files else {**found, "dev_every": DEV_EVERY}


def _baselines(
    tags: Tags, splits: Splits, vectors: Path | None, training: Training
) -> dict[str, PosScores]:
    found = {"most frequent tag": pos_probe.frequent_tags(splits["train"], splits["test"], tags)}
    if vectors is not None:
        words = {word for some in splits.values() for sentence in some for word in sentence.words}
        static = read_known(vectors, words)
        rows = {name: pos_probe.static_rows(some, static) for name, some in splits.items()}
        found[f"static vectors, {vectors.name}"] = pos_probe.probe_pos(tags, splits, rows, training)
    return found
