"""The tables of commands fit the terminal, and text from files is shown in them, not obeyed."""

import json

import pytest

from elmo_bench.cli import main
from elmo_bench.features.cache import CacheInfo, FeatureCache
from tests.analysis.conftest import build_bilm, sense_line
from tests.corpora import NER
from tests.damaged.kinds import _bilm as make_bilm

EVIL = "[red]\x1b[31mx[/]"
SHOWN = r"[red]\x1b[31mx[/]"
LONG = "directory" * 9
WIDTHS = pytest.mark.parametrize("width", [60, 80])


@pytest.fixture
def printed(monkeypatch, capsys):
    def call(width, *words):
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        main(list(map(str, words)))
        text, problem = capsys.readouterr()
        assert not problem.strip()
        table = [line for line in text.splitlines() if not line.endswith(".json")]
        assert max(map(len, table)) <= width, text
        assert "\x1b" not in text
        return "".join(text.split())

    return call


@WIDTHS
def test_caches(width, printed, tmp_path):
    cache = FeatureCache(tmp_path, CacheInfo("f" * 64, "float32", 3, 1024))
    cache._prepare([("a",)])
    for action in ("ls", "verify"):
        text = printed(width, "cache", action, "--root", tmp_path)
        assert cache.folder.name[:20] in text and "segments" in text and "MB" in text


@WIDTHS
def test_corpora(width, printed, tmp_path):
    (tmp_path / "ner").mkdir()
    (tmp_path / "ner" / f"{LONG}.txt").write_text(NER)
    manifest = {
        "version": 1,
        "corpora": [
            {
                "name": "evil", "about": "", "license": EVIL, "sources": [], "made": "",
                "files": [{"path": f"ner/{LONG}.txt", "bytes": 3, "sha256": "0" * 64}],
            }
        ]
    }  # fmt: skip
    path = tmp_path / "data.json"
    path.write_text(json.dumps(manifest))
    text = printed(width, "data", "check", tmp_path, "--manifest", path)
    assert SHOWN in text and "differs" in text and "bytes," in text


@WIDTHS
def test_perplexity(width, printed, tmp_path):
    make_bilm(tmp_path / "bilm")
    text = tmp_path / (EVIL.replace("/", "") + LONG)
    text.write_text("the cat\n" * 4)
    shown = printed(width, "perplexity", tmp_path / "bilm", text, "--stateful", 2)
    assert "carried" in shown and "mean" in shown


@WIDTHS
def test_scores(width, printed, tmp_path):
    label = EVIL.replace(" ", "") + LONG
    gold = tmp_path / "gold"
    gold.write_text(NER.replace("I-PER", f"I-{label}"))
    assert SHOWN in printed(width, "score", "ner", gold, gold)


@WIDTHS
def test_neighbors_senses_and_parts_of_speech(width, printed, tmp_path):
    bilm = tmp_path / "bilm"
    build_bilm().save(bilm, record={})
    senses = tmp_path / f"{EVIL.replace('/', '')}.jsonl"
    lines = [sense_line(EVIL, EVIL + LONG, f"a play {EVIL} {LONG}", 1) for _ in range(3)]
    senses.write_text("".join(lines))
    folders = ["--cache", tmp_path / "cache", "--results", tmp_path / "results"]
    sentence = ["--word", "play", "--sentence", f"a play {EVIL}"]
    assert SHOWN in printed(width, "neighbors", bilm, senses, *sentence, *folders)
    text = printed(width, "wsd", bilm, "--train", senses, "--test", senses, *folders)
    assert "layer2" in text
    tags = tmp_path / "tags.txt"
    tags.write_text(f"the {EVIL}\nplay NN\n\n" * 12)
    text = printed(width, "pos", bilm, "--train", tags, "--test", tags, *folders)
    assert "layer2" in text
