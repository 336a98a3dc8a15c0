"""Processes are killed at random moments; the same command then ends as if nothing had been."""

import json

import pytest
import torch

from elmo_bench.cli import main
from elmo_bench.commands.run import main as run_main
from elmo_bench.features.cache import CacheInfo, FeatureCache
from elmo_bench.mini.files import ensure_mini
from elmo_bench.mini.settings import MiniSettings
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.records.checksums import find_damage
from elmo_bench.records.run import read_records
from elmo_bench.runs.stage import evaluate
from elmo_bench.tune.journal import Journal
from tests.campaign.children import kill_until
from tests.conftest import TINY, paths_below
from tests.pretraining.tiny_pretraining import compose_pretraining, losses, tiny

pytestmark = pytest.mark.slow

SMALL = MiniSettings(
    train=12, dev=6, test=6, train_documents=2, dev_documents=1, test_documents=1,
    corpus_tokens=600, heldout_tokens=200,
)  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)  # threads do not survive a fork


def files_below(folder):
    """The files that a run leaves, without those of the harness, of Hydra, and digests, which are
    remembered only of files that have not changed for a while."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {str(path) for path in found if not {"log", "hydra", "digests"} & set(path.parts)}


def outcomes(folder):
    """Everything in the records of a folder but times and the command."""
    found = []
    for record in read_records(folder / "results"):
        epochs = [{k: v for k, v in row.items() if k != "seconds"} for row in record.epochs]
        found.append((record.run, record.scores, record.layer_weights, epochs, record.sizes))
    return found


def test_generating_the_benchmark(tmp_path, tally):
    def compare(place):
        [folder] = place.glob("mini-*[0-9a-f]")
        assert find_damage(folder) is None
        [whole] = (tmp_path / "undisturbed").glob("mini-*[0-9a-f]")
        assert (folder / "checksums.json").read_text() == (whole / "checksums.json").read_text()

    killed = kill_until(20, lambda place: lambda: ensure_mini(place, SMALL), compare, tmp_path)
    tally.held("kills while the mini benchmark is generated", killed)


def test_pretraining(tmp_path, tally):
    extra = ("bilm.lstm.dropout=0.2", "pretraining.epochs=8", "trainer.checkpoint_steps=4")

    def new(place):
        settings = compose_pretraining(*tiny(place, *extra))  # writes the text
        return lambda: pretrain(settings)

    def compare(place):
        whole = tmp_path / "undisturbed"
        assert losses(place) == losses(whole)
        for name in ("weights", "softmax"):
            file = f"bilm/mini/{name}.safetensors"
            assert (place / file).read_bytes() == (whole / file).read_bytes()
        assert files_below(place) == files_below(whole)

    tally.held("kills of a pretraining", kill_until(25, new, compare, tmp_path))


def embed(segments):
    """Numbers that depend only on the tokens, computed slowly enough to be killed."""
    generators = [torch.Generator().manual_seed(hash(segment) % 2**31) for segment in segments]
    pairs = zip(segments, generators, strict=True)
    return [torch.randn(3, len(segment), 64, generator=generator) for segment, generator in pairs]


def test_caching(tmp_path, tally, monkeypatch):
    monkeypatch.setattr("elmo_bench.features.cache.CHUNK_TOKENS", 500)
    segments = [tuple(f"w{i}.{j}" for j in range(1 + i % 30)) for i in range(3000)]

    def cache(place):
        return FeatureCache(place, CacheInfo("f" * 64, "float32", 3, 64))

    def compare(place):
        found = cache(place)
        assert found.missing(segments, (0, 1, 2)) == [] and found.damaged() == 0
        for segment, layers in zip(segments, embed(segments), strict=True):
            assert torch.equal(found.read(segment, (0, 1, 2)), layers)
        blocks = (found.folder / "blocks.bin").stat().st_size
        assert blocks <= found.num_bytes(segments) + 64 * 200  # nothing that no record refers to

    def new(place):
        return lambda: cache(place).fill(segments, (0, 1, 2), embed)

    tally.held("kills while layers are cached", kill_until(15, new, compare, tmp_path))


RUN = [*TINY, "task=ner", "baseline=skip", "task.training.max_epochs=4", "data.train=32"]


def test_all_stages_of_a_run(tmp_path, tally):
    """Generation, pretraining of its biLM, caching, training, testing and recording."""
    from elmo_bench.config.compose import run_settings

    def new(place):
        return lambda: evaluate(run_settings([*RUN, *paths_below(place)]))

    def compare(place):
        whole = tmp_path / "undisturbed"
        assert len(outcomes(place)) == 1 and outcomes(place) == outcomes(whole)
        assert files_below(place) == files_below(whole)
        for file in (f for f in files_below(place) if f.endswith((".conll", ".jsonl.gz"))):
            assert (place / file).read_bytes() == (whole / file).read_bytes()

    tally.held("kills of a run, at all of its stages", kill_until(25, new, compare, tmp_path))


def test_a_sweep(tmp_path, tally):
    def new(place):
        sweep = ["-m", *RUN, *paths_below(place), "seed=1,2", f"hydra.sweep.dir={place}/sweep"]
        return lambda: run_main(sweep)

    def compare(place):
        found = outcomes(place)
        assert len(found) == 2 and found == outcomes(tmp_path / "undisturbed")

    tally.held("kills of a sweep", kill_until(12, new, compare, tmp_path))


def trials(place):
    """What ended trials were given and found, in their order."""
    [path] = place.glob("outputs/tune/*/trials.log")
    values = {}
    for line in Journal(path).read_logs(0):
        if line.get("op_code") == 6 and line.get("values"):  # the state of an ended trial
            values[line["trial_id"]] = line["values"]
    return sorted(json.dumps(value) for value in values.values())


def test_tune(tmp_path, tally):
    def new(place):
        words = [*TINY, *paths_below(place), "elmo=none", "task.training.max_epochs=3"]
        return lambda: main(["tune", "ner", "--trials", "3", "--with", *words])

    def compare(place):
        assert trials(place) == trials(tmp_path / "undisturbed")

    tally.held("kills of a hyperparameter search", kill_until(12, new, compare, tmp_path))
