from elmo_bench.records.analysis import Analysis
from elmo_bench.report.analysis_tables import neighbors_table, scores_table
from elmo_bench.report.formats import comma_separated, latex, markdown

WSD = Analysis(
    analysis="wsd",
    bilm="mini",
    fingerprint="f00d",
    data="coarse",
    settings={"nearest": "sense", "center": True, "window": 2},
    metric="f1",
    layers=[{"f1": 60.0}, {"f1": 70.04}, {"f1": 75.0}],
    baselines={
        "most frequent sense": {"f1": 64.0},
        "context average, token layer": {"f1": 66.0},
        "context average, glove.txt": {"f1": 88.0},
    },
)
POS = Analysis(
    analysis="pos",
    bilm="mini",
    fingerprint="f00d",
    data="ewt",
    settings={"limit": None},
    metric="accuracy",
    layers=[{"accuracy": 83.0, "unseen": 66.0}, {"accuracy": 90.0, "unseen": 74.0}],
    baselines={"most frequent tag": {"accuracy": 78.0, "unseen": 20.0}},
)
NEAR = Analysis(
    analysis="neighbors",
    bilm="mini",
    fingerprint="f00d",
    data="text.txt",
    settings={"sentence": ["we", "play"], "position": 1, "layer": 2},
    examples={
        "neighbors": [{"similarity": 0.912, "tokens": ["they", "play", "ball"], "position": 1}],
        "static": [["played", 0.9]],
    },
)


def test_every_layer_and_baseline_of_an_analysis_is_in_its_row():
    [row, paper] = scores_table([WSD]).rows
    texts = {key: cell.text for key, cell in row.items()}
    assert texts["settings"] == "nearest sense, centered, window 2"
    assert [texts[key] for key in ("frequent", "context", "static")] == ["64.0", "66.0", "88.0"]
    assert [texts[f"layer{layer}"] for layer in range(3)] == ["60.0", "70.0", "75.0"]
    assert paper["layer2"].text == "69.0"


def test_every_metric_has_a_row_and_the_main_one_comes_first():
    rows = scores_table([POS, NEAR]).rows
    assert [row["metric"].text for row in rows if "metric" in row] == ["accuracy", "unseen"]


def test_neighbors_are_shown_with_the_word_in_brackets():
    [row] = neighbors_table([WSD, NEAR]).rows
    assert row["source"].text == "we [play]"
    assert row["nearest"].text == "0.91 they [play] ball"
    assert row["static"].text == "played"


def test_the_tables_can_be_written_in_every_format():
    for table in (scores_table([WSD, POS]), neighbors_table([NEAR])):
        for write in (markdown, latex, comma_separated):
            assert table.rows[0]["task"].text in write(table)


def test_without_analyses_there_are_no_rows():
    assert scores_table([]).rows == []
