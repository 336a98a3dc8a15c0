"""Search for hyperparameters: trials trained on train, judged and cut short by dev, kept in a file.

The test split plays no part. Several processes, also on several machines, may work on one study.
"""

import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path

import optuna
from filelock import FileLock, Timeout
from omegaconf import DictConfig
from optuna import Study, Trial
from optuna.exceptions import ExperimentalWarning
from optuna.pruners import MedianPruner
from optuna.samplers import TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from pytorch_lightning import Callback, LightningModule, Trainer

from elmo_bench.config.checks import check
from elmo_bench.config.compose import compose
from elmo_bench.config.identity import identity
from elmo_bench.records.digest import digest
from elmo_bench.records.timer import StageTimer
from elmo_bench.runs.build import build_components
from elmo_bench.runs.files import RunFiles
from elmo_bench.runs.history import MetricsHistory
from elmo_bench.runs.trainer import new_trainer, set_up_process
from elmo_bench.tune.space import Range, read_space, start

STARTUP = 5  # trials drawn at random and never cut short, before there is anything to learn from
WARMUP = 1  # dev passes of a trial before it may be cut short
ENDED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)


class Search:
    """A study of one task.

    The same task and overrides give the same study, so a search that was stopped goes on.

    Args:
        task: Its short name.
        overrides: Further settings of the run, as on the command line of run.py.
        name: Of the study's folder; None makes one of task, data and settings.
    """

    def __init__(self, task: str, overrides: Sequence[str], name: str | None) -> None:
        self.overrides = [f"task={task}", *overrides]
        self.cfg = compose("run", self.overrides)
        self.space: dict[str, Range] = read_space(task, self.cfg)
        self.monitor = f"dev/{self.cfg.task.metric}"
        if name is None:
            what = digest([identity(self.cfg), {key: vars(r) for key, r in self.space.items()}])
            name = f"{task}-{self.cfg.elmo.name}-{self.cfg.data.name}-{what[:8]}"
        self.folder = Path(self.cfg.paths.outputs) / "tune" / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.study = self._open(name)

    def _open(self, name: str) -> Study:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        warnings.filterwarnings("ignore", category=ExperimentalWarning)
        with FileLock(self.folder / "lock"):
            study = optuna.create_study(
                study_name=name,
                storage=JournalStorage(JournalFileBackend(str(self.folder / "trials.log"))),
                sampler=TPESampler(seed=self.cfg.seed, n_startup_trials=STARTUP),
                pruner=MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP),
                direction="maximize",
                load_if_exists=True,
            )
            first = start(self.space, self.cfg)
            if not study.trials and first is not None:
                study.enqueue_trial(first)
            self._requeue(study)
        return study

    def _requeue(self, study: Study) -> None:
        """Trials whose process is gone go back into the queue, and on from their checkpoints."""
        for trial in study.get_trials(states=(TrialState.RUNNING,)):
            try:
                with FileLock(self._lock(trial.number), blocking=False):
                    study.tell(trial.number, state=TrialState.FAIL)
                    study.enqueue_trial(trial.params, user_attrs={"instead of": trial.number})
            except Timeout:
                continue  # it is at work

    def num_ended(self) -> int:
        """The trials so far, less those that were begun again."""
        trials = self.study.get_trials(states=ENDED, deepcopy=False)
        again = {trial.user_attrs.get("instead of") for trial in self.study.get_trials()}
        return sum(trial.number not in again for trial in trials)

    def run_one(self) -> FrozenTrial:
        """Run one more trial; a failure is kept with the trial."""
        ended: list[FrozenTrial] = []
        keep = [lambda study, trial: ended.append(trial)]
        self.study.optimize(self._objective, n_trials=1, catch=Exception, callbacks=keep)
        return ended[0]

    def _objective(self, trial: Trial) -> float:
        chosen = [f"{key}={found.suggest(trial, key)}" for key, found in self.space.items()]
        cfg = compose("run", [*self.overrides, *chosen, f"paths.outputs={self.folder}"])
        trial.set_user_attr("overrides", chosen)
        files = RunFiles.of(cfg)
        files.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self._lock(trial.number)), FileLock(files.folder / "lock"):
            try:
                check(cfg)
                score = train(cfg, files, trial, self.monitor)
            except Exception as error:
                if not isinstance(error, optuna.TrialPruned):
                    trial.set_user_attr("error", f"{type(error).__name__}: {error}")
                shutil.rmtree(files.checkpoints, ignore_errors=True)
                raise
            # A trial needs no weights once it has ended; one that was killed goes on from them.
            shutil.rmtree(files.checkpoints, ignore_errors=True)
            return score

    def _lock(self, number: int) -> Path:
        return self.folder / f"trial-{number}.lock"


class Pruning(Callback):
    """Tells a trial of every dev pass, and ends the training if it does worse than others did.

    Args:
        history: The passes; after a resume it knows the earlier ones too.
        trial: Whom to tell.
        monitor: The score.
    """

    def __init__(self, history: MetricsHistory, trial: Trial, monitor: str) -> None:
        self.history, self.trial, self.monitor = history, trial, monitor
        self.num_told = 0

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        for step in range(self.num_told, len(self.history.rows)):
            self.trial.report(self.history.rows[step][self.monitor], step)
        self.num_told = len(self.history.rows)
        if self.trial.should_prune():
            raise optuna.TrialPruned


def train(cfg: DictConfig, files: RunFiles, trial: Trial, monitor: str) -> float:
    """Train what a config says and give its best dev score."""
    set_up_process(cfg)
    components = build_components(cfg, StageTimer())
    history = MetricsHistory(files.folder / "curves.csv")
    pruning = Pruning(history, trial, monitor)
    trainer = new_trainer(cfg, files, history, logger=None, more=[pruning])
    trainer.fit(components.module, components.data, ckpt_path=files.resumable())
    return max(float(row[monitor]) for row in history.rows)
