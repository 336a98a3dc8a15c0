"""Hyperparameter search: trials train on train, are scored and pruned on dev, and kept in a file.

The test split is not used. Several processes, also on several machines, may share one study.
"""

import shutil
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import optuna
from filelock import FileLock, Timeout
from optuna import Study, Trial
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import MedianPruner
from optuna.storages import JournalStorage
from optuna.trial import FrozenTrial, TrialState
from pytorch_lightning import Callback, LightningModule, Trainer

from elmo_bench.config.compose import run_settings
from elmo_bench.config.errors import ConfigError
from elmo_bench.config.settings import RunSettings
from elmo_bench.records.digest import digest
from elmo_bench.records.lock import file_lock
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.bilm import provide_bilm
from elmo_bench.runs.build import build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.identity import identity
from elmo_bench.runs.resume import outlook, resumable, sealed_checkpoints
from elmo_bench.runs.trainer import new_trainer, set_up_process
from elmo_bench.training.interrupts import explained, interruptible
from elmo_bench.tune.draw import STARTUP, draw
from elmo_bench.tune.journal import Journal
from elmo_bench.tune.space import Range, read_space, start

WARMUP = 1  # dev passes of a trial before it may be pruned
INSTEAD = "instead of"  # of a trial that was enqueued again: the number of the killed one


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
        with self._lock():
            return optuna.create_study(
                study_name=name,
                storage=JournalStorage(Journal(self.folder / "trials.log")),
                pruner=MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP),
                direction="maximize",
                load_if_exists=True,
            )

    def trials(self) -> list[FrozenTrial]:
        """All trials, without the killed ones that were enqueued again."""
        trials = self.study.get_trials(deepcopy=False)
        again = {trial.user_attrs.get(INSTEAD) for trial in trials}
        return [trial for trial in trials if trial.number not in again]

    def run_one(self, total: int) -> FrozenTrial | None:
        """Run one more trial; an error is stored with the trial.

        Args:
            total: The number of trials of the study, including those that run elsewhere.

        Returns:
            The ended trial; None if there are enough, or if every combination was tried.
        """
        with ExitStack() as held:
            # A trial is locked before the study is released: others never take it for a dead one.
            with self._lock():
                trial = self._start_trial(total)
                if trial is None:
                    return None
                held.enter_context(self._lock(trial.number))
            self._execute(trial)
        return self.study.get_trials()[trial.number]

    def _start_trial(self, total: int) -> Trial | None:
        """Take the next trial: one that was killed, or else a new one."""
        self._requeue_dead_trials()
        trials = self.trials()
        states = [trial.state for trial in trials]
        if len(states) - states.count(TrialState.WAITING) >= total:
            return None
        if TrialState.WAITING not in states:
            first = start(self.space, self.settings) if not trials else None
            values = first or draw(self.space, trials, self.settings.seed)
            if values is None:
                return None
            self.study.enqueue_trial(values)
        return self.study.ask({key: found.distribution() for key, found in self.space.items()})

    def _requeue_dead_trials(self) -> None:
        """Enqueue trials whose process is gone again; they resume from their checkpoints."""
        current = {trial.number for trial in self.trials()}
        for running in self.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            try:
                with self._lock(running.number, blocking=False):
                    trial = self.study.get_trials(deepcopy=False)[running.number]
                    if trial.state != TrialState.RUNNING:
                        continue  # it has ended in the meantime
                    if trial.number in current:  # else the last process was killed right here
                        values = trial.system_attrs["fixed_params"]
                        self.study.enqueue_trial(values, user_attrs={INSTEAD: trial.number})
                    self.study.tell(trial.number, state=TrialState.FAIL)
            except Timeout:
                continue  # its process is alive

    def _execute(self, trial: Trial) -> None:
        """Train, and tell the study the outcome.

        An error of the machine, such as a full disk, is not the trial's: like Ctrl-C it ends the
        search, and the trial resumes with the next one.
        """
        chosen = [f"{key}={value}" for key, value in trial.params.items()]
        trial.set_user_attr("overrides", chosen)
        try:
            settings = run_settings([*self.overrides, *chosen, f"paths.outputs={self.folder}"])
        except ConfigError as error:
            self._fail(trial, error)
            return
        files = RunFiles.of(settings)
        files.folder.mkdir(parents=True, exist_ok=True)
        lock = file_lock(files.folder / "lock", f"runs {files.name}")
        with lock, explained(lambda: _outlook(trial, files)):
            files.remove_leftovers()
            try:
                self.study.tell(trial, train(settings, files, trial, self.monitor))
            except optuna.TrialPruned:
                self.study.tell(trial, state=TrialState.PRUNED)
            except OSError:
                raise
            except Exception as error:
                self._fail(trial, error)
            # An ended trial needs no weights; a killed one resumes from them.
            shutil.rmtree(files.checkpoints, ignore_errors=True)

    def _fail(self, trial: Trial, error: Exception) -> None:
        trial.set_user_attr("error", f"{type(error).__name__}: {error}")
        self.study.tell(trial, state=TrialState.FAIL)

    def _lock(self, trial: int | None = None, blocking: bool = True) -> FileLock:
        """The lock of a trial while it runs, or that of the study."""
        name = "lock" if trial is None else f"trial-{trial}.lock"
        return FileLock(self.folder / name, blocking=blocking)


def _outlook(trial: Trial, files: RunFiles) -> str:
    return f"ended trials are kept; of trial {trial.number}, {outlook(files)}"


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
    steps = components.data.steps_per_epoch()
    checkpoints = sealed_checkpoints(files, components.model_spec())
    trainer = new_trainer(settings, files, checkpoints, history, None, steps, more=[pruning])
    start = resumable(files, checkpoints.identity)
    with interruptible(trainer):
        trainer.fit(components.module, components.data, ckpt_path=start, weights_only=True)
    return max(float(row[monitor]) for row in history.rows)
