import gzip
from pathlib import Path

import pytest

from elmo_bench.analysis.senses import SenseExample, read_first_senses, read_senses
from elmo_bench.data.files import DataError
from tests.conftest import shared

WORDNET = Path("/usr/share/wordnet/index.sense")
XML = """<?xml version="1.0" encoding="UTF-8"?>
<corpus lang="en" source="test"><text id="d000"><sentence id="d000.s000">
<wf lemma="the" pos="DET">The</wf>
<instance id="d000.s000.t000" lemma="art" pos="NOUN">art</instance>
<wf lemma="of" pos="ADP">of</wf>
<instance id="d000.s000.t001" lemma="change_ringing" pos="NOUN">change_ringing</instance>
<wf lemma="." pos=".">.</wf>
</sentence></text></corpus>
"""
KEYS = "d000.s000.t000 art%1:09:00:: art%1:06:00::\nd000.s000.t001 change_ringing%1:04:00::\n"


def write_framework(tmp_path, xml=XML, keys=KEYS):
    (tmp_path / "toy.gold.key.txt").write_text(keys, encoding="utf-8")
    path = tmp_path / "toy.data.xml"
    path.write_text(xml, encoding="utf-8")
    return path


def test_jsonl_is_read_plain_and_gzipped(senses, tmp_path):
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(senses.read_bytes()))
    examples = read_senses(senses)
    assert examples[2] == SenseExample("play", ("play.sport",), 1, 1, ("they", "play", "football"))
    assert read_senses(packed) == examples


def test_empty_tokens_are_dropped(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"lemma": "bank", "sense": "river", "index": 2, "tokens": ["", "a", "bank", ""]}'
    )
    assert read_senses(path) == [SenseExample("bank", ("river",), 1, 1, ("a", "bank"))]


def test_the_unified_framework_is_read_with_its_keys(tmp_path):
    tokens = ("The", "art", "of", "change", "ringing", ".")
    assert read_senses(write_framework(tmp_path)) == [
        SenseExample("art#NOUN", ("art%1:09:00::", "art%1:06:00::"), 1, 1, tokens),
        SenseExample("change_ringing#NOUN", ("change_ringing%1:04:00::",), 3, 4, tokens),
    ]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (KEYS.splitlines()[0] + "\n", "t001' has no gold key"),
        (KEYS + "d000.s009.t000 art%1:06:00::\n", "1 more instances"),
        (KEYS + KEYS, "occurs twice"),
        ("d000.s000.t000\n", "has no sense"),
    ],
)
def test_keys_that_do_not_match_are_reported(tmp_path, keys, message):
    with pytest.raises(DataError, match=message):
        read_senses(write_framework(tmp_path, keys=keys))


def test_broken_xml_is_reported_with_its_line(tmp_path):
    with pytest.raises(DataError, match=r"toy.data.xml, line \d+: not well-formed"):
        read_senses(write_framework(tmp_path, xml=XML.replace("</text>", "")))


@pytest.mark.parametrize(
    "line",
    ['{"lemma": "a"}', "[]", '{"lemma": "a", "sense": "b", "index": 3, "tokens": ["a"]}', "{",
     '{"lemma": "a", "sense": 1, "index": 0, "tokens": ["a"]}'],
)  # fmt: skip
def test_a_malformed_line_is_reported_with_its_number(tmp_path, line):
    path = tmp_path / "wrong.jsonl"
    path.write_text("\n" + line + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 2"):
        read_senses(path)


def test_the_first_sense_has_the_lowest_number(tmp_path):
    path = tmp_path / "index.sense"
    path.write_text(
        "bank%1:14:00:: 08420278 2 20\nbank%1:17:01:: 09213565 1 25\nbank%2:38:00:: 01 1 2\n"
    )
    assert read_first_senses(path) == {"bank#NOUN": "bank%1:17:01::", "bank#VERB": "bank%2:38:00::"}


def test_all_of_coarsewsd_is_read():
    path = shared("data", "wsd", "coarsewsd20.test.jsonl.gz")
    examples = read_senses(path)
    assert len(examples) == 10_196
    assert len({example.lemma for example in examples}) == 20


SEMCOR = (
    '{"part": "brown1", "doc": "br-a01", "tokens": ["The", "City_of_Atlanta", "said", "_"], '
    '"pos": ["DT", "NNP", "VB", "."], "lemmas": [null, "location", "Say", null], '
    '"senses": [null, ["location%1:03:00::"], ["say%2:32:00::", "say%2:32:01::"], null]}\n'
)


def test_a_sentence_with_all_its_senses_is_read_and_its_multiwords_are_split(tmp_path):
    path = tmp_path / "semcor.jsonl"
    path.write_text(SEMCOR, encoding="utf-8")
    tokens = ("The", "City", "of", "Atlanta", "said", "_")
    assert read_senses(path) == [
        SenseExample("location#NOUN", ("location%1:03:00::",), 1, 3, tokens),
        SenseExample("say#VERB", ("say%2:32:00::", "say%2:32:01::"), 4, 4, tokens),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"Say", null]', '"Say"]', "4 tokens, 3 lemmas and 4 senses"),
        ("say%2:32:01::", "say%1:32:01::", "not sense keys"),
        ("say%2:32:01::", "say", "not sense keys"),
        ('["location%1:03:00::"]', "[]", "not sense keys"),
        ('"lemmas"', '"lemma"', "key 'lemmas' is missing"),
    ],
)
def test_a_malformed_sentence_is_reported(tmp_path, old, new, message):
    path = tmp_path / "semcor.jsonl"
    path.write_text("\n" + SEMCOR.replace(old, new), encoding="utf-8")
    with pytest.raises(DataError, match=f"line 2: .*{message}"):
        read_senses(path)


def test_the_framework_is_read_gzipped(tmp_path):
    plain = write_framework(tmp_path)
    packed = tmp_path / "toy.data.xml.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_senses(packed) == read_senses(plain)
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(DataError, match="cannot be read"):
        read_senses(packed)


def test_wordnet_is_found_in_its_folder(tmp_path):
    (tmp_path / "index.sense").write_text("bank%1:17:01:: 09213565 1 25\n")
    assert read_first_senses(tmp_path) == {"bank#NOUN": "bank%1:17:01::"}


@pytest.mark.slow  # 10 seconds
def test_all_of_semcor_is_read():
    examples = read_senses(shared("data", "wsd", "semcor3.0.jsonl.gz"))
    assert len(examples) == 226_040
    assert {example.lemma.partition("#")[2] for example in examples} == {
        "NOUN", "VERB", "ADJ", "ADV",
    }  # fmt: skip


def test_the_first_sense_of_wordnet_scores_as_published():
    # Raganato et al. (2017): 65.2 on all sets. The paper: 65.9, without SemEval-2007.
    folder = shared("data", "wsd", "raganato")
    if not WORDNET.exists():
        pytest.skip(f"needs {WORDNET} (Debian: wordnet-sense-index)")
    first = read_first_senses(WORDNET)
    right = {}
    for name in ("senseval2", "senseval3", "semeval2007", "semeval2013", "semeval2015"):
        examples = read_senses(folder / f"{name}.data.xml.gz")
        right[name] = [first.get(example.lemma) in example.senses for example in examples]
    everything = [hit for hits in right.values() for hit in hits]
    papers = [hit for name, hits in right.items() for hit in hits if name != "semeval2007"]
    assert len(everything) == 7253
    assert round(100 * sum(everything) / len(everything), 1) == 65.2
    assert round(100 * sum(papers) / len(papers), 1) == 65.9
