"""Settings of a pretraining: the groups of conf/pretrain.yaml, and PretrainSettings for all."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from elmo_bench.config.bilm_settings import BilmSettings
from elmo_bench.config.errors import cannot_pretrain
from elmo_bench.config.fields import (
    LABEL,
    Count,
    Positive,
    Probability,
    Seed,
    Settings,
)
from elmo_bench.config.settings import (
    DataSettings,
    LoggerSettings,
    MatmulPrecision,
    Precision,
    TaskSettings,
)

Steps = Annotated[int, Field(ge=0)]


class MiniCorpusSettings(Settings):
    """The text of the mini benchmark."""

    kind: Literal["mini"]
    name: str = Field(json_schema_extra=LABEL, description="name in records")
    seed: Seed = Field(description="of the generated world")
    corpus_tokens: Count = Field(description="size of the training text")
    heldout_tokens: Count = Field(description="size of the held-out text")


class TextCorpusSettings(Settings):
    """Text files: one tokenized sentence per line, plain or .gz."""

    kind: Literal["text"]
    name: str = Field(json_schema_extra=LABEL, description="name in records")
    path: str | list[str] = Field(description="a file, a glob pattern, or a list of them")
    heldout: str | list[str] | None = Field(description="likewise; null: one sentence in 100")
    weights: dict[str, Positive] | None = Field(
        default=None, description="how often a sentence occurs per epoch, by pattern of file names"
    )


class HubCorpusSettings(Settings):
    """A text dataset of the Hugging Face Hub, streamed."""

    kind: Literal["hub"]
    name: str = Field(json_schema_extra=LABEL, description="name in records")
    dataset: str = Field(description="a name, or a folder that `datasets` reads")
    config: str | None = Field(description="for datasets that have several")
    revision: str | None = Field(description="a commit, so that the run can be repeated")
    split: str = Field(description="to train on")
    column: str = Field(description="with the text")
    heldout_split: str | None = Field(description="null: one line in 100")


class TaskCorpusSettings(Settings):
    """The text of a task, without its labels."""

    kind: Literal["task"]
    name: str = Field(json_schema_extra=LABEL, description="name in records")
    part: str | None = Field(
        None, description="contexts or questions of squad to train on; null: all of the text"
    )


CorpusSettings = Annotated[
    MiniCorpusSettings | TextCorpusSettings | HubCorpusSettings | TaskCorpusSettings,
    Field(discriminator="kind"),
]


class CorpusSource(Settings):
    """A corpus, with its task and data if it is the text of a task."""

    corpus: CorpusSettings
    task: TaskSettings | None = Field(default=None, description="whose text corpus=task reads")
    data: DataSettings | None = Field(default=None, description="where corpus=task reads it from")

    @model_validator(mode="after")
    def _task_is_chosen(self) -> "CorpusSource":
        if isinstance(self.corpus, TaskCorpusSettings) and None in (self.task, self.data):
            raise ValueError("corpus=task: choose the task with task=NAME")
        part = getattr(self.corpus, "part", None)
        if part is not None and self.task and part not in self.task.build.segment_names:
            known = ", ".join(self.task.build.segment_names) or "none"
            raise ValueError(f"corpus.part={part}: the parts of task={self.task.name}: {known}")
        return self


class VocabularySettings(Settings):
    """The words that the softmax predicts."""

    max_words: Annotated[int, Field(ge=4, le=10_000_000)] = Field(description="the most frequent")
    min_count: Count = Field(description="rarer words are unknown")


class LossSettings(Settings):
    """The softmax; each kind reads only its own keys, so only the kind need be changed."""

    kind: Literal["full", "sampled", "adaptive"]
    cutoffs: list[Count] = Field(description="adaptive: ranks at which clusters start")
    div_value: Count = Field(description="adaptive: each cluster's dimension is divided by this")
    num_negatives: Count = Field(description="sampled: words drawn per direction and batch")

    @field_validator("cutoffs")
    @classmethod
    def _ascending(cls, value: list[int]) -> list[int]:
        if sorted(set(value)) != value:
            raise ValueError("must be ascending")
        return value

    def fitted(self, num_words: int) -> "LossSettings":
        """The same softmax where the vocabulary is large enough, else one that it can have."""
        cutoffs = [cutoff for cutoff in self.cutoffs if cutoff < num_words]
        if self.kind == "sampled" and self.num_negatives >= num_words:
            return self.but(kind="full")
        if self.kind == "adaptive" and cutoffs != self.cutoffs:
            return self.but(cutoffs=cutoffs) if cutoffs else self.but(kind="full")
        return self

    def shown(self) -> str:
        """The kind with its keys, for people."""
        keys = {"full": "", "sampled": f"num_negatives={self.num_negatives}"}
        own = keys.get(self.kind, f"cutoffs={self.cutoffs}")
        return f"kind={self.kind}" + (f" {own}" if own else "")


class BilmOptimizer(Settings):
    """Adam, or Adagrad as in TensorFlow."""

    kind: Literal["adam", "adagrad"]
    lr: Positive = Field(description="learning rate")
    beta2: Annotated[Positive, Field(lt=1)] = Field(description="of Adam")


class ScheduleSettings(Settings):
    """The learning rate over the training."""

    kind: Literal["constant", "cosine"]
    warmup_steps: Steps = Field(description="optimizer steps of linear warm-up")


class NewSoftmaxSettings(Settings):
    """Training of a new softmax on the frozen biLM, where `init_from` has none."""

    lr: Positive = Field(description="learning rate, constant after the warm-up")
    max_epochs: Count = Field(description="largest number of passes over the corpus")
    num_validations: Count = Field(description="measurements of held-out loss in each of them")
    patience: Count = Field(description="measurements without a lower loss before it stops")


class PretrainingSettings(Settings):
    """The recipe: conf/pretraining."""

    name: str = Field(json_schema_extra=LABEL)
    seed: Seed
    epochs: Count = Field(description="passes over the corpus")
    budget_minutes: Positive | None = Field(
        description="stop after this time if the epochs take longer"
    )
    vocabulary: VocabularySettings
    loss: LossSettings
    batch_size: Count = Field(description="rows of text read in parallel, on all devices")
    unroll_steps: Count = Field(description="tokens of a row in one batch")
    accumulate_grad_batches: Count = Field(description="batches per optimizer step")
    state_reset_prob: Probability = Field(description="probability that a row starts from zeros")
    optimizer: BilmOptimizer
    schedule: ScheduleSettings
    gradient_clip_val: Positive | None = Field(description="largest norm of the gradient")
    sum_over_steps: bool = Field(description="multiply the loss by unroll_steps, as bilm-tf does")
    precision: Precision = Field(description="of Lightning; mixed precision needs a GPU")
    num_validations: Count = Field(description="measurements of held-out perplexity")
    new_softmax: NewSoftmaxSettings

    @property
    def tokens_per_step(self) -> int:
        """Tokens of one optimizer step, each counted once for both directions."""
        return self.batch_size * self.unroll_steps * self.accumulate_grad_batches


class PretrainingTrainer(Settings):
    """Where and how a pretraining computes; nothing here changes what it computes."""

    name: str
    accelerator: Literal["auto", "cpu", "gpu", "cuda", "mps", "tpu"]
    devices: Count | Literal["auto"] = Field(description="processes per node")
    num_nodes: Count
    strategy: str = Field(description="auto: ddp with several devices or nodes")
    threads: Count | None = Field(description="CPU threads; null leaves it to torch")
    matmul_precision: MatmulPrecision | None = Field(
        default=None, description="of float32 products on a GPU; null: high (TF32)"
    )
    progress_bar: bool
    log_every_n_steps: Count = Field(description="between two points of the loss curve")
    checkpoint_minutes: Positive | None = Field(description="between two checkpoints")
    checkpoint_steps: Count | None = Field(description="between two checkpoints")


class PretrainPaths(Settings):
    """Where a pretraining reads and writes."""

    bilm: str = Field(description="biLM checkpoints, one folder each")
    cache: str = Field(description="prepared corpora, the generated benchmark")
    outputs: str = Field(description="where an unfinished training can be resumed from")


class PretrainSettings(CorpusSource):
    """All settings of a pretraining."""

    bilm: BilmSettings
    pretraining: PretrainingSettings
    trainer: PretrainingTrainer
    logger: LoggerSettings
    name: str | None = Field(description="of the folder in paths.bilm; null: the biLM's name")
    init_from: str | None = Field(description="a biLM to start from; null: random weights")
    save_dtype: Literal["float32", "float16"] = Field(description="of the stored weights")
    force: bool = Field(description="repeat a finished training")
    paths: PretrainPaths

    @field_validator("bilm", mode="before")
    @classmethod
    def _is_a_bilm(cls, value: Any) -> Any:
        if isinstance(value, dict) and value.get("kind") == "transformer":
            raise ValueError(cannot_pretrain("transformer"))
        return value

    @field_validator("name")
    @classmethod
    def _one_folder(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch(r"[\w][\w.+-]*", value):
            raise ValueError(
                "must be the name of one folder: letters, digits and . _ + - (see paths.bilm)"
            )
        return value
