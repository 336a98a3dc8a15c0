"""Settings of a frozen encoder: conf/bilm, and config.yaml of a biLM's checkpoint folder."""

from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from elmo_bench.config.fields import (
    INPUT_FILE,
    LABEL,
    Count,
    Filters,
    Positive,
    Probability,
    Settings,
    Size,
)

Pooling = Literal["first", "mean", "last"]
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

    kind: Literal["bilm"] = Field(default="bilm", description="bilm, or transformer")
    weights: str | None = Field(
        description="a folder; null: results/bilm/<name>; random: untrained"
    )
    pretrain_on: str | None = Field(description="corpus option to pretrain on if it is missing")
    finetune: bool = Field(description="fine-tune on the text of the task first")
    state: Literal["reset", "carry"] = Field(
        default="reset", description="read each segment alone, or each split as one stream"
    )
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


class TransformerSettings(Settings):
    """A transformer in the place of the biLM: conf/bilm/transformer.yaml."""

    version: ClassVar[int] = 1  # raised when the code computes other layers

    kind: Literal["transformer"]
    name: str = Field(json_schema_extra=LABEL, description="name in tables; null: of the weights")
    weights: str = Field(description="a folder, or an id of the Hugging Face Hub; or random")
    config: str | None = Field(description="with weights=random: a folder or id of that size")
    pooling: Pooling = Field(description="a word's vector from those of its subwords")
    window: Count | None = Field(description="subwords read at once; null: the model's most")
    finetune: Literal[False] = Field(description="only biLMs can be fine-tuned")
    state: Literal["reset"] = Field(description="only biLMs have a state to carry")

    @model_validator(mode="before")
    @classmethod
    def _named_after_the_weights(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        weights, config = values.get("weights"), values.get("config")
        if (weights == "random") != (config is not None):
            raise ValueError(
                "bilm.weights=random takes sizes and tokenizer of another model: "
                "bilm.config=FOLDER_OR_HUB_ID, which is for nothing else"
            )
        place = config or weights
        if values.get("name") is None and isinstance(place, str):
            return values | {"name": PurePath(place).name}
        return values

    @property
    def source(self) -> str:
        """Where the files are: of the weights, or of what untrained weights are made from."""
        return self.config or self.weights


EncoderOfRun = Annotated[BilmSettings | TransformerSettings, Field(discriminator="kind")]
