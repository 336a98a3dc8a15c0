"""Settings of part-of-speech tagging: task.build in conf/task/pos.yaml."""

from typing import ClassVar

from pydantic import Field

from elmo_bench.config.fields import Probability, Size
from elmo_bench.config.settings import Placement, TaskBuild


class Settings(TaskBuild):
    """The sizes of the tagger."""

    version: ClassVar[int] = 1
    placements: ClassVar[tuple[Placement, ...]] = ("input",)

    hidden_dim: Size = Field(description="units per direction")
    dropout: Probability = Field(description="variational, at the input")
