from types import SimpleNamespace

import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_bench.data.example import Example
from elmo_bench.runs.datamodule import LengthBatches, TaskData
from elmo_bench.task import collate

LENGTHS = st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=3), min_size=1, max_size=60)


def sentence(length: int, word: str = "w") -> tuple[str, ...]:
    return (word,) * length


@given(LENGTHS, st.integers(1, 9), st.booleans())
def test_every_example_is_in_one_batch_and_no_batch_is_too_large(lengths, batch_size, shuffle):
    generator = torch.Generator().manual_seed(1) if shuffle else None
    batches = list(LengthBatches(lengths, batch_size, generator=generator))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert max(map(len, batches)) <= batch_size


@given(LENGTHS, st.integers(1, 100))
def test_a_batch_of_several_examples_respects_the_limit_of_padded_tokens(
    lengths, max_padded_tokens
):
    for batch in LengthBatches(lengths, 100, max_padded_tokens):
        longest = max(size for index in batch for size in lengths[index])
        padded = longest * sum(len(lengths[index]) for index in batch)
        assert padded <= max_padded_tokens or len(batch) == 1


def test_batches_differ_by_seed_and_repeat_with_the_same_seed():
    lengths = [[n % 7 + 1] for n in range(50)]
    first, again, other = (
        list(LengthBatches(lengths, 8, generator=torch.Generator().manual_seed(seed)))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_every_epoch_has_its_own_order_and_the_same_one_after_a_resume():
    examples = [Example(str(n), (("w",) * (1 + n % 7),), None) for n in range(60)]
    data = TaskData({"train": examples}, None, batch_size=8, max_padded_tokens=None, seed=1)

    def order(epoch):
        strategy = SimpleNamespace(root_device=torch.device("cpu"))
        data.trainer = SimpleNamespace(current_epoch=epoch, strategy=strategy)
        return [[example.id for example in batch.examples] for batch in data.train_dataloader()]

    assert order(0) != order(1) != order(2)
    assert order(1) == order(1)


def test_pairs_of_similar_length_are_batched_with_less_than_15_percent_padding():
    generator = torch.Generator().manual_seed(0)
    lengths = [
        [int(size) for size in torch.randint(4, 25, (2,), generator=generator)] for _ in range(2000)
    ]
    batches = list(LengthBatches(lengths, 32, generator=generator))
    padded = sum(
        len(batch) * max(lengths[index][side] for index in batch)
        for batch in batches
        for side in (0, 1)
    )
    assert sum(map(sum, lengths)) / padded > 0.85


def test_segments_that_examples_share_have_one_row():
    shared_text, first, second = sentence(5, "p"), sentence(2, "q"), sentence(3, "r")
    batch = collate(
        [Example("1", (shared_text, first), None), Example("2", (shared_text, second), None)]
    )
    assert batch.segments == [shared_text, first, second]
    assert batch.rows == [(0, 1), (0, 2)]
    assert batch.mask.sum(dim=1).tolist() == [5, 2, 3]


def test_layers_belong_to_the_rows_of_the_batch():
    def layers(segments):
        lengths = torch.tensor([float(len(segment)) for segment in segments])
        return lengths[None, :, None, None].expand(1, -1, int(lengths.max()), 1)

    examples = [Example(str(n), (sentence(n),), None) for n in (3, 1, 2)]
    data = TaskData({"train": examples}, {"train": layers}, 2, None, seed=1)
    batch = data.collate("train", examples)
    assert batch.layers is not None
    assert batch.layers[0, :, 0, 0].tolist() == batch.mask.sum(dim=1).tolist()
