import gzip

import pytest

from elmo_bench.cli import main
from elmo_bench.records.run import read_record
from elmo_bench.report.page.examples import differences
from elmo_bench.report.significance import compare_runs
from tests.report.synthetic_records import record, write


@pytest.fixture
def runs(tmp_path):
    paths = [write(record("ner", elmo=elmo), tmp_path) for elmo in (None, "paper")]
    return [(read_record(path), path) for path in paths]


def test_redacted_predictions_have_no_text_and_the_same_p_value(runs, tmp_path):
    (baseline, _), (ours, _) = runs
    before = compare_runs([(baseline, ours)])
    assert main(["redact", *(str(path) for _, path in runs)]) == 0
    lines = gzip.decompress((tmp_path / ours.predictions).read_bytes()).decode()
    assert "tokens" not in lines
    assert compare_runs([(baseline, ours)]) == before


def test_the_page_counts_differences_of_redacted_predictions_but_shows_no_examples(runs, tmp_path):
    (baseline, _), (ours, path) = runs
    main(["redact", str(path)])
    found = differences(baseline, ours)
    assert found.total > 0
    assert found.examples == []


def test_missing_predictions_are_reported(tmp_path, capsys):
    assert main(["redact", str(tmp_path / "no.json")]) == 2
    assert "there is no" in capsys.readouterr().err
