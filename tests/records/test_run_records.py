import json
import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest

from elmo_bench.records.environment import environment
from elmo_bench.records.run import Record, read_record, read_records, write_record

RECORD = Record(
    run="0123abcd",
    task="ner",
    seed=1,
    metric="f1",
    data="mini",
    words="random",
    elmo="paper",
    bilm="mini",
    config={"seed": 1, "elmo": {}, "bilm": {}},
    scores={"dev": {"f1": 71.5}, "test": {"f1": 70.25}},
    layer_weights={"input": {"weights": [0.2, 0.5, 0.3], "gamma": 1.1}},
)


def test_a_record_is_read_as_it_was_written(tmp_path):
    assert read_record(write_record(RECORD, tmp_path)) == RECORD


def test_a_run_with_the_same_hash_replaces_its_record(tmp_path):
    write_record(RECORD, tmp_path)
    write_record(replace(RECORD, scores={"dev": {"f1": 72.0}}), tmp_path)
    [record] = read_records(tmp_path)
    assert record.scores == {"dev": {"f1": 72.0}}


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '{"version": 99}', "\x00\x01"])
def test_a_damaged_record_is_named_and_skipped(tmp_path, caplog, damage):
    write_record(RECORD, tmp_path)
    (tmp_path / "broken.json").write_text(damage)
    assert read_records(tmp_path) == [RECORD]
    assert "broken.json" in caplog.text


def test_an_unknown_field_is_ignored(tmp_path):
    path = write_record(RECORD, tmp_path)
    content = {**json.loads(path.read_text()), "novelty": 1}
    del content["checksum"]
    path.write_text(json.dumps(content))
    assert read_record(path) == RECORD


def test_a_failed_write_leaves_the_old_record_and_no_other_file(tmp_path):
    write_record(RECORD, tmp_path)
    with pytest.raises(TypeError):
        write_record(replace(RECORD, config={"not json": object()}), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [RECORD.file_name]
    assert read_records(tmp_path) == [RECORD]


def _write_many(directory: Path, value: int) -> None:
    for _ in range(50):
        write_record(replace(RECORD, sizes={"parameters": value}), directory)


def test_concurrent_writers_leave_a_complete_record(tmp_path):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(tmp_path, n)) for n in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    [record] = read_records(tmp_path)
    assert record.sizes["parameters"] in (1, 2)


def test_the_environment_has_package_versions_and_the_commit():
    found = environment()
    assert found["packages"]["torch"]
    assert found["commit"] is None or len(found["commit"].rstrip("+")) >= 12


def test_a_changed_number_is_noticed(tmp_path):
    path = write_record(Record("0" * 8, "ner", 1, "f1", "mini", "random", "none", None, {},
                               {"test": {"f1": 81.67}}), tmp_path)  # fmt: skip
    path.write_text(path.read_text().replace("81.67", "91.67"))
    with pytest.raises(ValueError, match="changed by hand"):
        read_record(path)
