import subprocess
import sys

import pytest

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import build_softmax
from elmo_bench.config.compose import compose, options
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.pretraining_settings import (
    HubCorpusSettings,
    MiniCorpusSettings,
    TaskCorpusSettings,
    TextCorpusSettings,
)
from tests.conftest import PROJECT
from tests.pretraining.tiny_pretraining import compose_pretraining

RECIPES = options("pretraining")
CORPORA = {
    "hub": HubCorpusSettings,
    "mini": MiniCorpusSettings,
    "task": TaskCorpusSettings,
    "text": TextCorpusSettings,
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_its_file_name_and_the_same_keys_as_the_others(name):
    first = compose("pretrain", ["bilm=mini"]).pretraining
    recipe = compose("pretrain", ["bilm=mini", f"pretraining={name}"]).pretraining
    assert recipe["name"] == name
    assert recipe.keys() == first.keys()
    for key in ("vocabulary", "loss", "optimizer", "schedule"):
        assert recipe[key].keys() == first[key].keys()


@pytest.mark.parametrize("name", ["mini", "english"])
def test_the_recipe_of_a_size_is_chosen_with_it_and_fits(name):
    settings = compose_pretraining(f"bilm={name}")
    recipe = settings.pretraining
    assert recipe.name == name
    bilm = BiLm(settings.bilm.architecture())
    build_softmax(recipe.loss, bilm.projection_dim, recipe.vocabulary.max_words)


@pytest.mark.parametrize("name", options("corpus"))
def test_a_corpus_option_has_the_keys_of_its_kind(name):
    corpus = compose("pretrain", [f"corpus={name}", "task=ner"]).corpus
    assert set(corpus) == set(CORPORA[corpus.kind].model_fields)


@pytest.mark.parametrize(
    ("overrides", "kind"),
    [
        (["corpus=mini"], MiniCorpusSettings),
        (["corpus=text", "corpus.path=some.txt"], TextCorpusSettings),
        (["corpus=hub", "corpus.dataset=some/text"], HubCorpusSettings),
        (["corpus=task", "task=ner"], TaskCorpusSettings),
    ],
)
def test_a_corpus_option_has_the_settings_of_its_kind(overrides, kind):
    assert type(compose_pretraining(*overrides).corpus) is kind


@pytest.mark.parametrize(
    "override", ["pretraining.batch_size=0", "pretraining.loss.kind=hinge", "+pretraining.rows=3"]
)
def test_an_invalid_setting_is_reported_with_its_key(override):
    key = override.lstrip("+").partition("=")[0].replace(".", r"\.")
    with pytest.raises(ConfigError, match=key):
        compose_pretraining(override)


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_is_valid(name):
    assert compose_pretraining(f"pretraining={name}").pretraining.name == name


def test_help_does_not_import_torch():
    code = (
        "import sys, runpy; sys.argv = ['pretrain.py', '--help']\n"
        "try: runpy.run_path('pretrain.py', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "corpus" in done.stdout
