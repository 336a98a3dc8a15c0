import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from elmo_bench.cli import main
from elmo_bench.records import write_record
from tests.report.synthetic_records import TASKS, record


@pytest.mark.parametrize("format", ["rich", "md", "csv", "latex", "json"])
def test_all_tables_come_in_every_format(format, synthetic, capsys):
    assert main(["compare", str(synthetic), "--tables", "all", "--format", format]) == 0
    assert "snli" in capsys.readouterr().out


def test_a_filtered_comparison_speaks_of_nothing_else(synthetic, capsys):
    main(["compare", str(synthetic), "--task", "srl", "--format", "json"])
    [table] = json.loads(capsys.readouterr().out)["tables"]
    assert {row["task"] for row in table["rows"]} == {"srl"}


def test_a_wrong_folder_is_told_in_a_line(capsys):
    assert main(["compare", "nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_thousand_records_are_compared_in_two_seconds_without_torch(tmp_path):
    base = {task: (record(task, elmo=None), record(task)) for task in TASKS}
    for number in range(1000):
        pair = base[list(TASKS)[number % 6]]
        made = pair[number % 2]
        fraction = 1 / (1 + number // 60)
        config = made.config | {"data": made.config["data"] | {"train_fraction": fraction}}
        seed = number // 12 % 5
        name = f"{number:08x}"
        write_record(replace(made, run=name, seed=seed, config=config | {"seed": seed}), tmp_path)
    code = (
        "import sys; from elmo_bench.cli import main; "
        f"main(['compare', {str(tmp_path)!r}, '--tables', 'all']); "
        "assert 'torch' not in sys.modules"
    )
    best = min(_seconds(code) for _ in range(3))
    assert best < 2


def _seconds(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
