"""Settings of natural language inference: task.build in conf/task/snli.yaml."""

from pydantic import Field

from elmo_bench.config.fields import NonNegative, Probability, Size
from elmo_bench.config.settings import TaskBuild


class Settings(TaskBuild):
    """The sizes of ESIM."""

    version = 2

    hidden_dim: Size = Field(description="each direction of both BiLSTMs, feed-forward layers")
    input_dropout: Probability = Field(description="variational, at the input of both BiLSTMs")
    head_dropout: Probability = Field(description="before each of the last two layers")
    elmo_attention_dropout: Probability = Field(description="after the attention, with ELMo only")
    elmo_weight_l2: NonNegative = Field(description="L2 on the matrices, with ELMo only")
