import gzip

import numpy as np
import pytest

from elmo_bench.analysis import index as indexing
from elmo_bench.analysis.neighbors import ask, find_neighbors, word_index
from elmo_bench.analysis.text import read_lines
from tests.analysis.conftest import sense_line


def test_the_nearest_occurrences_have_the_greatest_cosines(bilm, text, tmp_path):
    sentence = "a new play is on"
    found = find_neighbors(bilm, text, sentence, "play", layer=1, top=3, cache=tmp_path)
    query = ask(bilm, sentence, "play").layers[1]
    expected = []
    for line in read_lines(text):
        [layers] = bilm.embed([line.tokens])
        for position in line.positions("play"):
            vector = layers[1, position].numpy()
            cosine = vector @ query / np.linalg.norm(vector) / np.linalg.norm(query)
            expected.append((float(cosine), line.tokens, position))
    best = sorted(dict.fromkeys(expected), reverse=True)[:3]
    assert [(n.tokens, n.position) for n in found] == [pair[1:] for pair in best]
    assert [n.similarity for n in found] == pytest.approx([pair[0] for pair in best], abs=1e-3)


def test_the_query_is_no_neighbor_and_no_sentence_is_repeated(bilm, text, tmp_path):
    sentence = "they play football in the park"
    found = find_neighbors(bilm, text, sentence, "play", top=50, cache=tmp_path)
    sentences = [" ".join(neighbor.tokens) for neighbor in found]
    assert sentence not in sentences
    assert sorted(sentences) == sorted(set(sentences))
    assert len(sentences) == 4


def test_a_word_is_found_in_any_case(bilm, text, tmp_path):
    found = find_neighbors(bilm, text, "we play", "play", top=50, cache=tmp_path)
    assert "Play it again" in [" ".join(neighbor.tokens) for neighbor in found]


def test_every_word_is_compared_on_request(bilm, text, tmp_path):
    found = find_neighbors(bilm, text, "we play", "play", top=50, any_word=True, cache=tmp_path)
    assert {"football", "theatre"} <= {n.tokens[n.position] for n in found}


def test_search_in_small_blocks_finds_the_same(bilm, text, tmp_path, monkeypatch):
    arguments = (bilm, text, "we play", "play", 2, 5, True, True, tmp_path)
    whole = find_neighbors(*arguments)
    monkeypatch.setattr(indexing, "BLOCK_ROWS", 3)
    assert [(n.line, n.position) for n in find_neighbors(*arguments)] == [
        (n.line, n.position) for n in whole
    ]


def test_centering_subtracts_the_mean_of_all_occurrences(bilm, text, tmp_path):
    index = word_index(bilm, text, "play", 1, tmp_path)
    rows = index.vectors[1].astype(np.float32)
    row = 3
    [match] = index.nearest(rows[row], 1, 1, center=True)
    assert match.row == row
    moved = rows - rows.mean(axis=0)
    expected = moved @ moved[row] / np.linalg.norm(moved, axis=1) / np.linalg.norm(moved[row])
    found = index.nearest(rows[row], 1, len(rows), center=True)
    assert [m.similarity for m in found] == pytest.approx(sorted(expected, reverse=True), abs=1e-3)


def test_an_index_is_built_once_for_all_layers(bilm, text, tmp_path, monkeypatch):
    word_index(bilm, text, "play", 1, tmp_path)
    monkeypatch.setattr(indexing, "stream_layers", None)
    assert len(word_index(bilm, text, "Play", 2, tmp_path)) == 6


def test_a_changed_file_gets_a_new_index(bilm, text, tmp_path):
    word_index(bilm, text, "play", 1, tmp_path)
    text.write_text("they play\n", encoding="utf-8")
    assert len(word_index(bilm, text, "play", 1, tmp_path)) == 1


def test_a_damaged_index_is_rebuilt(bilm, text, tmp_path):
    word_index(bilm, text, "play", 1, tmp_path / "cache")
    [vectors] = (tmp_path / "cache").glob("*/vectors.npy")
    vectors.write_bytes(b"nonsense")
    assert len(word_index(bilm, text, "play", 1, tmp_path / "cache")) == 6


def test_gzipped_text_has_the_same_neighbors(bilm, text, tmp_path):
    packed = tmp_path / "text.txt.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    plain = find_neighbors(bilm, text, "we play", "play", cache=tmp_path)
    assert find_neighbors(bilm, packed, "we play", "play", cache=tmp_path) == plain


def test_neighbors_have_senses_and_include_all_forms_of_a_lemma(bilm, senses, tmp_path):
    found = find_neighbors(bilm, senses, "we play", "play", cache=tmp_path)
    assert sorted(n.sense for n in found) == ["play.sport", "play.stage", "play.stage"]
    assert "plays" in {n.tokens[n.position] for n in found}


def test_a_word_missing_from_the_sentence_is_reported(bilm, text, tmp_path):
    with pytest.raises(ValueError, match="not a token"):
        find_neighbors(bilm, text, "we sing", "play", cache=tmp_path)


def test_a_word_missing_from_the_text_is_reported(bilm, text, tmp_path):
    with pytest.raises(ValueError, match="does not occur"):
        find_neighbors(bilm, text, "we sing", "sing", cache=tmp_path)


def test_a_layer_that_does_not_exist_is_reported(bilm, text, tmp_path):
    with pytest.raises(ValueError, match="layers 0 to 2"):
        find_neighbors(bilm, text, "we play", "play", layer=3, cache=tmp_path)


def test_consecutive_lines_of_one_sentence_are_merged(tmp_path):
    path = tmp_path / "senses.jsonl"
    sentence = "they play in the old park"
    path.write_text(sense_line("play", "p", sentence, 1) + sense_line("park", "q", sentence, 5))
    [line] = read_lines(path)
    assert line.senses == {1: "p", 5: "q"}
