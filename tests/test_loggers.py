import socket

import wandb
from pytorch_lightning import Trainer
from pytorch_lightning.demos.boring_classes import BoringModel
from pytorch_lightning.loggers import CSVLogger

from elmo_bench.config.settings import WandbLogger
from elmo_bench.loggers import GuardedLogger, Logged, build_logger
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.stage import evaluate, run


class FailingLogger(CSVLogger):
    def log_metrics(self, metrics, step=None):
        raise OSError("the disk is full")


def no_connection(*args, **kwargs):
    raise AssertionError("a network connection was attempted")


def test_a_failing_logger_is_dropped_with_a_warning_and_training_continues(tmp_path, caplog):
    logger = GuardedLogger(FailingLogger(tmp_path))
    trainer = Trainer(
        max_steps=3,
        logger=logger,
        log_every_n_steps=1,
        accelerator="cpu",
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(BoringModel())
    logger.log_metrics({"loss": 1.0}, 4)
    assert trainer.global_step == 3
    assert caplog.text.count("the disk is full") == 1


def test_a_logger_that_cannot_start_is_left_out(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    settings = WandbLogger(name="wandb", project="a/b#c" * 99, entity=None, mode="offline")
    run = Logged("id", "run", "group", "baseline", {})
    assert build_logger(settings, tmp_path / "file", run) is None
    assert "continuing without it" in caplog.text


def test_wandb_separates_the_runs_of_a_process_and_needs_no_network(tiny_run, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    monkeypatch.setattr(socket, "create_connection", no_connection)
    for seed in (1, 2):
        cfg = tiny_run("task=ner", "logger=wandb", f"seed={seed}")
        evaluate(cfg)
        folders = list((RunFiles.of(cfg).folder / "wandb").glob("offline-run-*"))
        assert len(folders) == 1
        assert list(folders[0].glob("*.wandb"))
        assert list(folders[0].glob("files/media/images/layer_weights*.png"))


def test_wandb_has_the_gain_over_the_baseline(tiny_run, monkeypatch):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    cfg = tiny_run("task=ner", "logger=wandb")
    run(cfg)
    [log] = (RunFiles.of(cfg).folder / "wandb").glob("offline-run-*/*.wandb")
    assert b"gain/test/f1" in log.read_bytes()


def test_a_resumed_run_keeps_its_wandb_id_and_a_repeated_one_gets_another(
    tiny_run, monkeypatch, caplog
):
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    caplog.set_level("INFO", "elmo_bench")
    settings = tiny_run("task=ner", "elmo=none", "logger=wandb", "logger.group=mine")
    files = RunFiles.of(settings)
    seen = []

    def remember(*args, **options):
        seen.append(options)
        return begin(*args, **options)

    begin = wandb.init
    monkeypatch.setattr(wandb, "init", remember)
    evaluate(settings)
    files.marker.unlink()  # as if it had been killed before its end
    evaluate(settings)
    evaluate(settings.but(force=True))
    ids = [options["id"] for options in seen]
    assert ids[:2] == [files.name] * 2 and ids[2].startswith(f"{files.name}-")
    assert {(options["group"], options["job_type"]) for options in seen} == {("mine", "baseline")}
    stored = sorted((files.folder / "wandb").glob("offline-run-*"))
    told = [m for m in caplog.messages if "wandb sync" in m]
    assert len(told) == 3 and all(str(folder) in "".join(told) for folder in stored)
    log = next(stored[0].glob("*.wandb")).read_bytes()
    assert files.record.name.encode() in log  # the record is in an artifact


def test_tensorboard_files_are_written(tiny_run):
    cfg = tiny_run("task=ner", "elmo=none", "logger=tensorboard")
    evaluate(cfg)
    assert list(RunFiles.of(cfg).folder.glob("tensorboard/events*"))


def test_curves_are_always_written_as_csv(tiny_run):
    cfg = tiny_run("task=ner")
    record = evaluate(cfg)
    header, *rows = (RunFiles.of(cfg).folder / "curves.csv").read_text().splitlines()
    assert len(rows) == len(record.epochs) == 2
    assert {"epoch", "step", "train/loss", "dev/f1", "elmo/input/layer0"} <= set(header.split(","))
