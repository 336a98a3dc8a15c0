"""Bytes of every kind of file that we keep are changed; what is read is right, or refused."""

import gzip
import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import torch

from elmo_bench import BiLm
from elmo_bench.bilm.perplexity import load_softmax
from elmo_bench.bilm.softmax import FullSoftmax
from elmo_bench.data.vectors import train_vectors
from elmo_bench.features.cache import CacheInfo, FeatureCache
from elmo_bench.mini.files import ensure_mini
from elmo_bench.pretraining.corpus import TextCorpus
from elmo_bench.pretraining.sentence_store import prepare_corpus
from elmo_bench.records import remembered
from elmo_bench.records.checksums import find_damage
from elmo_bench.records.predictions import read_predictions
from elmo_bench.records.run import Record, read_record, write_record
from elmo_bench.runs.predict import Predictor
from elmo_bench.runs.stage import evaluate
from elmo_bench.training.checkpoints import SealedCheckpoints, find_checkpoint, previous
from elmo_bench.tune.journal import Journal
from tests.bilm.conftest import build_bilm
from tests.campaign.test_kills import SMALL, embed
from tests.pretraining.tiny_pretraining import write_text

pytestmark = pytest.mark.slow
TIMES = 1000
DRAWS = random.Random(1)


def damage(path: Path) -> None:
    """Flip, truncate, zero, or replace some bytes; always a change."""
    content = path.read_bytes()
    while True:
        changed = bytearray(content)
        start = DRAWS.randrange(len(changed))
        end = min(len(changed), start + DRAWS.choice([1, 4, 64, 4096]))
        match DRAWS.choice(["flip", "flip", "truncate", "zero", "noise"]):
            case "flip":
                changed[start] ^= 1 << DRAWS.randrange(8)
            case "truncate":
                del changed[start:]
            case "zero":
                changed[start:end] = bytes(end - start)
            case "noise":
                changed[start:end] = DRAWS.randbytes(end - start)
        if changed != content:
            path.write_bytes(changed)
            return


def damage_often(files: list[Path], look: Callable[[Path], None], times: int = TIMES) -> int:
    """Damage one of some files, look at the outcome, and put the old content back; again."""
    contents = {path: path.read_bytes() for path in files}
    for _ in range(times):
        path = DRAWS.choice(files)
        damage(path)
        look(path)
        for each, content in contents.items():
            if not each.exists() or each.read_bytes() != content:
                each.write_bytes(content)
    return times


def below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "README.md")


def test_checkpoints(tmp_path, tally):
    written = SealedCheckpoints({"seed": 1}, keep=("last.ckpt",))
    last = tmp_path / "last.ckpt"
    for step in (1, 2):
        written.save_checkpoint({"global_step": step, "state": torch.randn(500)}, last)

    def look(path):
        found, other = find_checkpoint(last, {"seed": 1})
        assert (found, other) == (last if path != last else previous(last), "")
        assert torch.load(found, weights_only=True)["global_step"] == (1 if path == last else 2)

    tally.held("damaged checkpoints: set aside, the one before is used", damage_often([last], look))


def test_prepared_corpus(tmp_path, tally):
    write_text(tmp_path / "text.txt", 120, seed=1)
    write_text(tmp_path / "held.txt", 30, seed=2)
    corpus = TextCorpus(str(tmp_path / "text.txt"), str(tmp_path / "held.txt"))
    whole = [list(s) for s in prepare_corpus(corpus, {"a": 1}, tmp_path / "corpus").train]
    [folder] = (path for path in (tmp_path / "corpus").iterdir() if path.is_dir())

    def look(path):
        assert find_damage(folder) is not None
        prepared = prepare_corpus(corpus, {"a": 1}, tmp_path / "corpus")
        assert [list(s) for s in prepared.train] == whole
        assert find_damage(folder) is None

    tally.held("damaged prepared corpora: prepared again", damage_often(below(folder), look))


def test_generated_benchmark(tmp_path, tally):
    folder = ensure_mini(tmp_path, SMALL)

    def look(path):
        assert find_damage(folder) is not None

    tally.held("damaged generated benchmarks: noticed", damage_often(below(folder), look))
    sums = (folder / "checksums.json").read_text()
    damage(folder / "ner" / "train.txt")
    assert (ensure_mini(tmp_path, SMALL) / "checksums.json").read_text() == sums
    assert find_damage(folder) is None


def test_trained_vectors(tmp_path, tally):
    text = [["a", "cat", "sees", "a", "dog"]] * 20

    def trained() -> Path:
        path = tmp_path / "vectors.txt"
        return train_vectors(path, lambda: iter(text), 4, True, 1, window=2, epochs=1)

    content = trained().read_bytes()

    def look(path):
        assert trained().read_bytes() == content

    files = [tmp_path / "vectors.txt", tmp_path / "vectors.txt.checksums.json"]
    tally.held("damaged trained vectors: trained again", damage_often(files, look))


def test_bilm(tmp_path, tally):
    bilm = build_bilm()
    softmax = FullSoftmax(bilm.projection_dim, len(bilm.vocabulary))
    bilm.save(tmp_path / "tiny", {"steps": 1}, {"softmax": softmax.state_dict()})

    def look(path):
        assert find_damage(tmp_path / "tiny") is not None
        try:
            loaded = BiLm.load(tmp_path / "tiny")
            load_softmax(loaded)
        except ValueError as error:
            assert str(tmp_path / "tiny") in str(error)
            return
        # Loading does not read training.json, nor checksums of what it does not read.
        assert path.name in ("training.json", "checksums.json")
        assert loaded.fingerprint() == bilm.fingerprint()

    tally.held("damaged biLM folders: refused", damage_often(below(tmp_path / "tiny"), look))


def test_feature_blocks(tmp_path, tally):
    segments = [tuple(f"w{i}.{j}" for j in range(1 + i % 7)) for i in range(40)]
    info = CacheInfo("f" * 64, "float32", 3, 64)
    FeatureCache(tmp_path, info).fill(segments, (0, 1, 2), embed)
    expected = embed(segments)
    [folder] = tmp_path.iterdir()

    def look(path):
        cache = FeatureCache(tmp_path, info)
        cache.fill(segments, (0, 1, 2), embed)
        for segment, layers in zip(segments, expected, strict=True):
            assert torch.equal(cache.read(segment, (0, 1, 2)), layers)

    files = [folder / "blocks.bin", folder / "index.bin"]
    tally.held("damaged cached layers: computed again", damage_often(files, look))


def test_feature_blocks_are_checked_at_every_read(tmp_path, tally):
    cache = FeatureCache(tmp_path, CacheInfo("f" * 64, "float32", 3, 64))
    cache.fill([("a", "b")], (0, 1, 2), embed)
    cache.read(("a", "b"), (0, 1, 2))

    def look(path):
        entries = dict(cache.store.entries)
        with pytest.raises(ValueError, match="damaged"):
            cache.read(("a", "b"), (0, 1, 2))
        cache.store.entries = entries

    blocks = cache.folder / "blocks.bin"

    def flip() -> None:
        with blocks.open("r+b") as file:  # in place, as the process has mapped it
            position = DRAWS.randrange(blocks.stat().st_size)
            file.seek(position)
            [byte] = file.read(1)
            file.seek(position)
            file.write(bytes([byte ^ 1 << DRAWS.randrange(8)]))

    whole = blocks.read_bytes()
    for _ in range(TIMES):
        flip()
        look(blocks)
        with blocks.open("r+b") as file:
            file.write(whole)
    tally.held("layers damaged after their first read: refused", TIMES)


def test_remembered_digests(tmp_path, tally, monkeypatch):
    monkeypatch.setattr(remembered, "SETTLED_SECONDS", -1.0)
    (tmp_path / "data.txt").write_text("data")
    truth = remembered.content_digest([tmp_path / "data.txt"], tmp_path / "memory")
    [note] = (tmp_path / "memory").iterdir()

    def look(path):
        again = remembered.content_digest([tmp_path / "data.txt"], tmp_path / "memory")
        assert again == truth

    tally.held("damaged remembered digests: computed again", damage_often([note], look))


def test_records(tmp_path, tally):
    record = Record("0" * 8, "ner", 1, "f1", "mini", "random", "none", None, {"a": 1},
                    {"dev": {"f1": 12.5}, "test": {"f1": 13.25}})  # fmt: skip
    path = write_record(record, tmp_path)

    def look(path):
        with suppress(ValueError):  # refused
            assert read_record(path) == record

    tally.held("damaged records: refused, or read as written", damage_often([path], look))


def test_predictions(tmp_path, tally):
    record = Record("0" * 8, "ner", 1, "f1", "mini", "random", "none", None, {}, {},
                    predictions="p.gz", file=tmp_path / "r.json")  # fmt: skip
    lines = [f'{{"id": "{i}", "counts": [[{i}, 1, 2, 3]]}}' for i in range(50)]
    (tmp_path / "p.gz").write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))

    def look(path):
        found = read_predictions(record)
        assert found is None or found.lines == lines

    files = [tmp_path / "p.gz"]
    tally.held("damaged predictions: left out, or read as written", damage_often(files, look))


def test_what_rebuilds_a_finished_run(tiny_run, tmp_path, tally):
    settings = tiny_run("task=ner", "elmo=none")
    evaluate(settings)
    [folder] = (tmp_path / "outputs" / "runs").iterdir()
    names = ("finished", "settings.json", "model_spec.json", "checkpoints/best.ckpt")

    def look(path):
        with pytest.raises(ValueError, match="the command that made the run repeats it"):
            Predictor(folder)

    files = [folder / name for name in names]
    tally.held("damaged finished runs: refused by predict", damage_often(files, look))
    score = evaluate(settings).scores
    damage(folder / "checkpoints" / "best.ckpt")
    assert evaluate(settings).scores == score
    assert (folder / "checkpoints" / "best.ckpt.damaged").exists()
    Predictor(folder)


def test_the_journal_of_a_search(tmp_path, tally):
    path = tmp_path / "trials.log"
    Journal(path).append_logs([{"op_code": i, "text": "x" * i} for i in range(30)])
    shutil.copy(path, tmp_path / "whole.log")
    whole = list(Journal(tmp_path / "whole.log").read_logs(0))

    def look(path):
        found = []
        try:
            found.extend(Journal(path).read_logs(0))
        except ValueError:
            return  # refused
        assert found == whole[: len(found)]  # the last lines are missing, as after a kill

    tally.held("damaged journals: refused, or cut at the end", damage_often([path], look))
