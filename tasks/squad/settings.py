"""Settings of question answering: task.build in conf/task/squad.yaml."""

from pydantic import Field

from elmo_bench.config.fields import INPUT_FILE, Count, Filters, Probability, Size
from elmo_bench.config.settings import TaskBuild


class Settings(TaskBuild):
    """The splits of a file, and the sizes of the reader."""

    version = 3
    segment_names = ("contexts", "questions")

    articles: str | None = Field(
        json_schema_extra=INPUT_FILE,
        description="a JSON file {split: [titles]} that splits one file",
    )
    max_train_tokens: Count | None = Field(description="longer paragraphs are cut in training")
    char_dim: Size = Field(description="size of the character embeddings")
    char_filters: Filters = Field(description="[width, number] of each kind of character filter")
    max_chars: Count = Field(description="longer words are cut")
    hidden_dim: Size = Field(description="units per direction of every GRU")
    dropout: Probability = Field(description="variational, at the input of every layer")
    max_span: Count = Field(description="longest answer in tokens")
