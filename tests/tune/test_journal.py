"""The journal of a study is read as it was written up to some line, or reported as damaged."""

import json
import random
from itertools import pairwise

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.trial import TrialState

from elmo_bench.data.files import DataError
from elmo_bench.tune.journal import Journal


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bytes of a journal with trials of every kind."""
    path = tmp_path_factory.mktemp("written") / "trials.log"
    study = open_study(path)
    for number in range(4):
        trial = study.ask()
        trial.suggest_float("x", 0, 1)
        trial.suggest_categorical("y", ["a\r\n", "ü"])
        trial.report(number / 3, 0)
        study.tell(trial, number / 7 if number else None, state=None if number else TrialState.FAIL)
    study.enqueue_trial({"x": 0.5})
    return path.read_bytes()


def open_study(path):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = JournalStorage(Journal(path))
    return optuna.create_study(study_name="s", storage=storage, load_if_exists=True)


def read(path):
    return list(Journal(path).read_logs(0))


def test_a_journal_is_json_lines_that_optuna_itself_reads(written, tmp_path):
    path = tmp_path / "trials.log"
    path.write_bytes(written)
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    study = optuna.load_study(study_name="s", storage=JournalStorage(backend))
    assert study.trials == open_study(path).trials and len(study.trials) == 5
    assert all("checksum" in json.loads(line) for line in written.splitlines())


def test_a_journal_that_was_cut_anywhere_has_the_lines_before_and_can_be_continued(
    written, tmp_path
):
    path = tmp_path / "trials.log"
    path.write_bytes(written)
    logs, lines = read(path), written.splitlines(keepends=True)
    ends = [0]
    for line in lines:
        ends.append(ends[-1] + len(line))
    assert len(lines) > 20
    near = {place for end in ends for place in (end - 1, end, end + 1)}
    for cut in sorted(near | set(range(0, len(written), 23))):
        path.write_bytes(written[: max(cut, 0)])
        whole = sum(end <= cut for end in ends[1:])
        assert read(path) == logs[:whole]
        Journal(path).append_logs([{"more": 1}, {"more": 2}])
        assert read(path) == [*logs[:whole], {"more": 1}, {"more": 2}]
        assert path.read_bytes().startswith(written[: ends[whole]])


def test_a_damaged_journal_is_never_read_as_another(written, tmp_path):
    path = tmp_path / "trials.log"
    path.write_bytes(written)
    logs, source = read(path), random.Random(1)
    reported = 0
    for _ in range(500):
        damaged = bytearray(written)
        place = source.randrange(len(damaged))
        if source.random() < 0.7:
            damaged[place] ^= 1 << source.randrange(8)
        else:
            del damaged[place : place + source.randrange(1, 200)]
        path.write_bytes(damaged)
        try:
            found = read(path)
        except DataError as error:
            reported += 1
            assert "trials.log, line " in str(error)
        else:  # the damage is in the last line, and left it without an end
            assert found == logs[: len(found)] and len(found) < len(logs)
    assert reported > 400


def test_missing_repeated_and_exchanged_lines_are_noticed(written, tmp_path):
    path = tmp_path / "trials.log"
    lines = written.splitlines(keepends=True)
    for index, (line, after) in enumerate(pairwise(lines)):
        for other in (b"", line + line, after + line):
            rest = lines[index + (2 if other.startswith(after) else 1) :]
            path.write_bytes(b"".join([*lines[:index], other, *rest]))
            with pytest.raises(DataError, match=f"line {index + (2 if other == line * 2 else 1)}"):
                read(path)


def test_a_journal_of_an_earlier_version_is_reported(tmp_path):
    path = tmp_path / "trials.log"
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    optuna.create_study(study_name="s", storage=JournalStorage(backend))
    with pytest.raises(DataError, match="line 1: damaged, or written by an earlier version"):
        open_study(path)


def test_a_journal_that_shrinks_while_it_is_used_is_reported(written, tmp_path):
    path = tmp_path / "trials.log"
    path.write_bytes(written)
    journal = Journal(path)
    list(journal.read_logs(0))
    path.write_bytes(written[:100])
    with pytest.raises(DataError, match="shortened"):
        journal.append_logs([{"more": 1}])
