"""Every kind of file that may come from somebody else, and what reads it."""

import atexit
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from rich.console import Console

from elmo_bench import BiLm
from elmo_bench.analysis.senses import read_senses
from elmo_bench.bilm.perplexity import load_softmax
from elmo_bench.bilm.softmax import FullSoftmax
from elmo_bench.bilm.training_file import read_training
from elmo_bench.commands.redact import ENDING
from elmo_bench.config.compose import run_settings, task_settings
from elmo_bench.config.locating import build_task
from elmo_bench.data.manifest import SHIPPED, read_manifest
from elmo_bench.data.vectors import read_vectors
from elmo_bench.features.cache import CacheInfo, FeatureCache, find_caches
from elmo_bench.pretraining.identity import training_text
from elmo_bench.records.analysis import Analysis, read_analyses, write_analysis
from elmo_bench.records.checksums import CHECKSUMS
from elmo_bench.records.predictions import redact_text
from elmo_bench.records.run import read_records
from elmo_bench.report import formats
from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.names import TABLES
from elmo_bench.report.page.build import build_page
from elmo_bench.report.terminal import show
from elmo_bench.runs.bilm import finetuning_perplexity
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate
from elmo_bench.sweep.job import Job, Part, read_jobs
from elmo_bench.task import Task
from tests.bilm.conftest import build_bilm
from tests.bilm.official_files import write_official
from tests.conftest import TINY, paths_below
from tests.corpora import TEXTS
from tests.damaged.mutations import (
    Mutation,
    mutate_bytes,
    mutate_header,
    mutate_json,
    mutate_json_lines,
    mutate_yaml,
)
from tests.report.synthetic_records import record, write


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Args:
        name: Of the kind.
        make: Fills a folder.
        file: The file in it that is damaged; .gz is packed again.
        read: Reads the folder.
        values: Changes its values; None if it has no structure.
        tolerant: Whether the rest must be read although the file is bad.
    """

    name: str
    make: Callable[[Path], object]
    file: str
    read: Callable[[Path], object]
    values: Mutation | None = None
    tolerant: bool = False

    @property
    def mutations(self) -> list[Mutation]:
        return [mutate_bytes, *([self.values] * 3 if self.values else [])]


def _bilm(folder: Path, encoder: str = "char_cnn") -> None:
    bilm = build_bilm(encoder)
    history = [{"step": 1, "perplexity": {"dev": {"mean": 3.0}}}] * 2
    corpus = {"kind": "text", "name": "text", "path": "/nonexistent", "heldout": None}
    task = json.loads(task_settings("sst5").model_dump_json(by_alias=True, serialize_as_any=True))
    data = {"kind": "hub", "name": "hub", "train_limit": None, "train_fraction": 1.0}
    training = {
        "history": history,
        "settings": {"corpus": corpus, "task": task, "data": data},
        "identity": {"version": 1},
    }
    softmax = FullSoftmax(bilm.projection_dim, len(bilm.vocabulary or ()))
    bilm.save(folder, training, {"softmax": softmax.state_dict()})
    # Whoever changes a file can change its checksum: what is tested is what reads the content.
    (folder / CHECKSUMS).unlink()


def _read_bilm(folder: Path) -> None:
    bilm = BiLm.load(folder)
    bilm.embed([["the", "cat"]])
    load_softmax(bilm)


def _read_training(folder: Path) -> None:
    bilm = BiLm(BiLm.load(folder).architecture)
    bilm.folder = folder
    read_training(folder)
    training_text(folder)
    finetuning_perplexity(bilm)


def _official(folder: Path) -> None:
    write_official(folder)


def _read_official(folder: Path) -> None:
    BiLm.from_official(folder / "options.json", folder / "lm_weights.hdf5").embed([["a"]])


def _records(folder: Path) -> None:
    for elmo in ({"elmo": None}, {}):
        for seed in (1, 2):
            _unseal(write(record("ner", seed, **elmo), folder / "runs"))
    (folder / "runs" / "damaged.json").write_bytes(
        next((folder / "runs").glob("ner-paper-s2*.json")).read_bytes()
    )
    for number in (1, 2):
        layers = [{"f1": 50.0 + n} for n in range(3)]
        method = {"nearest": "sense", "center": False, "window": 0}
        found = Analysis(
            "wsd", "mini", f"f{number}", "mini", method, "f1", layers,
            {"most frequent sense": {"f1": 40.0}}, {"a": ["b"]}, {"train": 3}, {"all": 1.0},
        )  # fmt: skip
        path = write_analysis(found, folder / "analysis")
    path.rename(folder / "analysis" / "damaged.json")
    next((folder / "runs").glob(f"ner-paper-s1*{ENDING}")).rename(folder / "runs" / "damaged.gz")
    path = next((folder / "runs").glob("ner-paper-s1*.json"))
    values = json.loads(path.read_text())
    path.write_text(json.dumps({**values, "predictions": "damaged.gz"}))


def _unseal(path: Path) -> None:
    """Remove the checksum of a record, as for the biLM."""
    values = json.loads(path.read_text())
    del values["checksum"]
    path.write_text(json.dumps(values))


def read_reports(folder: Path) -> int:
    """All tables in all formats; returns the number of records."""
    records, analyses = read_records(folder / "runs"), read_analyses(folder / "analysis")
    assert len(records) >= 4 and analyses  # the others are read
    tables = build_tables(records, analyses, TABLES)
    for table in tables:
        for write_table in formats.ONE_BY_ONE.values():
            write_table(table)
        with (folder / "shown.txt").open("w") as file:
            show(table, Console(file=file, width=100))
    formats.as_json(tables)
    return len(records) + len(analyses)


def read_page(folder: Path) -> None:
    """The page with all figures."""
    build_page(read_records(folder / "runs"), read_analyses(folder / "analysis"))


def _redact(folder: Path) -> None:
    redact_text(folder / "runs" / "damaged.gz")


def _cache(folder: Path) -> None:
    cache = FeatureCache(folder, CacheInfo("f" * 64, "float32", 3, 4))
    cache._prepare([("a",)])
    cache.folder.rename(folder / "damaged")


def _job(folder: Path) -> None:
    (folder / "0").mkdir()
    part = Part("ner-none-s1-x", "none", "done", "f1", {"dev": 1.0})
    Job(0, ["task=ner"], [part]).write(folder / "0")


XML = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="x"><text id="d000"><sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="bank" pos="NOUN">bank</instance>
<wf lemma="of" pos="ADP">of_it</wf></sentence></text></corpus>
"""


def _senses(folder: Path) -> None:
    (folder / "a.data.xml").write_text(XML)
    (folder / "a.gold.key.txt").write_text("d000.s000.t000 bank%1:17:01::\n")
    line = {"lemma": "bank", "sense": "bank.river", "index": 1, "tokens": ["the", "bank"]}
    (folder / "a.jsonl").write_text(f"{json.dumps(line)}\n" * 3)


@cache
def _task(name: str) -> Task:
    return build_task(task_settings(name).build)


def _scored(task: str, folder: Path) -> None:
    text = TEXTS[task]
    if task == "squad":  # predictions have a format of their own
        (folder / "gold").write_text(text)
        ids = [example.id for example in _task(task).read(folder / "gold", "test", Counter())]
        text = json.dumps(dict.fromkeys(ids, "an answer"))
    (folder / "gold").write_text(TEXTS[task])
    (folder / "predicted").write_text(text)


def _score(task: str, folder: Path) -> None:
    _task(task).score_files(folder / "gold", folder / "predicted", True)


def _vectors(folder: Path) -> None:
    (folder / "glove.txt").write_text("the 0.1 0.2\ncat -1.5 2e-3\n")


def _manifest(folder: Path) -> None:
    (folder / "data.json").write_bytes(SHIPPED.read_bytes())


@cache
def _finished_run() -> Path:
    """A folder with a finished run, and its name in it."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    options = [*TINY, "task=sst5", "task.training.max_epochs=1", *paths_below(folder)]
    settings = run_settings([*options, "task.build.hidden_dim=4"])
    evaluate(settings)
    return RunFiles.of(settings).folder


def _run(folder: Path) -> None:
    shutil.copytree(_finished_run(), folder / "run")


def _predict(folder: Path) -> None:
    Predictor(folder / "run")("A lovely film .")


KINDS = [
    Kind("biLM config.yaml", _bilm, "config.yaml", _read_bilm, mutate_yaml),
    Kind("biLM weights", _bilm, "weights.safetensors", _read_bilm, mutate_header),
    Kind("biLM softmax", _bilm, "softmax.safetensors", _read_bilm, mutate_header),
    Kind("biLM vocabulary", partial(_bilm, encoder="word"), "vocabulary.txt", _read_bilm),
    Kind("training.json", _bilm, "training.json", _read_training, mutate_json),
    Kind("options.json", _official, "options.json", _read_official, mutate_json),
    Kind("official weights", _official, "lm_weights.hdf5", _read_official),
    Kind("record", _records, "runs/damaged.json", read_reports, mutate_json, tolerant=True),
    Kind("analysis", _records, "analysis/damaged.json", read_reports, mutate_json, tolerant=True),
    Kind(
        "predictions", _records, "runs/damaged.gz", read_reports, mutate_json_lines, tolerant=True
    ),
    Kind("redact", _records, "runs/damaged.gz", _redact, mutate_json_lines),
    Kind("about.json", _cache, "damaged/about.json", find_caches, mutate_json, tolerant=True),
    Kind("job.json", _job, "0/job.json", lambda f: list(read_jobs(f)), mutate_json, tolerant=True),
    Kind("WSD XML", _senses, "a.data.xml", lambda f: read_senses(f / "a.data.xml")),
    Kind("WSD keys", _senses, "a.gold.key.txt", lambda f: read_senses(f / "a.data.xml")),
    Kind("WSD jsonl", _senses, "a.jsonl", lambda f: read_senses(f / "a.jsonl"), mutate_json_lines),
    Kind("manifest", _manifest, "data.json", lambda f: read_manifest(f / "data.json"), mutate_json),
    Kind("vectors", _vectors, "glove.txt", lambda f: read_vectors(f / "glove.txt", {"the", "cat"})),
    Kind("run settings", _run, "run/settings.json", _predict, mutate_json),
    Kind("run model_spec", _run, "run/model_spec.json", _predict, mutate_json),
    Kind("run checkpoint", _run, "run/checkpoints/best.ckpt", _predict),
    *(
        Kind(f"{task} predictions", partial(_scored, task), "predicted", partial(_score, task))
        for task in TEXTS
    ),
]
