"""What a user can mend ends in one line with the way out; a mistake in the code does not."""

import ast
import errno
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace

import pytest

from elmo_bench import commands
from elmo_bench.cli import main
from elmo_bench.commands import compare, pretrain, run
from elmo_bench.errors import BUG, USER, UserError, end, explanation
from tests.conftest import PROJECT

NOWHERE = "/nonexistent"
WRONG = {
    "compare": [NOWHERE],
    "data": ["check", NOWHERE],
    "embed": [NOWHERE, NOWHERE, "-o", NOWHERE],
    "export": [NOWHERE, NOWHERE],
    "generate": ["english", "--seed", "99999999999999999999"],
    "mini": ["write", "FOLDER"],
    "neighbors": [NOWHERE, NOWHERE, "--word", "a", "--sentence", "a"],
    "perplexity": ["english", NOWHERE],
    "plot": ["gains", NOWHERE],
    "pos": [NOWHERE],
    "predict": [NOWHERE],
    "pretrain": ["corpus=text", f"corpus.path={NOWHERE}"],
    "redact": [NOWHERE],
    "report": [NOWHERE],
    "run": ["task=ner", "data=files", f"data.dir={NOWHERE}"],
    "score": ["ner", NOWHERE, NOWHERE],
    "show": [NOWHERE],
    "tune": ["nobody"],
    "wsd": [NOWHERE],
}


# A cache that cannot be read is skipped.
COMMANDS = sorted({module.name for module in iter_modules(commands.__path__)} - {"cache"})


@pytest.fixture(autouse=True)
def in_a_new_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")  # nothing is there


def lines_of(capsys):
    captured = capsys.readouterr().err
    assert "Traceback" not in captured
    return captured.splitlines()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_ends_wrong_input_with_one_line(command, tmp_path, capsys):
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FOLDER" / "file").touch()
    status = _status(lambda: main([command, *WRONG[command]]))
    [line] = lines_of(capsys)
    assert status == USER
    assert line.startswith((f"elmo-bench {command}: ", f"{command}.py: "))


def _status(call):
    try:
        return call()
    except SystemExit as stop:  # Hydra's programs end inside
        return stop.code


@pytest.mark.parametrize(
    ("program", "words", "said"),
    [
        (run, ["task=nre"], "task=nre: the option is unknown; did you mean task=ner?"),
        (run, ["task=ner", "task.training.bach=3"], "task.training.bach=3: the key is unknown"),
        (run, ["task=ner", "seed=4294967296"], "seed=4294967296: must be less than 4294967296"),
        (run, ["task=ner", "seed=-1"], "seed=-1: must be greater than or equal to 0"),
        (run, ["task=ner", "task.training.optimizer.lr=nan"], "lr=nan: must be a finite number"),
        (run, ["task=ner", "task.training.optimizer.lr=inf"], "lr=inf: must be a finite number"),
        (run, ["task=ner", "data=hub"], "data=files"),
        (run, ["task=ner", f"bilm.weights={NOWHERE}"], "python pretrain.py bilm=nonexistent"),
        (run, ["task=ner", "words=glove", f"words.path={NOWHERE}"], "no such file (words.path)"),
        (run, ["task=ner", "bilm=official_small"], "set bilm.weights"),
        (pretrain, [f"pretraining.seed={2**63}"], "must be less than 4294967296"),
        (pretrain, ["corpus=hub", "corpus.dataset=a/b"], "corpus=text corpus.path=FILES"),
        (pretrain, ["corpus=text", f"corpus.path={NOWHERE}"], f"No file matches '{NOWHERE}'"),
        (run, ["task=ner", "logger=wandb", "logger.mode=online"], "take logger.mode=offline"),
        (pretrain, ["logger=wandb", "logger.mode=online"], "take logger.mode=offline"),
        (
            run,
            ["-m", "task=ner", "seed=1,2", "words=glove", f"words.path={NOWHERE}"],
            "(words.path)",
        ),
        (run, ["-m", "task=ner", "seed=1,2", "data=files", f"data.dir={NOWHERE}"], "(data.dir)"),
        (
            run,
            ["task=ner", "words=glove", "words.path=a", "words.dim=1"],
            "py: words.dim=1: the key",
        ),
        (pretrain, ["bilm=transformer"], "cannot be pretrained here: it comes pretrained"),
        (
            pretrain,
            ["bilm=transformer", "pretraining=mini", "bilm.weights=a/b"],
            "run.py task=NAME",
        ),
        (pretrain, ["bilm=official_small"], "choose bilm=english, medium, mini,"),
        (pretrain, ["corpus=text", "corpus.path=[null]"], "corpus.path=[None]: must be a string"),
        (pretrain, ["pretraining.loss.cutoffs=[9,3]"], "must be ascending"),
    ],
)
def test_run_and_pretrain_refuse_before_anything_is_computed(program, words, said, capsys):
    assert _status(lambda: program.main(words)) == USER
    [line] = lines_of(capsys)
    assert said in line


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "x.bin"), "x.bin: No space left"),
        (OSError(errno.ENOSPC, "No space left on device"), "free some space"),
        (OSError(errno.EROFS, "Read-only file system", b"x"), "x: Read-only file system; write to"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "check its permissions"),
        (FileNotFoundError(errno.ENOENT, "?", "x"), "x: No such file or directory"),
        (FileNotFoundError("make one first"), "make one first"),
        (RuntimeError("Error while serializing: I/O error: (os error 28)"), "No space left"),
        (MemoryError(), "out of memory; lower the batch size"),
        (ModuleNotFoundError("No module named 'ray'", name="ray"), "install it"),
        (UserError("two\nlines \x1b[31mred"), r"two lines \x1b[31mred"),
    ],
)
def test_what_a_user_can_mend_is_explained_in_one_line(error, said):
    line = explanation(error)
    assert said in line and "\n" not in line


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), KeyError("x"), RuntimeError("x"), ImportError("x", name="elmo_bench.x")],
)
def test_anything_else_is_a_bug(error):
    assert explanation(error) is None


def test_a_full_disk_that_a_library_reports_in_its_own_words_is_explained():
    try:
        try:
            raise OSError(errno.ENOSPC, "No space left on device", "x")
        except OSError as error:
            raise RuntimeError("the checkpoint could not be written") from error
    except RuntimeError as error:
        assert "x: No space left on device" in explanation(error)


def test_a_bug_ends_with_its_traceback_and_what_to_report(monkeypatch, capsys):
    monkeypatch.setattr(compare, "run", lambda args: {}["missing"])
    assert main(["compare"]) == BUG
    shown = capsys.readouterr().err
    assert "Traceback" in shown and "KeyError: 'missing'" in shown
    assert "this is a bug" in shown.splitlines()[-1] and "report" in shown.splitlines()[-1]


def test_the_traceback_of_any_error_can_be_asked_for(monkeypatch, capsys):
    monkeypatch.setenv("ELMO_BENCH_TRACEBACK", "1")
    assert end("program", UserError("wrong")) == USER
    shown = capsys.readouterr().err.splitlines()
    assert shown[-2:] == ["elmo_bench.errors.UserError: wrong", "program: wrong"]


def test_an_interrupted_command_says_so(monkeypatch, capsys):
    def interrupt(args: SimpleNamespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "run", interrupt)
    assert main(["compare"]) == 130
    assert lines_of(capsys) == [
        "elmo-bench compare: interrupted; what is finished is kept, and the same command continues"
    ]


def test_control_characters_in_a_message_are_spelled_out_and_letters_are_not():
    line = explanation(UserError("naïve 日本 \x1b[2J\u202e\x9b"))
    assert line == "naïve 日本 \\x1b[2J\\u202e\\x9b"


def test_no_code_raises_a_plain_value_error():
    """Users would see a bug; validators of settings may, since pydantic turns it into one line."""
    found = []
    for path in [*PROJECT.glob("elmo_bench/**/*.py"), *PROJECT.glob("tasks/**/*.py")]:
        if {"config", "mini"} & {*path.parts} or path.name == "settings.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc is not None:
                called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                if isinstance(called, ast.Name) and called.id == "ValueError":
                    found.append(f"{Path(path).relative_to(PROJECT)}:{node.lineno}")
    assert not found, "raise elmo_bench.errors.UserError instead"
