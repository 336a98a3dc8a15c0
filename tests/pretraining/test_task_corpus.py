import json
from pathlib import Path

import pytest

from elmo_bench.config.errors import ConfigError
from elmo_bench.mini.files import ensure_mini
from elmo_bench.mini.settings import MiniSettings
from elmo_bench.pretraining.corpus import Corpus, build_corpus
from elmo_bench.pretraining.identity import text_identity
from elmo_bench.pretraining.stage import pretrain
from elmo_bench.records.run import read_records
from elmo_bench.report.all_tables import build_tables
from elmo_bench.runs.stage import evaluate
from tests.conftest import TINY, paths_below
from tests.pretraining.tiny_pretraining import TINY as TINY_BILM
from tests.pretraining.tiny_pretraining import compose_pretraining


def source(folder, *overrides: str):
    data = [word for word in TINY if word.startswith("data.")]
    paths = [path for path in paths_below(folder) if "results" not in path]
    return compose_pretraining("corpus=task", *data, *paths, *overrides)


def corpus(folder, *overrides: str):
    settings = source(folder, *overrides)
    return build_corpus(settings, Path(settings.paths.cache))


def test_a_tasks_text_is_a_corpus_with_dev_held_out(tmp_path):
    text = corpus(tmp_path, "task=snli")
    assert isinstance(text, Corpus)
    train, dev = set(text.train()), set(text.heldout()["dev"])
    assert len(train) > 48 and len(dev) > 16 and not train & dev


def test_contexts_and_questions_can_be_read_apart(tmp_path):
    whole = corpus(tmp_path, "task=squad")
    parts = [corpus(tmp_path, "task=squad", f"corpus.part={p}") for p in ("contexts", "questions")]
    contexts, questions = (set(part.train()) for part in parts)
    assert contexts | questions == set(whole.train()) and not contexts & questions
    assert all(question[-1] == "?" for question in questions)
    for text in (whole, *parts):  # perplexity is always measured on both
        heldout = {name: set(segments) for name, segments in text.heldout().items()}
        assert heldout["dev"] == heldout["contexts"] | heldout["questions"]
    with pytest.raises(ConfigError, match=r"corpus\.part=words: .* contexts, questions"):
        source(tmp_path, "task=squad", "corpus.part=words")


def test_phrases_of_a_sentence_are_not_read_again(tmp_path):
    with_phrases = list(corpus(tmp_path, "task=sst5").train())
    whole = list(corpus(tmp_path, "task=sst5", "task.build.min_phrase_length=null").train())
    assert sum(map(len, with_phrases)) < 1.3 * sum(map(len, whole))
    assert set(whole) <= set(with_phrases)


def test_the_text_does_not_depend_on_how_many_labels_are_used(tmp_path):
    whole, part, other = (
        text_identity(source(tmp_path, *chosen), tmp_path)
        for chosen in (["task=ner"], ["task=ner", "data.train_fraction=0.1"], ["task=snli"])
    )
    assert whole == part != other


# Fine-tuning needs more text than the tiny run has.
MORE_TEXT = "data.train=120"


@pytest.fixture(scope="module")
def bilm(tmp_path_factory, shared_cache):
    """A tiny biLM, pretrained on the corpus of the benchmark that the runs read."""
    folder = tmp_path_factory.mktemp("bilm")
    sizes = dict(
        word.removeprefix("data.").split("=") for word in (*TINY, MORE_TEXT) if "data." in word
    )
    settings = MiniSettings(**{key: int(size) for key, size in sizes.items()})
    text = ensure_mini(shared_cache, settings) / "corpus"
    words = [f"corpus.path={text / 'train.txt'}", f"corpus.heldout={text / 'heldout.txt'}"]
    paths = [f"paths.bilm={folder}", f"paths.outputs={folder}", f"paths.cache={folder}"]
    return pretrain(compose_pretraining(*TINY_BILM, "name=tiny", *words, *paths))


def test_a_run_fine_tunes_its_bilm_and_records_perplexity_before_and_after(
    tiny_run, tmp_path, bilm
):
    records = [
        evaluate(
            tiny_run("task=ner", MORE_TEXT, f"bilm.weights={bilm}", f"bilm.finetune={finetune}")
        )
        for finetune in ("false", "true")
    ]
    before, after = (records[1].perplexity[when]["mean"] for when in ("before", "after"))
    assert 1 < after < before
    assert records[0].perplexity == {} and records[0].fingerprint != records[1].fingerprint
    [table] = build_tables(read_records(tmp_path / "results"), names=["finetuning"])
    row = table.rows[0]
    assert row["perplexity_after"].values[""] == pytest.approx(after)
    assert row["before"].values["mean"] == records[0].scores["dev"]["f1"]
    [folder] = (tmp_path / "bilm").glob("tiny-ner-*")
    assert json.loads((folder / "training.json").read_text())["corpus"] == "ner"


def test_fine_tuning_an_untrained_bilm_is_refused(tiny_run):
    with pytest.raises(ConfigError, match="untrained"):
        evaluate(tiny_run("task=ner", "bilm.finetune=true"))


def test_pretraining_a_missing_bilm_does_not_change_the_run_that_needs_it(tiny_run, tmp_path, bilm):
    """The random state of a run is the same whether or not the biLM was pretrained first."""
    words = ("task=ner", MORE_TEXT, f"bilm.weights={bilm}", "bilm.finetune=true")
    first = evaluate(tiny_run(*words))  # fine-tunes
    second = evaluate(tiny_run(*words, "force=true"))
    assert first.epochs[0]["dev/loss"] == second.epochs[0]["dev/loss"]
