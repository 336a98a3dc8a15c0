"""Settings of five-way sentiment: task.build in conf/task/sst5.yaml."""

from typing import Literal

from pydantic import Field, model_validator

from elmo_bench.config.fields import Count, Probability, Size
from elmo_bench.config.settings import TaskBuild


class Settings(TaskBuild):
    """The training phrases, and the sizes of the classifier."""

    version = 2

    min_phrase_length: Count | None = Field(
        description="shorter phrases are left out of training; null: whole sentences only"
    )
    hidden_dim: Size = Field(description="feed-forward layer, each direction of both BiLSTMs")
    embedding_dropout: Probability = Field(description="on the word vectors, without ELMo")
    elmo_embedding_dropout: Probability = Field(description="on the word vectors, with ELMo")
    feedforward_dropout: Probability = Field(description="on the input of the first BiLSTM")
    elmo_output: Literal["encoder", "integrator"] = Field(
        description="the BiLSTM after which the placement `output` is: the first or the second"
    )
    head: Literal["relu", "maxout"] = Field(description="the kind of the output layers")
    head_dims: list[Size] = Field(description="sizes of the head's hidden layers")
    head_dropout: list[Probability] = Field(description="before each layer of the head")

    @model_validator(mode="after")
    def _a_rate_for_each_layer(self) -> "Settings":
        if len(self.head_dropout) != len(self.head_dims) + 1:
            raise ValueError(
                f"task.build.head_dropout has {len(self.head_dropout)} rates for the "
                f"{len(self.head_dims) + 1} layers of the head; give one for each"
            )
        return self
