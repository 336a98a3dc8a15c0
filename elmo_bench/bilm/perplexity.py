"""Perplexity of held-out text, always over the full vocabulary."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from math import exp

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import embedding
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.checkpoint import read_tensors
from elmo_bench.bilm.lstm import State
from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.sentences import checked_sentences
from elmo_bench.bilm.softmax import Softmax, softmax_from
from elmo_bench.bilm.vocabulary import Vocabulary
from elmo_bench.data.files import DataError
from elmo_bench.devices import to_device
from elmo_bench.errors import UserError
from elmo_bench.records.reading import reading

SOFTMAX = "softmax.safetensors"
_BATCH_TOKENS = 4096
_SORTED_TOGETHER = 20_000  # sentences held in memory to batch those of similar length
STREAMS = 256  # rows that bilm-tf's bin/run_test.py deals the text to
_STREAM_STEPS = 32  # computed at once; any number gives the same result


def perplexity(
    bilm: BiLm, sentences: Iterable[Sequence[str]], state: str = "reset", streams: int = STREAMS
) -> dict[str, float]:
    """Perplexity of a loaded biLM by direction; EOS is counted.

    "mean" is exp of the mean loss of both directions, as bilm-tf reports it. With state="reset"
    sentences are read separately; with "carry" as bilm-tf's test reads them, see `stream_nll`.
    """
    if state not in ("reset", "carry"):
        raise UserError(f"state is {state!r}; it must be 'reset' or 'carry'.")
    softmax, vocabulary = load_softmax(bilm)
    sentences = checked_sentences(sentences)
    if state == "carry":
        return to_perplexity(stream_nll(bilm, softmax, vocabulary, sentences, streams))
    return to_perplexity(total_nll(bilm, softmax, vocabulary, sentences))


def load_softmax(bilm: BiLm) -> tuple[Softmax, Vocabulary]:
    """The softmax and vocabulary that a biLM was trained with, from its folder."""
    if bilm.folder is None or bilm.vocabulary is None or not has_softmax(bilm):
        raise UserError(
            f"biLM {bilm.name!r} has no softmax, which perplexity and generation need. "
            "Folders made by pretrain.py have one; official weight files have none."
        )
    with reading(bilm.folder / SOFTMAX):
        softmax = softmax_from(read_tensors(bilm.folder / SOFTMAX))
    if softmax.num_words != len(bilm.vocabulary):
        problem = f"predicts {softmax.num_words} words, but vocabulary.txt has "
        raise DataError(bilm.folder / SOFTMAX, None, f"{problem}{len(bilm.vocabulary)}")
    with reading(bilm.folder / "vocabulary.txt"):
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
    with _evaluating(bilm):
        for batch in _batches(sentences):
            totals[0] += _direction_nll(bilm, softmax, vocabulary, batch, reverse=False)
            totals[1] += _direction_nll(bilm, softmax, vocabulary, batch, reverse=True)
            totals[2] += sum(len(sentence) + 1 for sentence in batch)
    return totals


@contextmanager
def _evaluating(bilm: BiLm) -> Iterator[None]:
    training = bilm.training
    bilm.eval()
    try:
        yield
    finally:
        bilm.train(training)


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
    lengths = torch.tensor([len(tokens) - 1 for tokens in framed])
    stack = bilm.backward_lstm if reverse else bilm.forward_lstm
    inputs = _encoded(bilm, [tokens[:-1] for tokens in framed])
    layers, _ = stack(inputs, None, lengths.to(bilm.device))
    hidden = layers[-1][_real(lengths).to(bilm.device)]  # (token, dim)
    targets = [index for tokens in framed for index in vocabulary.ids(tokens[1:])]
    losses = softmax.nll(hidden, to_device(torch.tensor(targets), bilm.device))
    return float(losses.cpu().double().sum())


def _encoded(bilm: BiLm, rows: Sequence[Sequence[str]]) -> Float[Tensor, "batch time dim"]:
    """Encode rows of words, each distinct one once; shorter rows are padded."""
    numbers: dict[str, int] = {}
    inputs = [
        torch.tensor([numbers.setdefault(word, len(numbers)) for word in row]) for row in rows
    ]
    vectors = bilm.encoder(bilm.encoder.ids(list(numbers)).to(bilm.device))
    return embedding(pad_sequence(inputs, batch_first=True).to(bilm.device), vectors)


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


@torch.no_grad()
def stream_nll(
    bilm: BiLm,
    softmax: Softmax,
    vocabulary: Vocabulary,
    sentences: Iterable[Sequence[str]],
    streams: int = STREAMS,
) -> Float[Tensor, " 3"]:
    """The sums of `total_nll`, but read as by bilm-tf's bin/run_test.py.

    Sentences are dealt in order to `streams` rows, each of which reads one after the other and
    never resets its LSTM state. When a row finds no sentence left, the test ends, and what the
    other rows have not read is not counted. bilm-tf reads one token of each row at a time
    (unroll 1); how many are read at once changes nothing but the speed.
    """
    totals = torch.zeros(3, dtype=torch.float64)
    states: list[State | None] = [None, None]
    steps = _deal(sentences, streams)
    with _evaluating(bilm):
        while chunk := list(islice(steps, _STREAM_STEPS)):
            for direction, stack in enumerate((bilm.forward_lstm, bilm.backward_lstm)):
                rows = list(zip(*(step[direction] for step in chunk), strict=True))
                inputs = _encoded(bilm, [[word for word, _ in row] for row in rows])
                layers, states[direction] = stack(inputs, states[direction])
                targets = vocabulary.ids(target for row in rows for _, target in row)
                losses = softmax.nll(
                    layers[-1].flatten(0, 1), to_device(torch.tensor(targets), bilm.device)
                )
                totals[direction] += float(losses.cpu().double().sum())
            totals[2] += len(chunk) * streams
    if not totals[2]:
        raise UserError(
            f"The text has fewer than {streams} sentences, one for each row of the stateful test; "
            "choose fewer rows."
        )
    return totals


# Of one step: for each direction, the word that every row reads and the one that comes next.
Step = tuple[list[tuple[str, str]], list[tuple[str, str]]]


def _deal(sentences: Iterable[Sequence[str]], streams: int) -> Iterator[Step]:
    stream = (sentence for sentence in sentences if sentence)
    rows: list[list[str]] = [[] for _ in range(streams)]  # framed sentences
    places = [0] * streams
    while True:
        for row in range(streams):
            if places[row] + 1 >= len(rows[row]):
                sentence = next(stream, None)
                if sentence is None:
                    return
                rows[row], places[row] = [BOS, *sentence, EOS], 0
        read = list(zip(rows, places, strict=True))
        # Both directions of a sentence have as many steps, so one deal does for both.
        yield (
            [(tokens[place], tokens[place + 1]) for tokens, place in read],
            [(tokens[-1 - place], tokens[-2 - place]) for tokens, place in read],
        )
        places = [place + 1 for place in places]
