"""Settings of semantic role labeling: task.build in conf/task/srl.yaml."""

from pydantic import Field

from elmo_bench.config.fields import Count, Probability, Size
from elmo_bench.config.settings import TaskBuild


class Settings(TaskBuild):
    """The predicates, and the sizes of the tagger."""

    version = 2

    all_predicates: bool = Field(description="all with a column of arguments, not only verbs")
    max_length: Count = Field(description="longer sentences are left out of training")
    predicate_dim: Size = Field(description="size of the predicate indicator's embedding")
    hidden_dim: Size = Field(description="units of each LSTM layer")
    num_layers: Count = Field(description="layers, in alternating directions")
    dropout: Probability = Field(description="recurrent, one mask per sequence and layer")
