from collections import Counter
from itertools import chain, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_bench.bilm.characters import BOS, EOS
from elmo_bench.bilm.token_encoders import CharCnnEncoder
from elmo_bench.bilm.vocabulary import SPECIAL, Vocabulary
from elmo_bench.config.errors import ConfigError
from elmo_bench.pretraining.loader import StreamLoader
from elmo_bench.pretraining.sentence_store import SentenceStore, write_store
from elmo_bench.pretraining.streams import ShuffledOrder, Stream
from tests.pretraining.tiny_pretraining import compose_pretraining

SENTENCES = [[f"{n}.{i}" for i in range(1 + n * 7 % 11)] for n in range(40)]
TOKENS = sum(len(sentence) + 1 for sentence in SENTENCES)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "text"
    write_store(folder, SENTENCES, count=False)
    return SentenceStore(folder)


@given(size=st.integers(1, 5000), seed=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_a_shuffled_order_has_every_number_once(size, seed):
    order = ShuffledOrder(size, (seed,))
    assert sorted(order[n] for n in range(size)) == list(range(size))


def test_orders_differ_by_seed_and_are_spread_out():
    first, second = ShuffledOrder(10_000, (1, 0)), ShuffledOrder(10_000, (1, 1))
    numbers = [first[n] for n in range(1000)]
    assert numbers != [second[n] for n in range(1000)]
    assert 4500 < sum(numbers) / 1000 < 5500
    assert sum(abs(a - b) for a, b in pairwise(numbers)) / 999 > 3000


def rows_of(stream, batch_size, steps, batches):
    """Inputs and targets of each row, its batches joined."""
    inputs, targets = [[] for _ in range(batch_size)], [[] for _ in range(batch_size)]
    for _ in range(batches):
        words, following = stream.read(steps)
        for row in range(batch_size):
            inputs[row] += words[row * steps : (row + 1) * steps]
            targets[row] += following[row * steps : (row + 1) * steps]
    return inputs, targets


def test_a_row_is_a_sequence_of_whole_sentences(store):
    stream = Stream(store, 3, range(3), (1,), reverse=False)
    inputs, targets = rows_of(stream, 3, 5, 20)
    for words, following in zip(inputs, targets, strict=True):
        text = " ".join(words).split("<S>")[1:-1]  # the last sentence may be cut off
        assert all(sentence.split() in SENTENCES for sentence in text)
        assert "</S>" not in words
        assert "<S>" not in following
        assert [w for w in following if w != "</S>"][:80] == [w for w in words if w != "<S>"][:80]


def test_a_backward_row_reads_sentences_from_their_end(store):
    stream = Stream(store, 2, range(2), (1,), reverse=True)
    inputs, targets = rows_of(stream, 2, 7, 10)
    text = " ".join(inputs[0]).split("</S>")[1:-1]
    assert all(sentence.split()[::-1] in SENTENCES for sentence in text)
    assert "<S>" not in inputs[0]
    assert "</S>" not in targets[0]


def test_an_epoch_deals_every_sentence_exactly_once(store):
    stream = Stream(store, 1, range(1), (1,), reverse=False)
    words, _ = stream.read(3 * TOKENS)
    counts = Counter(word for word in words if word != "<S>")
    assert counts == Counter(chain.from_iterable(SENTENCES * 3))
    assert stream.epoch == 2


def test_each_epoch_has_its_own_order(store):
    stream = Stream(store, 1, range(1), (1,), reverse=False)
    first, second = stream.read(TOKENS)[0], stream.read(TOKENS)[0]
    assert sorted(first) == sorted(second)
    assert first != second


def test_ranks_together_read_what_one_process_reads(store):
    whole = Stream(store, 4, range(4), (1,), reverse=False)
    parts = [Stream(store, 4, range(n, n + 2), (1,), reverse=False) for n in (0, 2)]
    for _ in range(30):
        inputs, targets = whole.read(6)
        shares = [part.read(6) for part in parts]
        assert inputs == shares[0][0] + shares[1][0]
        assert targets == shares[0][1] + shares[1][1]


def new_loader(store, batches=50, state_reset_prob=0.3):
    vocabulary = Vocabulary([*SPECIAL, *sorted(set(chain.from_iterable(SENTENCES)))[:50]])
    encoder = CharCnnEncoder(4, 4, [[1, 4]], 0, "relu", 10)
    return StreamLoader(
        store,
        vocabulary,
        encoder,
        batch_size=4,
        rows=range(4),
        unroll_steps=6,
        num_batches=batches,
        seed=3,
        state_reset_prob=state_reset_prob,
    )


def begins(loader, batch):
    """Which rows of each direction start with the first mark of a sentence."""
    marks = loader._encoder.ids([BOS, EOS])
    first = batch.words[batch.inputs[:, :, 0]]
    return (first == marks[:, None]).all(dim=2)


def test_rows_that_are_reset_start_a_sentence_in_both_directions(store):
    loader = new_loader(store)
    for batch in loader:
        assert begins(loader, batch)[:, batch.reset].all()


def test_a_probability_above_one_is_refused():
    with pytest.raises(ConfigError, match=r"pretraining\.state_reset_prob=1\.5"):
        compose_pretraining("pretraining.state_reset_prob=1.5")


def test_rows_are_reset_with_the_given_probability(store):
    for share in (0.0, 0.3, 1.0):
        state_reset_prob = [
            batch.reset.double().mean() for batch in new_loader(store, state_reset_prob=share)
        ]
        assert sum(state_reset_prob) / len(state_reset_prob) == pytest.approx(share, abs=0.08)


def test_a_loader_resumes_where_its_state_was_saved(store):
    whole = list(new_loader(store))
    loader = new_loader(store)
    batches = iter(loader)
    for _ in range(17):
        next(batches)
    other = new_loader(store)
    other.load_state_dict(loader.state_dict())
    rest = list(other)
    assert len(rest) == 33
    assert all(
        (a.words.equal(b.words), a.targets.equal(b.targets), a.reset.equal(b.reset)) == (True,) * 3
        for a, b in zip(whole[17:], rest, strict=True)
    )


def test_a_batch_spells_each_distinct_word_once(store):
    batch = next(iter(new_loader(store)))
    assert len(batch.words.unique(dim=0)) == len(batch.words) == batch.inputs.max() + 1


def test_the_two_directions_are_shuffled_separately(store):
    batch = next(iter(new_loader(store)))
    assert not batch.targets[0].flatten().sort()[0].equal(batch.targets[1].flatten().sort()[0])
