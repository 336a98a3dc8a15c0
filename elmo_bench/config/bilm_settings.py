"""Settings of a biLM: conf/bilm, and config.yaml of a checkpoint folder."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from elmo_bench.config.fields import (
    INPUT_FILE,
    LABEL,
    Filters,
    Positive,
    Probability,
    Settings,
    Size,
)

MaxChars = Annotated[int, Field(ge=3, le=1000)]  # two of them frame the word


class CharCnnSettings(Settings):
    """The paper's token encoder: a CNN over characters."""

    kind: Literal["char_cnn"]
    char_dim: Size = Field(description="size of a character's vector")
    filters: Filters = Field(description="[width, number] of each kind of filter")
    num_highways: Annotated[int, Field(ge=0, le=100)] = Field(description="highway layers")
    activation: Literal["relu", "tanh"] = Field(description="after the maximum over positions")
    max_chars: MaxChars = Field(description="longer words are cut")

    @model_validator(mode="after")
    def _filters_fit(self) -> "CharCnnSettings":
        widest = max(width for width, _ in self.filters)
        if widest > self.max_chars:
            raise ValueError(
                f"filters: one is {widest} wide, wider than max_chars={self.max_chars}"
            )
        return self

    def min_parameters(self) -> int:
        """Of kernels, highways and characters."""
        features = sum(number for _, number in self.filters)
        kernels = sum(width * number for width, number in self.filters)
        return self.char_dim * (kernels + 256) + 2 * self.num_highways * features**2


class CharRnnSettings(Settings):
    """A bidirectional LSTM over characters."""

    kind: Literal["char_rnn"]
    char_dim: Size = Field(description="size of a character's vector")
    hidden_dim: Size = Field(description="units per direction")
    max_chars: MaxChars = Field(description="longer words are cut")

    def min_parameters(self) -> int:
        """Of both directions, and of characters."""
        return 8 * self.hidden_dim * (self.hidden_dim + self.char_dim) + 256 * self.char_dim


class WordEncoderSettings(Settings):
    """A vector per word of the vocabulary."""

    kind: Literal["word"]
    word_dim: Size = Field(description="size of the vectors")
    vectors: str | None = Field(
        json_schema_extra=INPUT_FILE, description="a file in GloVe's format to start from"
    )
    trainable: bool = Field(description="whether pretraining changes the vectors")

    def min_parameters(self) -> int:
        """Of a vocabulary without words: only the special ones."""
        return 3 * self.word_dim


EncoderSettings = Annotated[
    CharCnnSettings | CharRnnSettings | WordEncoderSettings, Field(discriminator="kind")
]


class LstmSettings(Settings):
    """The stack of LSTMs with projection, the same in both directions."""

    hidden_dim: Size = Field(description="units of the cell")
    projection_dim: Size = Field(description="size of the output, half of a layer's vector")
    num_layers: Annotated[int, Field(ge=1, le=100)] = Field(description="LSTM layers")
    cell_clip: Positive | None = Field(description="largest absolute value of the cell")
    projection_clip: Positive | None = Field(description="largest absolute value of the output")
    skip_connections: bool = Field(description="add a layer's input to its output, from layer 2")
    dropout: Probability = Field(description="on the input of every layer")


class Architecture(Settings):
    """What a biLM is built from; config.yaml of its folder."""

    version: ClassVar[int] = 2  # raised when the code computes other layers or another training

    name: str = Field(json_schema_extra=LABEL, description="name in tables and folders")
    encoder: EncoderSettings = Field(description="how a word becomes a vector")
    lstm: LstmSettings = Field(description="what reads the words")

    def min_parameters(self) -> int:
        """A lower bound of the number of parameters, found without building the model."""
        lstm = self.lstm
        matrices = 9 * lstm.hidden_dim * lstm.projection_dim  # four gates read two, one projects
        return self.encoder.min_parameters() + 2 * lstm.num_layers * matrices


class OfficialFiles(Settings):
    """The location of a published model's files."""

    url: str = Field(description="folder to download from")
    options: str = Field(description="name of options.json")
    weights: str = Field(description="name of the hdf5 file")


class BilmSettings(Architecture):
    """The biLM of a run: conf/bilm."""

    weights: str | None = Field(
        description="a folder; null: results/bilm/<name>; random: untrained"
    )
    pretrain_on: str | None = Field(description="corpus option to pretrain on if it is missing")
    finetune: bool = Field(description="fine-tune on the text of the task first")
    official: OfficialFiles | None = Field(default=None, description="files of a published model")

    @model_validator(mode="after")
    def _random_is_not_tuned(self) -> "BilmSettings":
        if self.finetune and self.weights == "random":
            raise ValueError(
                "bilm.finetune=true: an untrained biLM (weights=random) cannot be fine-tuned"
            )
        return self

    def architecture(self) -> Architecture:
        """What the model is built from."""
        return Architecture(name=self.name, encoder=self.encoder, lstm=self.lstm)
