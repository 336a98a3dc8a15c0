"""Hyperparameter search: trials train on train, are scored and pruned on dev, and kept in a file.

The test split is not used. Several processes, also on several machines, may share one study.
"""

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import optuna
from filelock import FileLock, Timeout
from optuna import Study, Trial
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import MedianPruner
from optuna.samplers import TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from pytorch_lightning import Callback, LightningModule, Trainer

from elmo_bench.config.compose import run_settings
from elmo_bench.config.settings import RunSettings
from elmo_bench.records.digest import digest
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.bilm import provide_bilm
from elmo_bench.runs.build import build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.identity import identity
from elmo_bench.runs.trainer import new_trainer, set_up_process
from elmo_bench.tune.space import Range, read_space, start

STARTUP = 5  # random trials that are never pruned, before the sampler has anything to learn from
WARMUP = 1  # dev passes of a trial before it may be pruned
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class Search:
    """A study of one task.

    The same task and overrides give the same study, so a stopped search resumes.

    Args:
        task: Its short name.
        overrides: Further settings of the run, as on the command line of run.py.
        name: Of the study's folder; None derives one from task, data and settings.
    """

    def __init__(self, task: str, overrides: Sequence[str], name: str | None) -> None:
        self.overrides = [f"task={task}", *overrides]
        self.settings = run_settings(self.overrides)
        self.space: dict[str, Range] = read_space(task, self.settings)
        self.monitor = f"dev/{self.settings.task.metric}"
        if name is None:
            what = digest(
                [identity(self.settings), {key: vars(r) for key, r in self.space.items()}]
            )
            name = f"{task}-{self.settings.elmo.name}-{self.settings.data.name}-{what[:8]}"
        self.folder = Path(self.settings.paths.outputs) / "tune" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.study = self._open(name)

    def _open(self, name: str) -> Study:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        warnings.filterwarnings("ignore", category=ExperimentalWarning)
        with FileLock(self.folder / "lock"):
            study = optuna.create_study(
                study_name=name,
                storage=JournalStorage(JournalFileBackend(str(self.folder / "trials.log"))),
                sampler=TPESampler(seed=self.settings.seed, n_startup_trials=STARTUP),
                pruner=MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP),
                direction="maximize",
                load_if_exists=True,
            )
            first = start(self.space, self.settings)
            if not study.trials and first is not None:
                study.enqueue_trial(first)
            self._requeue(study)
        return study

    def _requeue(self, study: Study) -> None:
        """Enqueue trials whose process is gone again; they resume from their checkpoints."""
        for trial in study.get_trials(states=(TrialState.RUNNING,)):
            try:
                with FileLock(self._lock(trial.number), blocking=False):
                    study.tell(trial.number, state=TrialState.FAIL)
                    study.enqueue_trial(trial.params, user_attrs={"instead of": trial.number})
            except Timeout:
                continue  # it is still running

    def num_ended(self) -> int:
        """The number of ended trials, without those that were enqueued again."""
        trials = self.study.get_trials(states=ENDED, deepcopy=False)
        again = {trial.user_attrs.get("instead of") for trial in self.study.get_trials()}
        return sum(trial.number not in again for trial in trials)

    def run_one(self) -> FrozenTrial:
        """Run one more trial; an error is stored with the trial."""
        ended: list[FrozenTrial] = []
        keep = [lambda study, trial: ended.append(trial)]
        self.study.optimize(self._objective, n_trials=1, catch=Exception, callbacks=keep)
        return ended[0]

    def _objective(self, trial: Trial) -> float:
        chosen = [f"{key}={found.suggest(trial, key)}" for key, found in self.space.items()]
        settings = run_settings([*self.overrides, *chosen, f"paths.outputs={self.folder}"])
        trial.set_user_attr("overrides", chosen)
        files = RunFiles.of(settings)
        files.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock(trial.number)), FileLock(files.folder / "lock"):
            try:
                score = train(settings, files, trial, self.monitor)
            except Exception as error:
                if not isinstance(error, optuna.TrialPruned):
                    trial.set_user_attr("error", f"{type(error).__name__}: {error}")
                shutil.rmtree(files.checkpoints, ignore_errors=True)
                raise
            # An ended trial needs no weights; a killed one resumes from them.
            shutil.rmtree(files.checkpoints, ignore_errors=True)
            return score

    def _lock(self, number: int) -> Path:
        return self.folder / f"trial-{number}.lock"


class Pruning(Callback):
    """Reports every dev pass to a trial, and stops training if it does worse than others.

    Args:
        history: The dev passes; after a resume it has the earlier ones too.
        trial: The trial to report to.
        monitor: The name of the score.
    """

    def __init__(self, history: MetricsHistory, trial: Trial, monitor: str) -> None:
        self.history, self.trial, self.monitor = history, trial, monitor
        self.num_reported = 0

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        for step in range(self.num_reported, len(self.history.rows)):
            self.trial.report(self.history.rows[step][self.monitor], step)
        self.num_reported = len(self.history.rows)
        if self.trial.should_prune():
            raise optuna.TrialPruned


def train(settings: RunSettings, files: RunFiles, trial: Trial, monitor: str) -> float:
    """Train with settings and return the best dev score."""
    provide_bilm(settings)
    set_up_process(settings)
    components = build_components(settings, StageTimer())
    history = MetricsHistory(files.folder / "curves.csv")
    pruning = Pruning(history, trial, monitor)
    trainer = new_trainer(settings, files, history, logger=None, more=[pruning])
    trainer.fit(components.module, components.data, ckpt_path=files.resumable())
    return max(float(row[monitor]) for row in history.rows)
