"""Perplexity of held-out text, always over the full vocabulary."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from math import exp

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.checkpoint import read_tensors
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import Softmax, softmax_from
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.data.files import DataError
from elmo_bench.errors import UserError

SOFTMAX = "softmax.safetensors"
_BATCH_TOKENS = 4096
_SORTED_TOGETHER = 20_000  # sentences held in memory to batch those of similar length


def perplexity(bilm: BiLm, sentences: Iterable[Sequence[str]]) -> dict[str, float]:
    """Perplexity of a loaded biLM by direction; sentences are read separately, EOS is counted.

    "mean" is exp of the mean loss of both directions, as bilm-tf reports it.
    """
    softmax, vocabulary = load_softmax(bilm)
    return to_perplexity(total_nll(bilm, softmax, vocabulary, sentences))


def load_softmax(bilm: BiLm) -> tuple[Softmax, Vocabulary]:
    """The softmax and vocabulary that a biLM was trained with, from its folder."""
    if bilm.folder is None or bilm.vocabulary is None or not has_softmax(bilm):
        raise UserError(
            f"biLM {bilm.name!r} has no softmax, which perplexity and generation need. "
            "Folders made by pretrain.py have one; official weight files have none."
        )
    softmax = softmax_from(read_tensors(bilm.folder / SOFTMAX))
    if softmax.num_words != len(bilm.vocabulary):
        problem = f"predicts {softmax.num_words} words, but vocabulary.txt has "
        raise DataError(bilm.folder / SOFTMAX, None, f"{problem}{len(bilm.vocabulary)}")
    return softmax.to(bilm.device), Vocabulary(bilm.vocabulary)


def has_softmax(bilm: BiLm) -> bool:
    """Whether the biLM was loaded from a folder with a softmax."""
    return bilm.folder is not None and (bilm.folder / SOFTMAX).exists()


def to_perplexity(totals: Float[Tensor, " 3"]) -> dict[str, float]:
    """Perplexities from the sums of `total_nll`."""
    forward, backward, num_tokens = totals.tolist()
    if not num_tokens:
        raise UserError("Perplexity needs at least one sentence with a word.")
    means = {"forward": forward / num_tokens, "backward": backward / num_tokens}
    means["mean"] = (means["forward"] + means["backward"]) / 2
    # A diverged model has infinite perplexity; it is not an error.
    return {name: exp(mean) if mean < 700 else float("inf") for name, mean in means.items()}


@torch.no_grad()
def total_nll(
    bilm: BiLm, softmax: Softmax, vocabulary: Vocabulary, sentences: Iterable[Sequence[str]]
) -> Float[Tensor, " 3"]:
    """Summed negative log-likelihood, forward and backward, and the number of tokens."""
    totals = torch.zeros(3, dtype=torch.float64)
    training = bilm.training
    bilm.eval()
    try:
        for batch in _batches(sentences):
            totals[0] += _direction_nll(bilm, softmax, vocabulary, batch, reverse=False)
            totals[1] += _direction_nll(bilm, softmax, vocabulary, batch, reverse=True)
            totals[2] += sum(len(sentence) + 1 for sentence in batch)
    finally:
        bilm.train(training)
    return totals


def _direction_nll(
    bilm: BiLm,
    softmax: Softmax,
    vocabulary: Vocabulary,
    batch: list[Sequence[str]],
    reverse: bool,
) -> float:
    framed = [[BOS, *sentence, EOS] for sentence in batch]
    if reverse:
        framed = [tokens[::-1] for tokens in framed]
    rows: dict[str, int] = {}
    inputs = [
        torch.tensor([rows.setdefault(word, len(rows)) for word in tokens[:-1]])
        for tokens in framed
    ]
    vectors = bilm.encoder(bilm.encoder.ids(list(rows)).to(bilm.device))
    lengths = torch.tensor([len(row) for row in inputs])
    stack = bilm.backward_lstm if reverse else bilm.forward_lstm
    padded = pad_sequence(inputs, batch_first=True).to(bilm.device)
    layers, _ = stack(embedding(padded, vectors), None, lengths.to(bilm.device))
    hidden = layers[-1][_real(lengths).to(bilm.device)]  # (token, dim)
    targets = [index for tokens in framed for index in vocabulary.ids(tokens[1:])]
    losses = softmax.nll(hidden, torch.tensor(targets, device=bilm.device))
    return float(losses.double().sum())


def _real(lengths: Int[Tensor, " batch"]) -> Tensor:
    return torch.arange(int(lengths.max()))[None, :] < lengths[:, None]


def _batches(sentences: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Yield batches of sentences of similar length, with about the same number of tokens each."""
    stream = (sentence for sentence in sentences if sentence)
    while chunk := sorted(islice(stream, _SORTED_TOGETHER), key=len):
        while chunk:
            size = max(1, _BATCH_TOKENS // (len(chunk[-1]) + 1))
            yield chunk[-size:]
            del chunk[-size:]
