"""Settings of named entity recognition: task.build in conf/task/ner.yaml."""

from pydantic import Field

from elmo_bench.config.fields import Filters, Probability, Size
from elmo_bench.config.settings import TaskBuild


class Settings(TaskBuild):
    """The sizes of the tagger."""

    version = 2

    char_dim: Size = Field(description="size of the character embeddings")
    char_filters: Filters = Field(description="[width, number] of each kind of character filter")
    hidden_dims: list[Size] = Field(min_length=1, description="units per direction, by layer")
    dropout: Probability = Field(description="variational, at the inputs of all layers")
    boundary_transitions: bool = Field(description="learned scores of the first and last tag")
