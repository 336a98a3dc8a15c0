"""The record of a run: one JSON file, the source of all tables, plots and logs."""

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from elmo_bench.errors import UserError
from elmo_bench.records.json_files import read_all, read_as, source_of, write_json
from elmo_bench.records.reading import checked

VERSION = 3  # raised when the meaning of a field changes; newer records are refused


@dataclass(frozen=True)
class Record:
    """The config and results of one run. Scores are percentages as papers print them."""

    run: str  # hash of what was computed; runs with the same hash replace each other
    task: str
    seed: int
    metric: str  # the one of `scores` shown in tables
    data: str  # names of the chosen options, for display; `config` has every value
    words: str
    elmo: str  # "none" is the baseline
    bilm: str | None  # None in the baseline
    config: dict[str, Any]  # resolved, and exactly what was hashed
    scores: dict[str, dict[str, float]]  # split -> metric -> value
    overrides: list[str] = field(default_factory=list)  # the command line that made it
    # placement -> weights, gamma
    layer_weights: dict[str, dict[str, Any]] = field(default_factory=dict)
    epochs: list[dict[str, Any]] = field(default_factory=list)  # a row per dev pass
    sizes: dict[str, int] = field(default_factory=dict)  # examples per split, parameters, bytes
    seconds: dict[str, float] = field(default_factory=dict)  # by stage
    skipped: dict[str, int] = field(default_factory=dict)  # "split: reason" -> count
    # Of the test split, if the task has them (elmo_bench/task.py): label -> f1, gold, ...;
    # gold label -> predicted label -> count; kind of example -> examples, metric
    labels: dict[str, dict[str, float | int]] = field(default_factory=dict)
    confusion: dict[str, dict[str, int]] = field(default_factory=dict)
    kinds: dict[str, dict[str, float | int]] = field(default_factory=dict)
    # of a fine-tuned biLM on the task's dev text: before, after -> direction -> perplexity; where
    # the text has parts, `contexts before` and so on too
    perplexity: dict[str, dict[str, float]] = field(default_factory=dict)
    fingerprint: str | None = None  # of the biLM's weights
    predictions: str | None = None  # file of test predictions, beside the record
    error: str | None = None  # why the run failed; then `scores` is empty
    started: str = ""  # ISO 8601, UTC
    finished: str = ""
    environment: dict[str, Any] = field(default_factory=dict)
    version: int = VERSION
    file: Path | None = field(default=None, compare=False)  # that it was read from

    @property
    def source(self) -> str:
        """Whose run it is: "reference" if it shipped with the project, else "yours"."""
        return source_of(self.file)

    @property
    def file_name(self) -> str:
        """A readable name, made unique by the hash."""
        return f"{self.task}-{self.elmo}-s{self.seed}-{self.run}.json"


def write_record(record: Record, directory: Path) -> Path:
    """Write a record atomically, replacing an older one of the same run."""
    return write_json(directory / record.file_name, record)


def read_record(path: Path) -> Record:
    """Read one record; a UserError says what is wrong with the file."""
    record = read_as(Record, path, VERSION)
    checked(_Inside, {name: getattr(record, name) for name in _Inside.model_fields}, path)
    if record.elmo != "none" and not {"elmo", "bilm"} <= record.config.keys():
        raise UserError(f"{path}: config has no elmo and bilm, but the run used ELMo")
    return record


_Number = Annotated[float, Field(allow_inf_nan=False)]


class _Data(BaseModel):
    train_fraction: Annotated[float, Field(gt=0, le=1)] = 1.0
    train_limit: Annotated[int, Field(ge=1)] | None = None


class _Config(BaseModel):
    data: _Data = _Data()
    elmo: dict[str, Any] = {}
    bilm: dict[str, Any] = {}
    words: dict[str, Any] = {}
    task: dict[str, Any] = {}


class _Weights(BaseModel):
    weights: list[_Number]
    gamma: _Number
    layers: list[int] | None = None

    @model_validator(mode="after")
    def _one_each(self) -> "_Weights":
        if self.layers is not None and len(self.layers) != len(self.weights):
            raise UserError(f"{len(self.weights)} weights of {len(self.layers)} layers")
        return self


class _Inside(BaseModel):
    """What tables and figures read of the parts of a record that are open otherwise."""

    model_config = ConfigDict(strict=True)

    config: _Config
    scores: dict[str, dict[str, _Number]]
    layer_weights: dict[str, _Weights]
    epochs: list[dict[str, _Number | str | None]]
    finished: Annotated[str, AfterValidator(lambda text: text and datetime.fromisoformat(text))]


def read_records(directory: Path | str = "results/runs") -> list[Record]:
    """Read all records of a folder, sorted by name; a damaged file is logged and skipped."""
    return read_all(read_record, Path(directory))
