"""Settings of a run: one model per config group of conf/run.yaml, and RunSettings for the whole."""

from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    field_validator,
    model_validator,
)

from elmo_bench.config.bilm_settings import EncoderOfRun, TransformerSettings
from elmo_bench.config.fields import (
    INPUT_FILE,
    LABEL,
    Count,
    NonNegative,
    Positive,
    Probability,
    Seed,
    Settings,
    Size,
)
from elmo_bench.config.locating import task_settings_class

Split = Literal["train", "dev", "test"]
Files = str | list[str] | None
Precision = Literal["32-true", "bf16-mixed", "16-mixed"]
Fraction = Annotated[Positive, Field(le=1)]


class CorpusData(Settings):
    """What every source of a task's corpus has."""

    name: str = Field(json_schema_extra=LABEL, description="name in tables")
    train_limit: Count | None = Field(description="only the first n training examples")
    train_fraction: Fraction = Field(description="fraction of the training examples to use")

    @property
    def label(self) -> str:
        """What tables call the corpus."""
        return self.name


class MiniData(CorpusData):
    """The mini benchmark, generated on first use; or a task's own sample files."""

    kind: Literal["mini"]
    seed: Seed = Field(description="of the generated world")
    train: Count = Field(description="training examples")
    dev: Count = Field(description="dev examples")
    test: Count = Field(description="test examples")
    train_documents: Count = Field(description="training documents of coreference")
    dev_documents: Count = Field(description="dev documents of coreference")
    test_documents: Count = Field(description="test documents of coreference")
    corpus_tokens: Count = Field(description="size of the biLM's training text")
    heldout_tokens: Count = Field(description="size of its held-out text")


class FilesData(CorpusData):
    """Your copy of a corpus in its official format."""

    kind: Literal["files"]
    dir: str | None = Field(description="the folder; the task knows how its files are named")
    train: Files = Field(description="a file, a glob or a list, instead of what dir has")
    dev: Files = Field(description="the same for dev")
    test: Files = Field(description="the same for test")

    @property
    def label(self) -> str:
        """The name; for the user's files without one, with their folder or test file."""
        own = next((place for place in (self.dir, self.test) if isinstance(place, str)), None)
        return f"{self.name}: {PurePath(own).name}" if self.name == "files" and own else self.name


class HubData(CorpusData):
    """A dataset of the Hugging Face Hub, which task.hub names."""

    kind: Literal["hub"]


DataSettings = Annotated[MiniData | FilesData | HubData, Field(discriminator="kind")]


Lowercase = bool | Literal["fallback"]


class TaskWords(Settings):
    """How the original of a task used word vectors; words=glove takes it over."""

    lowercase: Lowercase = Field(
        description="look words up in lowercase; fallback: where the word as written has no vector"
    )
    trainable: bool = Field(description="whether training changes the vectors")
    normalize: bool = Field(description="scale the vectors of each file to length 1")
    word_dropout: NonNegative = Field(description="w: a word is dropped at rate w / (w + count)")


class NoWords(Settings):
    """No word vectors."""

    name: Literal["none"]


class RandomWords(Settings):
    """Word vectors learned with the task."""

    name: Literal["random"]
    dim: Size = Field(description="size of the vectors")
    lowercase: bool = Field(description="look words up in lowercase")
    min_count: Count = Field(description="rarer words of the training split are unknown")
    word_dropout: NonNegative = Field(description="w: a word is dropped at rate w / (w + count)")


class GloveWords(TaskWords):
    """Pretrained vectors in GloVe's text format; those of several files are joined."""

    name: Literal["glove"]
    path: str | list[str] = Field(
        json_schema_extra=INPUT_FILE, description="a file, plain or .gz, or a list of them"
    )

    @field_validator("path")
    @classmethod
    def _some_files(cls, value: str | list[str]) -> str | list[str]:
        if not value:
            raise ValueError("names no file; give words.path=FILE or words.path=[FILE,FILE]")
        # A list of one computes the same as its file, and so has the same identity.
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    @property
    def paths(self) -> list[str]:
        """The files, in the order in which their vectors are joined."""
        return self.path if isinstance(self.path, list) else [self.path]


class CorpusWords(Settings):
    """Vectors trained on the text that the biLM was trained on."""

    name: Literal["corpus"]
    dim: Size = Field(description="size of the vectors")
    lowercase: bool = Field(description="look words up in lowercase")
    min_count: Count = Field(description="rarer words of that text get no vector")
    window: Count = Field(description="words on each side that a word predicts")
    epochs: Count = Field(description="passes over the text")
    trainable: bool = Field(description="whether training changes the vectors")
    normalize: bool = Field(description="scale the vectors to length 1")
    word_dropout: NonNegative = Field(description="where trainable: as for words=random")


WordsSettings = Annotated[
    NoWords | RandomWords | GloveWords | CorpusWords, Field(discriminator="name")
]


def _scale(value: Any) -> Any:
    numbers = value if isinstance(value, list) else [value]
    if value is None or value == "rms" or (numbers and all(_is_positive(n) for n in numbers)):
        return value
    raise ValueError("must be null, rms, a number above 0, or a list of them, one per layer")


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e30


Scale = Annotated[Literal["rms"] | float | list[float] | None, BeforeValidator(_scale)]
Placement = Literal["input", "output"]


class ElmoSettings(Settings):
    """Which layers the task's model takes, and where."""

    name: str = Field(json_schema_extra=LABEL, description="the option; none is the baseline")
    placement: list[Placement] = Field(description="where the model takes ELMo vectors")
    layers: Literal["all", "last", "first", "token"] = Field("all", description="mixed, or one")
    layer_norm: Literal["batch", "token"] | None = Field(None, description="before the mix")
    scale: Scale = Field(None, description="divides the layers before the mix")
    dropout: Probability = Field(0.0, description="on the mixed vectors")
    l2: NonNegative = Field(0.0, description="lambda on the raw layer weights")
    gamma: bool = Field(True, description="learn the scale of the vectors; false: it stays 1")
    finetune: bool = Field(False, json_schema_extra=LABEL, description="sets bilm.finetune")

    @field_validator("placement")
    @classmethod
    def _distinct(cls, value: list[Placement]) -> list[Placement]:
        if len(set(value)) < len(value):
            raise ValueError("names a placement twice")
        return value

    @property
    def is_baseline(self) -> bool:
        """Whether the model takes no ELMo vectors at all."""
        return not self.placement


NO_ELMO = ElmoSettings.model_validate({"name": "none", "placement": []})


class TaskElmo(Settings):
    """How the paper used ELMo in this task; elmo=paper takes it over."""

    placement: list[Placement] = Field(description="where the model takes ELMo vectors")
    l2: NonNegative = Field(description="lambda on the raw layer weights")
    layer_norm: Literal["batch", "token"] | None = Field(description="before the mix")
    scale: Scale = Field(description="divides the layers before the mix")
    dropout: Probability = Field(description="on the mixed vectors")
    finetune: bool = Field(False, description="whether the authors fine-tuned the biLM first")


class Published(Settings):
    """The paper's scores."""

    baseline: Positive = Field(description="without ELMo")
    elmo: Positive = Field(description="with ELMo")


class HubDataset(Settings):
    """A dataset of the Hugging Face Hub."""

    id: str | None = Field(description="such as stanfordnlp/snli, or a local folder; null: none")
    config: str | None = Field(description="for datasets that have several")
    revision: str | None = Field(description="a commit, tag or branch")
    splits: dict[Split, str] = Field(description="what the dataset calls the splits")


class FromTorch(Settings):
    """An optimizer or a schedule of PyTorch, with any of its options."""

    model_config = ConfigDict(extra="allow")

    target: str = Field(
        alias="_target_",
        pattern=r"^torch\.optim\.(lr_scheduler\.)?\w+$",
        description="a class of PyTorch",
    )
    partial: Literal[True] = Field(alias="_partial_", description="the parameters come later")

    def options(self) -> dict[str, Any]:
        """The keyword arguments."""
        return dict(self.model_extra or {})


class OptimizerSettings(FromTorch):
    """conf/optimizer, and the task's learning rate."""

    lr: Positive = Field(description="learning rate")

    def options(self) -> dict[str, Any]:
        """The keyword arguments."""
        return {"lr": self.lr, **super().options()}


class TrainingSettings(Settings):
    """How a task's model is trained."""

    batch_size: Count = Field(description="examples in a batch")
    sum_over_batch: bool = Field(
        description="minimize the sum of the examples' losses, not their mean, next to penalties"
    )
    max_padded_tokens: Count | None = Field(description="limit of padded tokens in a batch")
    max_epochs: Count = Field(description="largest number of passes over the training split")
    patience: Count = Field(description="dev passes without a better score before it stops")
    max_halvings: Count | None = Field(
        description="after a worse dev score, halve the rate and restore the best weights, so often"
    )
    eval_every: Count | None = Field(description="optimizer steps between dev passes; null: epochs")
    gradient_clip_val: Positive | None = Field(description="of the gradient's norm or values")
    gradient_clip_algorithm: Literal["norm", "value"] = Field(description="what is clipped")
    precision: Precision = Field(description="of Lightning; mixed precision needs a GPU")
    ema: Probability | None = Field(description="decay of averaged weights; null: none")
    optimizer: OptimizerSettings = Field(description="conf/optimizer")
    scheduler: FromTorch | None = Field(description="of the learning rate")

    @model_validator(mode="after")
    def _halving_is_alone(self) -> "TrainingSettings":
        if self.max_halvings is not None and (self.ema is not None or self.scheduler is not None):
            raise ValueError(
                "task.training.max_halvings sets the rate and the weights, so it goes with neither "
                "task.training.scheduler nor task.training.ema; set them to null"
            )
        return self


class TaskBuild(Settings):
    """What a task is built from; each task's settings.py adds its own fields."""

    version: ClassVar[int] = 1  # a task raises its own when its code computes something else
    segment_names: ClassVar[tuple[str, ...]] = ()  # of an example, where they are different texts
    placements: ClassVar[tuple[Placement, ...]] = ("input", "output")  # that its model has

    target: str = Field(alias="_target_", json_schema_extra=LABEL, description="the task's class")


def _typed_build(value: Any) -> Any:
    """Validate with the settings of the task that the target names."""
    if not isinstance(value, dict):
        return value
    return task_settings_class(value.get("_target_")).model_validate(value)


class TaskSettings(Settings):
    """conf/task."""

    name: str = Field(description="folder, yaml file and record field alike")
    title: str = Field(description="for display")
    metric: str = Field(description="selects the checkpoint on dev, and fills the tables")
    published: Published | None = Field(description="the paper's scores; null where there are none")
    files: dict[Split, list[str]] = Field(description="patterns of file names in data.dir")
    hub: HubDataset | None = Field(description="what data=hub reads")
    elmo: TaskElmo = Field(description="what elmo=paper takes over")
    words: TaskWords = Field(description="what words=glove takes over")
    build: Annotated[SerializeAsAny[TaskBuild], BeforeValidator(_typed_build)] = Field(
        description="data and model, by the task's own settings"
    )
    training: TrainingSettings = Field(description="how the model is trained")

    @model_validator(mode="after")
    def _named_like_its_folder(self) -> "TaskSettings":
        folder = self.build.target.split(".")[2]
        if folder != self.name:
            raise ValueError(f"name: {self.name}, but _target_ is in tasks/{folder}")
        return self


MatmulPrecision = Literal["highest", "high", "medium"]  # of torch.set_float32_matmul_precision


class TrainerSettings(Settings):
    """Where and how a run computes; nothing here changes what it computes."""

    name: str
    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps", "tpu"] = Field(description="device")
    devices: Count = Field(default=1, description="one: a task trains on a single device")
    threads: Count | None = Field(description="CPU threads; null leaves it to torch")
    matmul_precision: MatmulPrecision | None = Field(
        default=None, description="of float32 products on a GPU; null: high (TF32)"
    )
    progress_bar: bool = Field(description="whether to show one")

    @field_validator("devices")
    @classmethod
    def _one(cls, value: int) -> int:
        if value > 1:
            raise ValueError(
                "a task trains on one device. To use several GPUs, run several jobs, which take "
                "one each: python run.py -m seed=1,2,3 hydra/launcher=joblib "
                f"hydra.launcher.n_jobs={value} ... (docs/gpu.md)"
            )
        return value


class CsvLogger(Settings):
    """Curves as a CSV file, which is always written."""

    name: Literal["csv"]


class TensorBoardLogger(Settings):
    """TensorBoard event files."""

    name: Literal["tensorboard"]


class WandbLogger(Settings):
    """Weights & Biases."""

    name: Literal["wandb"]
    project: str = Field(description="of Weights & Biases")
    entity: str | None = Field(description="user or team; null: your default one")
    mode: Literal["auto", "online", "offline"] = Field(description="auto: online if it can be")
    group: str | None = Field(None, description="of W&B runs; null: the sweep, or the task")


LoggerSettings = Annotated[CsvLogger | TensorBoardLogger | WandbLogger, Field(discriminator="name")]


class RunPaths(Settings):
    """Where a run reads and writes."""

    results: str = Field(description="records, one file per run")
    bilm: str = Field(description="biLM checkpoints, one folder each")
    cache: str = Field(description="frozen layers, the generated benchmark, prepared corpora")
    outputs: str = Field(description="checkpoints and logs of runs")


class RunSettings(Settings):
    """All settings of a run."""

    task: TaskSettings
    data: DataSettings
    words: WordsSettings
    bilm: EncoderOfRun
    elmo: ElmoSettings
    trainer: TrainerSettings
    logger: LoggerSettings
    seed: Seed = Field(description="of weights, dropout and the order of examples")
    features: Literal["cache", "online"] = Field(description="frozen layers from disk, or not")
    cache_dtype: Literal["float32", "float16", "bfloat16"] = Field(description="of cached layers")
    baseline: Literal["auto", "skip"] = Field(description="whether to run the baseline too")
    force: bool = Field(description="repeat a finished run")
    dry_run: bool = Field(description="only list the runs and their states")
    tables: list[str] = Field(description="what a sweep ends with")
    paths: RunPaths

    @model_validator(mode="after")
    def _model_reads_something(self) -> "RunSettings":
        if self.elmo.is_baseline and isinstance(self.words, NoWords):
            raise ValueError("elmo=none words=none: the model would have nothing to read")
        if isinstance(self.data, HubData) and (self.task.hub is None or self.task.hub.id is None):
            raise ValueError(
                f"data=hub: the Hub has no dataset of task={self.task.name} that can be read; use "
                "data=files, or name a dataset or a folder of parquet files with task.hub.id=..."
            )
        return self

    @model_validator(mode="after")
    def _model_has_the_placements(self) -> "RunSettings":
        for placement in self.elmo.placement:
            if placement not in self.task.build.placements:
                allowed = ", ".join(self.task.build.placements)
                raise ValueError(
                    f"elmo.placement={placement}: the model of task={self.task.name} takes ELMo "
                    f"vectors only at: {allowed} (elmo=input, elmo=output or elmo=both)"
                )
        return self

    @model_validator(mode="after")
    def _finetuned_for_elmo(self) -> "RunSettings":
        """elmo.finetune asks for bilm.finetune, which is the one that counts."""
        if self.elmo.finetune:
            try:
                bilm = type(self.bilm).model_validate(self.bilm.plain() | {"finetune": True})
            except ValidationError as error:
                raise ValueError(f"elmo={self.elmo.name}: {error.errors()[0]['msg']}") from error
            object.__setattr__(self, "bilm", bilm)
        return self

    @model_validator(mode="after")
    def _encoder_can(self) -> "RunSettings":
        if self.bilm.state == "carry" and self.features == "online":
            raise ValueError(
                "bilm.state=carry features=online: the state comes from the whole split, which a "
                "batch does not have; use features=cache"
            )
        if isinstance(self.bilm, TransformerSettings) and isinstance(self.words, CorpusWords):
            raise ValueError(
                "words=corpus bilm=transformer: the text that it was trained on is not here; "
                "choose other words or a biLM"
            )
        return self

    @model_validator(mode="after")
    def _one_name_for_one_arm(self) -> "RunSettings":
        """elmo=input of a task whose only placement is the input is elmo=paper."""
        same = {"name": "paper", "finetune": False}
        paper = self.task.elmo.plain() | {"layers": "all", "gamma": True} | same
        if self.elmo.plain() | same == paper:
            finetuned = self.bilm.finetune and self.task.elmo.finetune
            name = "paper_finetuned" if finetuned else "paper"
            object.__setattr__(self, "elmo", self.elmo.but(name=name))
        return self

    @property
    def has_baseline(self) -> bool:
        """Whether the same model without ELMo is run too; without words it would read nothing."""
        wanted = self.baseline == "auto" and not isinstance(self.words, NoWords)
        return wanted and not self.elmo.is_baseline

    def for_baseline(self) -> "RunSettings":
        """The same run without ELMo; `force` repeats the run with ELMo, not its baseline."""
        bilm = self.bilm.but(finetune=False)
        return self.but(elmo=NO_ELMO, bilm=bilm, force=False)
