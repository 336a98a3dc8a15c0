from elmo_bench.cli import main
from elmo_bench.records.analysis import read_analyses


def arguments(bilm_folder, file, tmp_path):
    return [
        "neighbors", str(bilm_folder), str(file), "--sentence", "we play ball", "--word", "play",
        "--cache", str(tmp_path / "cache"), "--results", str(tmp_path / "results"),
    ]  # fmt: skip


def test_neighbors_are_printed_drawn_and_recorded(bilm_folder, senses, tmp_path, capsys):
    picture = tmp_path / "play.png"
    command = [*arguments(bilm_folder, senses, tmp_path), "--top", "2", "--picture", str(picture)]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert "we [play] ball" in shown
    assert "play.stage" in shown
    assert picture.stat().st_size > 5000
    [analysis] = read_analyses(tmp_path / "results")
    assert len(analysis.examples["neighbors"]) == 2
    assert analysis.bilm == "tiny"


def test_nothing_is_recorded_on_request(bilm_folder, text, tmp_path):
    assert main([*arguments(bilm_folder, text, tmp_path), "--no-record"]) == 0
    assert read_analyses(tmp_path / "results") == []


def test_similar_words_by_static_vectors_are_printed(bilm_folder, text, tmp_path, capsys):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("play 1 0\ngame 1 0.1\n", encoding="utf-8")
    main([*arguments(bilm_folder, text, tmp_path), "--vectors", str(vectors)])
    assert "by vectors.txt: game 1.00" in capsys.readouterr().out


def test_a_missing_word_is_reported_in_one_line(bilm_folder, text, tmp_path, capsys):
    command = arguments(bilm_folder, text, tmp_path)
    command[command.index("--word") + 1] = "sing"
    assert main(command) == 2
    assert "not a token" in capsys.readouterr().err
