import argparse
from dataclasses import replace

import pytest

from elmo_bench.report import selection
from tests.report.synthetic_records import open_record, record, write


@pytest.fixture
def folder(tmp_path):
    for made in (record("ner", 1), record("ner", 1, elmo=None), record("srl", 2)):
        write(made, tmp_path, with_predictions=False)
    return tmp_path


def chosen(folder, *arguments):
    parser = argparse.ArgumentParser()
    selection.add_arguments(parser)
    records = selection.selected_records(parser.parse_args([str(folder), *arguments]))
    return {(made.task, made.elmo) for made in records}


def test_without_filters_all_records_are_read(folder):
    assert len(chosen(folder)) == 3


def test_tasks_are_selected_by_name(folder):
    assert chosen(folder, "--task", "srl,sst5") == {("srl", "paper")}


def test_corpora_are_selected_by_name_or_kind(folder):
    write(open_record("ewt"), folder, with_predictions=False)
    assert chosen(folder, "--data", "mini") == {("ner", "paper"), ("ner", "none"), ("srl", "paper")}
    assert (
        chosen(folder, "--data", "files") == chosen(folder, "--data", "ewt") == {("srl", "paper")}
    )


def test_a_baseline_has_no_bilm_and_passes_the_bilm_filter(folder):
    assert chosen(folder, "--bilm", "other") == {("ner", "none")}


def test_the_last_day_is_included(folder):
    assert chosen(folder, "--until", "2026-03-01") == {("ner", "paper"), ("ner", "none")}
    assert chosen(folder, "--since", "2026-03-02") == {("srl", "paper")}


def test_an_older_baseline_stays_with_the_run_it_is_compared_with(folder):
    write(
        replace(record("ner", 1), finished="2026-06-01T00:00:00Z"), folder, with_predictions=False
    )
    assert chosen(folder, "--since", "2026-05-01") == {("ner", "paper"), ("ner", "none")}


def test_an_invalid_date_is_reported(folder):
    with pytest.raises(ValueError, match="--since yesterday"):
        chosen(folder, "--since", "yesterday")


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        chosen(tmp_path / "nowhere")
