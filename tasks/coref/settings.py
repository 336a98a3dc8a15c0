"""Settings of coreference resolution: task.build in conf/task/coref.yaml."""

from pydantic import Field

from elmo_bench.config.fields import Count, Filters, Positive, Probability, Size
from elmo_bench.config.settings import TaskBuild


class Settings(TaskBuild):
    """The spans that are kept and compared, and the sizes of the model."""

    version = 3

    char_dim: Size = Field(description="size of the character embeddings")
    char_filters: Filters = Field(description="[width, number] of each kind of character filter")
    hidden_dim: Size = Field(description="units per direction of the BiLSTM")
    max_width: Count = Field(description="longest span in words")
    spans_per_word: Positive = Field(description="spans kept for each word of the document")
    max_antecedents: Count = Field(description="earlier spans that a span is compared with")
    scorer_dim: Size = Field(description="hidden layers that score spans and pairs")
    feature_dim: Size = Field(description="vectors of width, speaker, genre and distance")
    lexical_dropout: Probability = Field(description="on words and characters")
    dropout: Probability = Field(description="on everything else")
    max_sentences: Count = Field(
        description="sentences of a training document, from a random start"
    )
