import io

from rich.console import Console

from elmo_bench.report.run_summary import show_comparison
from tests.report.synthetic_records import record

PAPER = {"baseline": 90.15, "elmo": 92.22}


def shown(*arguments):
    console = Console(width=120, file=io.StringIO())
    show_comparison(*arguments, console=console)
    return console.file.getvalue()


def test_the_summary_shows_the_gain_and_the_papers_gain():
    baseline, run = record("ner", elmo=None), record("ner")
    gain = run.scores["test"]["f1"] - baseline.scores["test"]["f1"]
    text = shown(baseline, run, PAPER)
    assert f"{gain:+.2f} /" in text and "+2.07 / +21.0 %" in text


def test_a_single_layer_is_shown_by_its_own_name():
    run = record("ner", elmo__name="last", elmo__layers="last")
    assert "layer 2" in shown(None, run, PAPER) and "layer 1" not in shown(None, run, PAPER)


def test_a_task_without_published_scores_has_no_paper_row():
    assert "paper" not in shown(None, record("ner", elmo=None), {})
