import subprocess
import sys
from inspect import signature

import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import build_softmax
from elmo_bench.config.checks import check
from elmo_bench.config.compose import CONF, ConfigError, plain
from elmo_bench.config.pretraining_checks import PRETRAINING_RULES
from tests.conftest import PROJECT
from tests.pretraining.tiny_pretraining import compose_pretraining

RECIPES = sorted(path.stem for path in (CONF / "pretraining").glob("*.yaml"))


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_its_file_name_and_the_keys_of_all_others(name):
    first = plain(compose_pretraining("bilm=mini"))["pretraining"]
    recipe = plain(compose_pretraining("bilm=mini", f"pretraining={name}"))["pretraining"]
    assert recipe["name"] == name
    assert recipe.keys() == first.keys()
    for key in ("vocabulary", "loss", "optimizer", "schedule"):
        assert recipe[key].keys() == first[key].keys()


@pytest.mark.parametrize("name", ["mini", "english"])
def test_the_recipe_of_a_size_is_chosen_with_it_and_fits(name):
    settings = plain(compose_pretraining(f"bilm={name}"))
    recipe = settings["pretraining"]
    assert recipe["name"] == name
    bilm = BiLm(name, settings["bilm"]["encoder"], settings["bilm"]["lstm"])
    build_softmax(recipe["loss"], bilm.projection_dim, recipe["vocabulary"]["max_words"])


@pytest.mark.parametrize("path", sorted((CONF / "corpus").glob("*.yaml")), ids=lambda p: p.stem)
def test_a_corpus_option_names_a_class_that_takes_its_keys(path):
    options = OmegaConf.load(path)
    keys = {key for key in options if not key.startswith("_")}
    assert keys == set(signature(get_class(options._target_)).parameters)


@pytest.mark.parametrize(
    "override", ["pretraining.batch_size=0", "pretraining.loss.kind=hinge", "+pretraining.lane=3"]
)
def test_an_impossible_setting_is_told_with_its_key(override):
    key = override.lstrip("+").partition("=")[0].replace(".", r"\.")
    with pytest.raises(ConfigError, match=key):
        check(compose_pretraining(override), PRETRAINING_RULES, "pretrain")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_passes_the_checks(name):
    check(compose_pretraining(f"pretraining={name}"), PRETRAINING_RULES, "pretrain")


def test_help_answers_without_importing_torch():
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
