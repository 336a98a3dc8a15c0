"""Names from records are shown, not obeyed: by the terminal, by plots and by the page."""

from dataclasses import replace

from rich.console import Console

from elmo_bench.report.all_tables import build_tables
from elmo_bench.report.page.build import build_page
from elmo_bench.report.terminal import show
from tests.report.synthetic_records import record

EVIL = "[red]$x$ <b>\x1b[31m$\\frac{"


def evil_runs():
    made = [record("ner", seed, **arm) for seed in (1, 2) for arm in ({"elmo": None}, {})]
    return [replace(one, data=EVIL, bilm=one.bilm and EVIL) for one in made]


def test_a_table_shows_markup_and_escapes(capsys):
    [table] = build_tables(evil_runs(), [], ["main"])
    show(table, Console(width=200, force_terminal=False))
    shown = capsys.readouterr().out
    assert r"[red]$x$ <b>\x1b[31m" in shown and "\x1b" not in shown


def test_the_page_and_its_figures_show_markup_and_dollars():
    page = build_page(evil_runs(), [])
    assert "[red]$x$ &lt;b&gt;" in page and "<b>" not in page
