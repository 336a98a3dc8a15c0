"""Synthetic records that look like those of real runs, for tests and for checking figures by eye.

Nothing here is a result. `python tests/report/synthetic_records.py DIR` writes a folder of them.
"""

import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from elmo_bench.records.run import Record, write_record

# task -> metric, baseline score, gain, weight of each layer
TASKS: dict[str, tuple[str, float, float, list[float]]] = {
    "ner": ("f1", 78.0, 6.0, [0.14, 0.56, 0.30]),
    "sst5": ("accuracy", 45.0, 1.2, [0.17, 0.50, 0.33]),
    "snli": ("accuracy", 70.0, 3.0, [0.2, 0.45, 0.35]),
    "squad": ("f1", 62.0, 8.0, [0.08, 0.7, 0.22]),
    "srl": ("f1", 60.0, 9.0, [0.25, 0.47, 0.28]),
    "coref": ("conll_f1", 50.0, 5.0, [0.05, 0.82, 0.13]),
}
PLACEMENT_AND_L2 = {  # of elmo=paper, as in conf/task
    "ner": (["input"], 0.1),
    "sst5": (["input", "output"], 0.001),
    "snli": (["input", "output"], 0.001),
    "squad": (["input", "output"], 0.0),
    "srl": (["input"], 0.001),
    "coref": (["input"], 0.0),
}
LABELS = ["PER", "LOC", "ORG", "MISC"]
EVIL = "<script>document.title='harmed'</script>"
TEXT = (
    "The storm crossed Harbour Lane before Maria Lindqvist of Ostrava Steel said that the "
    "bridge to Nordhaven would close"
)
WORDS = TEXT.split()


def config(task: str, seed: int, **changes: Any) -> dict[str, Any]:
    """The settings of a run; `elmo=None` gives the baseline, `section__name` sets a dotted key."""
    made: dict[str, Any] = {
        "seed": seed,
        "data": {"kind": "mini", "name": "mini", "train_limit": None, "train_fraction": 1.0},
        "words": {"name": "random", "dim": 100, "lowercase": True},
        "elmo": {
            "name": "paper",
            "layers": "all",
            "scale": None,
            "placement": PLACEMENT_AND_L2[task][0],
            "l2": PLACEMENT_AND_L2[task][1],
        },
        "bilm": {"name": "mini", "weights": None, "fingerprint": "f00dcafe"},
        "cache_dtype": "float32",
        "task": {
            "name": task,
            "build": {"hidden_dim": 50},
            "training": {"max_epochs": 20, "patience": 3},
        },
    }
    if "elmo" in changes and changes["elmo"] is None:
        made["elmo"] = {"name": "none", "placement": []}
        del made["bilm"], made["cache_dtype"]
    for key, value in changes.items():
        section, _, name = key.partition("__")
        if name:
            made[section] = {**made[section], name: value}
    return made


def record(task: str, seed: int = 1, boost: float = 0.0, **changes: Any) -> Record:
    """A finished run; `boost` is added to the score that its settings give."""
    settings = config(task, seed, **changes)
    metric = TASKS[task][0]
    rng = np.random.default_rng([seed, *json.dumps(settings, sort_keys=True).encode()])
    score = _expected(task, settings) + boost + rng.normal(0, 0.5)
    baseline = settings["elmo"]["name"] == "none"
    epochs = list(_epochs(task, settings, score, rng))
    run = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:8]
    return Record(
        run=run,
        task=task,
        seed=seed,
        metric=metric,
        data=settings["data"]["name"],
        words=settings["words"]["name"],
        elmo=settings["elmo"]["name"],
        bilm=None if baseline else settings["bilm"]["name"],
        config=_identity(settings),
        overrides=_overrides(task, seed, changes),
        scores={"dev": {metric: score + 0.8}, "test": {metric: score}},
        layer_weights={} if baseline else _weights(task, settings, rng),
        epochs=epochs,
        sizes={"train": 800, "dev": 100, "test": 120, "parameters": 123_456},
        seconds={"training": 61.5, "features": 0.0 if baseline else 8.1},
        fingerprint=None if baseline else "f00dcafe",
        started="2026-03-01T10:00:00+00:00",
        finished=f"2026-03-{seed:02d}T11:00:00+00:00",
        environment={"python": "3.11.7", "packages": {"torch": "2.13.0"}, "commit": "abc123"},
    )


def _identity(settings: dict[str, Any]) -> dict[str, Any]:
    """What is stored: no names but the kind of word vectors, and nothing of ELMo in a baseline."""
    kept = {
        group: {k: v for k, v in values.items() if k != "name" or group in ("task", "words")}
        if isinstance(values, dict)
        else values
        for group, values in settings.items()
    }
    if settings["elmo"]["name"] == "none":
        del kept["elmo"]
    elif kept["bilm"]["weights"] == "random":
        del kept["bilm"]["fingerprint"]
    return kept


def _overrides(task: str, seed: int, changes: dict[str, Any]) -> list[str]:
    """The command line of such a run; options are chosen by name, other keys by their value."""
    words = [f"task={task}"]
    for key, value in changes.items():
        section, _, name = key.partition("__")
        if name == "name":
            words.append(f"{section}={value}")
        elif name:
            words.append(f"{section}.{name}={json.dumps(value)}")
    return [*words, f"seed={seed}"]


def _expected(task: str, settings: dict[str, Any]) -> float:
    _, base, gain, _ = TASKS[task]
    score = base + 4 * np.log10(settings["data"]["train_fraction"])
    score += {"glove": 3.0, "corpus": 1.5}.get(settings["words"]["name"], 0.0)
    elmo = settings["elmo"]
    if elmo["name"] != "none":
        share = {"last": 0.7, "first": 0.8, "token": 0.15}.get(elmo["layers"], 1.0)
        share *= {(): 0.0, ("output",): 0.5}.get(tuple(elmo["placement"]), 1.0)
        share = -0.1 if settings["bilm"]["weights"] == "random" else share
        score += gain * share * (1.5 - 0.5 * settings["data"]["train_fraction"])
    return float(score)


def _epochs(
    task: str, settings: dict[str, Any], score: float, rng: np.random.Generator
) -> Iterator[dict[str, Any]]:
    metric, shares = TASKS[task][0], _shares(task, settings)
    fast = 2.0 if settings["elmo"]["name"] == "none" else 0.8
    for epoch in range(1, 13):
        reached = 1 - np.exp(-epoch / fast)
        row = {
            "epoch": epoch,
            "step": 32 * epoch,
            f"dev/{metric}": float(score * (0.4 + 0.6 * reached) + rng.normal(0, 0.3)),
            "dev/loss": float(2 - 1.5 * reached),
            "train/loss": float(2 - 1.8 * reached),
            "seconds": 5.0 * epoch,
        }
        for placement in settings["elmo"]["placement"]:
            if settings["elmo"]["layers"] == "all":
                for layer, share in enumerate(shares):
                    start = 1 / len(shares)
                    row[f"elmo/{placement}/layer{layer}"] = start + (share - start) * epoch / 12
            row[f"elmo/{placement}/gamma"] = 1 + 0.04 * epoch
        yield row


def _shares(task: str, settings: dict[str, Any]) -> np.ndarray:
    """The weights of layers: three of the biLM, seven of a transformer."""
    shares = np.array(TASKS[task][3])
    if settings["elmo"]["name"] == "none" or settings["bilm"].get("kind") != "transformer":
        return shares
    wide = np.interp(np.linspace(0, 2, 7), np.arange(3), shares)
    return np.asarray(wide / wide.sum())


def _weights(task: str, settings: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    shares = _shares(task, settings)
    found: dict[str, Any] = {}
    for placement in settings["elmo"]["placement"]:
        if settings["elmo"]["layers"] != "all":
            found[placement] = {"weights": [1.0], "gamma": 0.9, "layers": [2]}
            continue
        flat = shares if placement == "input" else (shares + 2) / (shares + 2).sum()
        weights = np.abs(flat + rng.normal(0, 0.02, len(flat)))
        found[placement] = {"weights": (weights / weights.sum()).tolist(), "gamma": 1.4}
    return found


def predictions(made: Record, examples: int = 60) -> list[dict[str, Any]]:
    """Test predictions of which about the percentage of the record's score is correct."""
    rng = np.random.default_rng(7)  # the same examples for all runs of a task
    outcome_rng = np.random.default_rng([made.seed, len(made.elmo)])
    lines = []
    for number in range(examples):
        lengths = SEGMENTS.get(made.task, [int(rng.integers(6, 14))])
        tokens = [[WORDS[i] for i in rng.integers(0, len(WORDS), length)] for length in lengths]
        tokens[0][0] = EVIL if number % 10 == 0 else tokens[0][0]
        right = bool(outcome_rng.random() < made.scores["test"][made.metric] / 100)
        draw = (int(rng.integers(0, 4)), int(rng.integers(0, 4)))
        gold = _annotation(made.task, *draw)
        guess = gold if right else _annotation(made.task, draw[0] + 1, (draw[1] + 1) % 4)
        lines.append(
            {
                "id": f"{made.task}-{number}",
                "tokens": tokens,
                "gold": gold,
                "predicted": guess,
                "counts": [[int(right), 1, int(right), 1]],
            }
        )
    return lines


SEGMENTS = {"snli": [9, 7], "squad": [8, 110], "coref": [12, 9, 14, 11]}  # lengths; 1 otherwise


def _annotation(task: str, first: int, label: int) -> dict[str, Any]:
    if TASKS[task][0] == "accuracy":
        return {"label": LABELS[label], "spans": []}
    if task == "squad":
        return {"label": None, "spans": [[1, 50 + first, 54 + label, "answer"]]}
    if task == "coref":
        chain = [[index, first + index, first + index + 1, "1"] for index in range(3)]
        return {"label": None, "spans": [*chain, [0, 2, 7, "2"], [3, label, label, "2"]]}
    return {"label": None, "spans": [[0, first, first + 1, LABELS[label]], [0, 4, 4, "LOC"]]}


def write(made: Record, directory: Path, with_predictions: bool = True) -> Path:
    """Write a record, and its predictions beside it."""
    if with_predictions:
        name = f"{Path(made.file_name).stem}.predictions.jsonl.gz"
        made = replace(made, predictions=name)
        text = "".join(json.dumps(line) + "\n" for line in predictions(made))
        directory.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(gzip.compress(text.encode(), mtime=0))
    return write_record(made, directory)


def write_all(directory: Path, seeds: int = 3) -> None:
    """Write runs for every table and figure."""
    for seed in range(1, seeds + 1):
        for task in TASKS:
            write(record(task, seed, elmo=None), directory)
            write(record(task, seed), directory)
            write(record(task, seed, bilm__weights="random"), directory)
        for task in ("snli", "srl"):
            for made in _ablations(task, seed):
                write(made, directory, with_predictions=False)
    failed = record("ner", 9, elmo__l2=7.0)
    write_record(replace(failed, error="RuntimeError: it broke", scores={}, epochs=[]), directory)


def _ablations(task: str, seed: int) -> Iterator[Record]:
    for penalty in (1.0, 0.001):
        yield record(task, seed, elmo__l2=penalty)
    yield record(task, seed, elmo__name="last", elmo__layers="last")
    yield record(task, seed, elmo__name="input", elmo__placement=["input"])
    yield record(task, seed, elmo__name="output", elmo__placement=["output"])
    yield record(task, seed, elmo__name="token", elmo__layers="token")
    for words in ("glove", "corpus"):
        yield record(task, seed, words__name=words)
        yield record(task, seed, elmo=None, words__name=words)
    for fraction in (0.01, 0.1):
        yield record(task, seed, data__train_fraction=fraction)
        yield record(task, seed, data__train_fraction=fraction, bilm__weights="random")
        yield record(task, seed, elmo=None, data__train_fraction=fraction)


OPEN = {  # corpus -> task, option of conf/experiment/open, seeds
    "worldwide": ("ner", "ner", 3),
    "wnut17": ("ner", "ner_wnut17", 3),
    "sst": ("sst5", "sst5", 3),
    "snli17k": ("snli", "snli", 3),
    "new_wiki_xquad": ("squad", "squad", 3),
    "new_wiki_reddit_xquad": ("squad", "squad_reddit", 1),
    "ewt": ("srl", "srl", 2),
    "ontogum": ("coref", "coref", 2),
}
MINILM = {"bilm__kind": "transformer", "bilm__name": "minilm", "bilm__weights": "0123456789abcdef"}


def open_record(corpus: str, seed: int = 1, **changes: Any) -> Record:
    """A run on real text: GloVe and the English biLM, unless changed."""
    task, experiment, _ = OPEN[corpus]
    baseline = "elmo" in changes and changes["elmo"] is None
    settings = {
        "data__kind": "files", "data__name": corpus, "data__train": f"digest of {corpus}",
        "words__name": "glove", **({} if baseline else {"bilm__name": "english"}), **changes,
    }  # fmt: skip
    made = record(task, seed, **settings)
    words = _overrides(task, seed, {} if baseline else changes)[1:]
    return replace(made, overrides=[f"experiment=open/{experiment}", *words])


def write_open(directory: Path) -> None:
    """Write runs as on the open corpora: seeds, a control, a transformer, the paper's ablations."""
    for corpus, (_, _, seeds) in OPEN.items():
        for seed in range(1, seeds + 1):
            write(open_record(corpus, seed, elmo=None), directory)
            write(open_record(corpus, seed), directory)
        write(open_record(corpus, bilm__weights="random"), directory)
        write(open_record(corpus, **MINILM), directory)
    for corpus in ("snli17k", "ewt"):
        for fraction in (0.01, 0.03, 0.1, 0.3):
            write(open_record(corpus, data__train_fraction=fraction), directory, False)
            write(open_record(corpus, elmo=None, data__train_fraction=fraction), directory, False)
    for changes in ({"elmo__l2": 1.0}, {"elmo__name": "last", "elmo__layers": "last"}):
        write(open_record("ewt", **changes), directory, False)
    for name, placement in (("output", ["output"]), ("both", ["input", "output"])):
        made = open_record("ewt", elmo__name=name, elmo__placement=placement)
        write(made, directory, False)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
    write_open(Path(sys.argv[1]))
