"""The analyses give the CPU's results when the biLM runs on the simulated GPU."""

import pytest

from elmo_bench.cli import main
from elmo_bench.records.analysis import read_analyses
from tests.analysis.conftest import TEXT, build_bilm, sense_line

TAGGED = "the DT\nplay NN\n\nthey PRP\nplay VBP\nfootball NN\n\n" * 10
SENSES = [
    ("play", "play.stage", "we saw the plays twice", 3),
    ("play", "play.stage", "the actors gave a play", 4),
    ("play", "play.sport", "they play football", 1),
]


@pytest.fixture
def commands(tmp_path):
    """The command lines of the analyses, without folders and device."""
    build_bilm().save(tmp_path / "bilm", record={})
    files = {"text": TEXT, "tagged": TAGGED, "senses": "".join(sense_line(*s) for s in SENSES)}
    for name, content in files.items():
        path = tmp_path / f"{name}.{'jsonl' if name == 'senses' else 'txt'}"
        path.write_text(content, encoding="utf-8")
    bilm, text, tagged, senses = (
        str(tmp_path / name) for name in ("bilm", "text.txt", "tagged.txt", "senses.jsonl")
    )
    asked = ["--sentence", "we saw the play twice", "--word", "play", "--top", "3"]
    return {
        "neighbors": ["neighbors", bilm, text, *asked],
        "wsd": ["wsd", bilm, "--train", senses, "--test", senses],
        "pos": ["pos", bilm, "--train", tagged, "--test", tagged],
    }


@pytest.mark.parametrize("name", ["neighbors", "wsd", "pos"])
def test_an_analysis_is_that_of_the_cpu(gpu, commands, tmp_path, name):
    found = {}
    for device in ("cpu", "auto"):
        places = (("--cache", "cache"), ("--results", "results"))
        folders = [w for k, v in places for w in (k, str(tmp_path / device / v))]
        gpu.Counts()
        assert main([*commands[name], *folders, "--device", device]) == 0
        assert (gpu.Counts().num_launches > 0) == (device == "auto")
        [found[device]] = read_analyses(tmp_path / device / "results")
    here, there = found["cpu"], found["auto"]
    assert there.layers == here.layers  # scores; neighbors have none
    if name == "neighbors":
        near = [
            [(n["line"], n["position"]) for n in f.examples["neighbors"]] for f in (here, there)
        ]
        assert near[0] == near[1] and len(near[0]) == 3
