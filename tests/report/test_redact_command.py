import gzip
from dataclasses import replace

import pytest

from elmo_bench.cli import main
from elmo_bench.records.run import read_record, read_records
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


def test_copies_are_redacted_and_the_originals_are_not(runs, tmp_path):
    (baseline, _), (ours, _) = runs
    copies = tmp_path / "reference" / "runs"
    assert main(["redact", *(str(path) for _, path in runs), "-o", str(copies)]) == 0
    [first, second] = [read_record(copies / path.name) for _, path in runs]
    assert (second.source, second.scores) == ("reference", ours.scores)
    assert compare_runs([(first, second)]) == compare_runs([(baseline, ours)])
    files = [folder / ours.predictions for folder in (tmp_path, copies)]
    texts = [gzip.decompress(file.read_bytes()) for file in files]
    assert [b"tokens" in text for text in texts] == [True, False]


def test_copies_leave_out_failed_runs_and_paths_of_this_machine(tmp_path):
    failed = replace(record("ner", 2), error="broke", scores={})
    made = record("ner")
    made = replace(made, overrides=[*made.overrides, "paths.cache=/home/me/cache"])
    paths = [write(one, tmp_path, with_predictions=False) for one in (failed, made)]
    assert main(["redact", *map(str, paths), "-o", str(tmp_path / "copies")]) == 0
    [copy] = read_records(tmp_path / "copies")
    assert copy.overrides == ["task=ner", "seed=1"]
