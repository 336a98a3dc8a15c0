"""Groups of runs that differ only in the seed, and which group is the baseline of which."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf
from statistics import fmean, stdev
from typing import Any

from elmo_bench.records.run import Record

UNTRAINED = "untrained"  # the control arm: ELMo on an encoder that was never trained
ENCODER_KEYS = ("bilm", "cache_dtype")  # config keys that say whose layers are used
ELMO_KEYS = ("elmo", *ENCODER_KEYS)  # config keys that ELMo adds


@dataclass(frozen=True)
class Group:
    """Runs that differ only in the seed.

    Args:
        config: Their common config, without the seed.
        records: The finished runs, by seed.
        failed: The runs that ended with an error.
    """

    config: dict[str, Any]
    records: tuple[Record, ...]
    failed: tuple[Record, ...] = ()

    @cached_property
    def any_record(self) -> Record:
        """Any of the records, for fields that they all share."""
        return (self.records or self.failed)[0]

    @property
    def task(self) -> str:
        return self.any_record.task

    @property
    def metric(self) -> str:
        return self.any_record.metric

    @property
    def source(self) -> str:
        """Whose runs they are: "reference" for those that ship with the project, or "yours"."""
        return self.any_record.source

    def key(self, *without: str) -> str:
        """What groups share that differ only in these parts of their config."""
        return f"{self.source} {key_of(self.config, *without)}"

    def version(self, section: str) -> int:
        """The version of a task's code (`task`) or an encoder's (`bilm`); 0 if it had none."""
        version = self.config.get(section, {}).get("version", 0)
        return version if isinstance(version, int) else 0

    @property
    def is_baseline(self) -> bool:
        return self.any_record.elmo == "none"

    @property
    def is_untrained(self) -> bool:
        return is_untrained(self.any_record)

    @property
    def is_transformer(self) -> bool:
        return is_transformer(self.any_record)

    @property
    def train_fraction(self) -> float:
        """The fraction of the training data that was used."""
        return float(self.config.get("data", {}).get("train_fraction", 1.0))

    @property
    def amount(self) -> tuple[float, float]:
        """How much training data was used; comparable between groups of the same corpus."""
        return self.train_fraction, float(self.config.get("data", {}).get("train_limit") or inf)

    @cached_property
    def seeds(self) -> list[int]:
        return [record.seed for record in self.records]

    @property
    def corpus(self) -> str:
        """What tables call the data."""
        return self.any_record.data

    @property
    def bilm(self) -> str:
        """The encoder's name in tables."""
        name = self.any_record.bilm or ""
        return f"{name}, {UNTRAINED}" if self.is_untrained else name

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of a table already say about a group."""
        record = self.any_record
        return (self.task, self.corpus, record.words, record.elmo, self.bilm, self.source)

    def scores(self, split: str, seeds: Iterable[int] | None = None) -> list[float]:
        """The runs' scores, in order of seeds."""
        wanted = set(self.seeds if seeds is None else seeds)
        found = self.scored(split)
        return [r.scores[split][r.metric] for r in found if r.seed in wanted]

    def scored(self, split: str) -> list[Record]:
        """The runs that have a score of a split."""
        return [record for record in self.records if record.metric in record.scores.get(split, {})]


def with_most_data(groups: Iterable[Group]) -> list[Group]:
    """The groups that used the most training data of their task and corpus."""
    groups = list(groups)
    most: dict[tuple[str, ...], tuple[float, float]] = {}
    for group in groups:
        key = group.task, group.corpus, group.source
        most[key] = max(most.get(key, group.amount), group.amount)
    return [
        group for group in groups if group.amount == most[group.task, group.corpus, group.source]
    ]


def is_untrained(record: Record) -> bool:
    """Whether the run's encoder was left at its random initial weights."""
    weights = record.config.get("bilm", {}).get("weights")
    return record.elmo != "none" and weights == "random"


def is_transformer(record: Record) -> bool:
    """Whether the run's encoder was a transformer, not a biLM."""
    return bool(record.config.get("bilm", {}).get("kind") == "transformer")


def mean_and_spread(values: list[float]) -> tuple[float, float | None]:
    """Mean and sample standard deviation, which is None for a single value."""
    return fmean(values), stdev(values) if len(values) > 1 else None


def key_of(config: Mapping[str, Any], *without: str) -> str:
    """A config as a dictionary key, without some parts (`elmo`, `task.training.patience`)."""
    for part in without:
        config = _without(config, part.split("."))
    return json.dumps(config, sort_keys=True)


def _without(config: Mapping[str, Any], path: list[str]) -> Mapping[str, Any]:
    name, *inner = path
    if inner and isinstance(config.get(name), Mapping):
        return {**config, name: _without(config[name], inner)}
    return config if inner else {key: value for key, value in config.items() if key != name}


class Runs:
    """The groups of some records, each with its baseline.

    Runs of an older version of the code computed something else. They are not shown next to runs
    of a newer one on the same corpus, but only in the list of all groups.
    """

    def __init__(self, records: Iterable[Record]) -> None:
        self.all_groups = group_records(records)
        self.groups = newest(self.all_groups)
        self._baselines = {group.key(): group for group in self.all_groups if group.is_baseline}

    def baseline(self, group: Group) -> Group | None:
        """The runs of the same model on the same data without ELMo."""
        return self._baselines.get(group.key(*ELMO_KEYS))

    def control(self, group: Group) -> Group | None:
        """The same runs with the same encoder left untrained."""
        alike = (group.any_record.bilm, group.key(*ENCODER_KEYS))
        untrained = (other for other in self.with_elmo if other.is_untrained)
        found = (g for g in untrained if (g.any_record.bilm, g.key(*ENCODER_KEYS)) == alike)
        return None if group.is_untrained else next(found, None)

    @property
    def with_elmo(self) -> list[Group]:
        """The groups that are not baselines."""
        return [group for group in self.groups if not group.is_baseline]

    @property
    def tasks(self) -> list[str]:
        return sorted({group.task for group in self.groups})


def newest(groups: Iterable[Group]) -> list[Group]:
    """The groups of the newest version of a task's code on each corpus, and of each encoder's."""
    by_task = _newest(groups, "task", lambda group: ())
    return _newest(by_task, "bilm", lambda group: (group.bilm,))


def _newest(
    groups: Iterable[Group], section: str, more: Callable[[Group], tuple[str, ...]]
) -> list[Group]:
    groups = list(groups)
    last: dict[tuple[str, ...], int] = {}
    for group in groups:
        place = group.task, group.corpus, group.source, *more(group)
        if group.records:  # a failure alone replaces nothing
            last[place] = max(last.get(place, 0), group.version(section))
    return [
        group
        for group in groups
        if group.version(section)
        >= last.get((group.task, group.corpus, group.source, *more(group)), 0)
    ]


def group_records(records: Iterable[Record]) -> list[Group]:
    """Sort records into groups; of two with the same config and seed the later one counts."""
    members: dict[str, dict[int, Record]] = defaultdict(dict)
    configs: dict[str, dict[str, Any]] = {}
    for record in sorted(records, key=lambda record: (record.error is None, record.finished)):
        config = {name: value for name, value in record.config.items() if name != "seed"}
        key = f"{record.source} {record.task} {key_of(config)}"
        configs[key] = config
        members[key][record.seed] = record
    groups = [_group(configs[key], list(runs.values())) for key, runs in members.items()]
    return sorted(groups, key=lambda group: (*group.names, key_of(group.config)))


def _group(config: dict[str, Any], records: list[Record]) -> Group:
    records = sorted(records, key=lambda record: record.seed)
    return Group(
        config,
        tuple(record for record in records if record.error is None),
        tuple(record for record in records if record.error is not None),
    )
