import numpy as np

from elmo_bench.analysis import static
from elmo_bench.analysis.static import similar_tokens, similar_words, token_average

VECTORS = """\
play 1 0 0
played 0.9 0.1 0
game 0.5 0.5 0
stone 0 0 1
away -1 0 0
"""


def test_similar_words_are_sorted_nearest_first(tmp_path, monkeypatch):
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS, encoding="utf-8")
    whole = similar_words("Play", path, top=3)
    assert [word for _, word in whole] == ["played", "game", "stone"]
    monkeypatch.setattr(static, "BLOCK_WORDS", 2)
    assert similar_words("Play", path, top=3) == whole


def test_an_unknown_word_has_no_similar_words(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS, encoding="utf-8")
    assert similar_words("zebra", path) == []


def test_words_of_a_text_are_compared_by_the_token_layer(bilm, text):
    found = similar_tokens("park", bilm, text, top=4)
    assert len(found) == 4
    assert "park" not in [word for _, word in found]
    assert found == sorted(found, reverse=True)


def test_the_average_excludes_the_target_and_unknown_words():
    vectors = {"a": np.array([1.0, 0.0], np.float32), "b": np.array([0.0, 1.0], np.float32)}
    [row, nothing] = token_average(
        [("A", "b", "zebra"), ("b", "zebra")], [range(1, 2), range(1)], vectors
    )
    assert row.tolist() == [1.0, 0.0]
    assert nothing.tolist() == [0.0, 0.0]
