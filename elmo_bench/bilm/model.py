"""The biLM: one module for pretraining, feature extraction and the official weights."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.bilm import checkpoint, download, official
from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.extraction import STREAM_TOKENS, Extractor, chunks
from elmo_bench.bilm.lstm import LstmStack
from elmo_bench.bilm.sentences import check_sentences
from elmo_bench.bilm.token_encoders import build_encoder
from elmo_bench.config.bilm_settings import Architecture, BilmSettings, WordEncoderSettings
from elmo_bench.config.folders import find_bilm
from elmo_bench.devices import resolve_device
from elmo_bench.errors import UserError
from elmo_bench.records.reading import reading


class BiLm(nn.Module):
    """A token encoder and two LSTM stacks, one reading left to right and one right to left.

    Args:
        architecture: Its name, token encoder and LSTMs.
        vocabulary: Words of the softmax and of a word encoder; character encoders need none.
    """

    def __init__(self, architecture: Architecture, vocabulary: Sequence[str] | None = None) -> None:
        super().__init__()
        self.architecture = architecture
        self.vocabulary = None if vocabulary is None else list(vocabulary)
        self.folder: Path | None = None  # where it was loaded from
        self.projection_dim = architecture.lstm.projection_dim
        self.encoder = build_encoder(architecture.encoder, self.projection_dim, vocabulary)
        self.forward_lstm = LstmStack(**architecture.lstm.plain())
        self.backward_lstm = LstmStack(**architecture.lstm.plain())
        self.extractor = Extractor(self.encoder, self.forward_lstm, self.backward_lstm)

    @classmethod
    def load(cls, folder: str | Path, device: str = "cpu") -> "BiLm":
        """Load a biLM for evaluation onto a device: cpu, cuda, auto (a GPU if there is one), ...

        `folder` is a checkpoint folder, a name in results/bilm, a folder with an options.json and
        a weights.hdf5, or a published model such as official_small.
        """
        return cls._load(folder).to(resolve_device(device))

    @classmethod
    def _load(cls, folder: str | Path) -> "BiLm":
        if settings := download.published_settings(str(folder)):
            return cls.load_published(settings)
        if files := official.find_official_files(Path(folder).expanduser()):
            return cls.from_official(*files)
        folder = find_bilm(folder)
        architecture = checkpoint.read_architecture(folder)
        checkpoint.check_size(architecture, folder / "weights.safetensors")
        with reading(folder):  # a vocabulary that does not fit its encoder, and the like
            bilm = cls(architecture, checkpoint.read_vocabulary(folder))
        checkpoint.load_tensors(bilm, folder / "weights.safetensors")
        bilm.folder = folder
        return bilm.eval()

    @classmethod
    def from_official(cls, options: str | Path, weights: str | Path) -> "BiLm":
        """Load bilm-tf's options.json and HDF5 weights, for evaluation or fine-tuning."""
        architecture = official.read_options(Path(options).expanduser())
        arrays = official.read_arrays(Path(weights).expanduser(), architecture)
        bilm = cls(architecture)
        bilm.load_state_dict(official.to_state(arrays, architecture))
        return bilm.eval()

    @classmethod
    def load_published(cls, settings: BilmSettings) -> "BiLm":
        """Load the model described by a config such as conf/bilm/official_small.yaml."""
        options, weights = download.published_files(settings)
        download.check_sizes(options, official.read_options(options), settings)
        bilm = cls.from_official(options, weights)
        bilm.architecture = bilm.architecture.but(name=settings.name)
        return bilm

    def dump_official(self, options: str | Path, weights: str | Path) -> None:
        """Write options.json and HDF5 weights in bilm-tf's layout, which other tools read too."""
        text = json.dumps(official.options_of(self.architecture), indent=2)
        arrays = official.to_arrays(self.state_dict(), self.architecture)
        official.write_arrays(Path(weights).expanduser(), arrays)
        Path(options).expanduser().write_text(text + "\n", encoding="utf-8")

    def save(
        self,
        folder: str | Path,
        record: Mapping[str, Any],
        extra: Mapping[str, Mapping[str, Tensor]] | None = None,
        card: str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        """Write a checkpoint folder in full or not at all, replacing an older one.

        `record` (how it was trained) becomes training.json; `extra` holds further tensors by file
        name without suffix, e.g. {"softmax": ...}; `card` replaces the model card made from config
        and record. `dtype` float16 halves the size on disk; loading converts back to float32.
        """
        architecture = self.architecture
        if isinstance(architecture.encoder, WordEncoderSettings):
            # The table is now part of the weights.
            encoder = architecture.encoder.but(vectors=None)
            architecture = architecture.but(encoder=encoder)
        tensors = {"weights": self.state_dict(), **(extra or {})}
        card = card or checkpoint.model_card(architecture, self.num_parameters, record)
        checkpoint.write_folder(
            Path(folder), architecture, tensors, self.vocabulary, record, card, dtype
        )

    @property
    def name(self) -> str:
        """What tables and folders call it."""
        return self.architecture.name

    @property
    def device(self) -> torch.device:
        return self.forward_lstm.layers[0].bias.device

    @property
    def num_layers(self) -> int:
        """Number of layers that `embed` returns: the token layer and the LSTM layers."""
        return 1 + len(self.forward_lstm.layers)

    @property
    def output_dim(self) -> int:
        return 2 * self.projection_dim

    @property
    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())

    def fingerprint(self) -> str:
        """Hash of what determines the layers: settings and weights."""
        settings: dict[str, Any] = self.architecture.plain()
        del settings["name"]
        if isinstance(self.architecture.encoder, WordEncoderSettings):
            settings["vocabulary"] = self.vocabulary
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for key, tensor in sorted(self.state_dict().items()):
            digest.update(key.encode())
            digest.update(tensor.detach().cpu().contiguous().numpy().data)
        return digest.hexdigest()

    def encode_words(self, words: Sequence[str]) -> Float[Tensor, "word dim"]:
        """Encode words without context, each distinct one once; differentiable."""
        distinct = {word: row for row, word in enumerate(dict.fromkeys(words))}
        vectors = self.encoder(self.encoder.ids(list(distinct)).to(self.device))
        rows = torch.tensor([distinct[word] for word in words], dtype=torch.long)
        return vectors[rows.to(self.device)]

    def layers(self, sentences: Sequence[Sequence[str]]) -> Float[Tensor, "layer segment time dim"]:
        """Every layer of a padded batch, each sentence read separately; zeros in the padding.

        Differentiable, with dropout in training mode; `embed` is faster for frozen layers.
        """
        check_sentences(sentences)
        words = dict.fromkeys([BOS, EOS, *(word for sentence in sentences for word in sentence)])
        row_of = {word: row for row, word in enumerate(words)}
        table = self.encode_words(list(words))
        results = self.extractor.read(table, row_of, sentences, len(sentences))
        padded = pad_sequence([result.transpose(0, 1) for result in results])  # time first
        return padded.permute(2, 1, 0, 3)

    def embed(
        self,
        sentences: Sequence[Sequence[str]],
        state: str = "reset",
        batch_size: int | None = None,
    ) -> list[Float[Tensor, "layer _time dim"]]:
        """Frozen float32 layers of each sentence, token layer first, without BOS and EOS.

        With state="reset" each sentence is read separately, in batches of `batch_size`; None
        is 64 on the CPU, and what fits into the memory of a GPU. With
        "carry" the sentences of this call are one stream: the LSTM states are carried from each
        sentence to the next, as bilm-tf does.
        """
        if state not in ("reset", "carry"):
            raise UserError(f"state is {state!r}; it must be 'reset' or 'carry'.")
        check_sentences(sentences)
        if state == "carry":
            return list(self.stream(sentences))
        with self._frozen():
            return self.extractor.embed(sentences, batch_size)

    def stream(
        self, sentences: Iterable[Sequence[str]]
    ) -> Iterator[Float[Tensor, "layer _time dim"]]:
        """Yield what `embed` returns with state="carry", for streams of any length."""
        states = None
        for chunk in chunks(sentences, STREAM_TOKENS):
            check_sentences(chunk)
            with self._frozen():
                layers, states = self.extractor.embed_stream(chunk, states)
            yield from layers

    @contextmanager
    def _frozen(self) -> Iterator[None]:
        """Without gradients, dropout and reduced precision."""
        training = self.training
        self.eval()
        try:
            with torch.no_grad(), torch.autocast(self.device.type, enabled=False):
                yield
        finally:
            self.train(training)

    def perplexity(
        self, sentences: Iterable[Sequence[str]], state: str = "reset"
    ) -> dict[str, float]:
        """Perplexity with the full softmax: forward, backward and mean.

        With state="carry" it is measured as bilm-tf does, on 256 rows of text that never reset.
        """
        from elmo_bench.bilm.perplexity import perplexity  # it imports this module

        return perplexity(self, sentences, state)
