import json
import os
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from elmo_bench.cli import main
from elmo_bench.report import all_tables
from elmo_bench.report.figures import all_figures
from elmo_bench.report.names import FIGURES, TABLES
from tests.report.synthetic_records import TASKS, record


@pytest.mark.parametrize("format", ["rich", "md", "csv", "latex", "json"])
def test_all_tables_can_be_shown_in_every_format(format, synthetic, capsys):
    assert main(["compare", str(synthetic), "--tables", "all", "--format", format]) == 0
    assert "snli" in capsys.readouterr().out


def test_a_filtered_comparison_shows_nothing_else(synthetic, capsys):
    main(["compare", str(synthetic), "--task", "srl", "--format", "json"])
    [table] = json.loads(capsys.readouterr().out)["tables"]
    assert {row["task"] for row in table["rows"]} == {"srl"}


def test_the_commands_offer_all_tables_and_figures():
    assert {"main", *all_tables.OTHERS, *all_tables.OF_ANALYSES} == set(TABLES)
    assert {*all_figures.OF_RUNS, *all_figures.OF_ANALYSES} == set(FIGURES)


def test_a_missing_folder_is_reported_in_one_line(capsys):
    assert main(["compare", "nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_thousand_records_are_compared_in_two_seconds_without_torch(tmp_path):
    base = {task: (record(task, elmo=None), record(task)) for task in TASKS}
    for number in range(1000):
        made = base[list(TASKS)[number % 6]][number % 2]
        fraction, seed = 1 / (1 + number // 60), number // 12 % 5
        data = made.config["data"] | {"train_fraction": fraction}
        config = made.config | {"data": data, "seed": seed}
        content = asdict(replace(made, run=f"{number:08x}", seed=seed, config=config))
        (tmp_path / f"{number}.json").write_text(json.dumps(content))
    code = (
        "import sys; from elmo_bench.cli import main; "
        f"main(['compare', {str(tmp_path)!r}, '--tables', 'all']); "
        "assert 'torch' not in sys.modules"
    )
    assert min(_processor_seconds(code) for _ in range(2)) < 2


def _processor_seconds(code):
    """CPU time of a Python process; wall time would depend on the load of the machine."""
    before = os.times()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = (after.children_user, after.children_system)
    return sum(spent) - before.children_user - before.children_system
