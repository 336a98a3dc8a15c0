"""Whether the SQuAD model can learn at all: it must fit a small sample of real data."""

from collections import Counter
from itertools import islice

import pytest
import torch

from elmo_bench.data.example import distinct_segments
from elmo_bench.nn.word_embedding import random_words
from elmo_bench.runs.datamodule import LengthBatches
from elmo_bench.task import collate
from tests.conftest import shared
from tests.tasks.building import new_task

QUESTIONS, EPOCHS = 200, 45


@pytest.fixture
def task():
    articles = str(shared("data", "qa", "squadshifts_new_wiki.splits.json"))
    sizes = {"hidden_dim": 40, "char_filters": [[5, 20]], "dropout": 0.0}
    return new_task("squad", articles=articles, **sizes)


def batches(examples, epoch):
    lengths = [[len(segment) for segment in example.segments] for example in examples]
    sampler = LengthBatches(lengths, 20, generator=torch.Generator().manual_seed(epoch))
    return [collate([examples[index] for index in indices]) for indices in sampler]


@pytest.mark.slow  # about four minutes on one core
def test_two_hundred_real_questions_are_fitted_to_over_90_f1(task):
    path = shared("data", "qa", "squadshifts_new_wiki_v1.0.json.gz")
    examples = list(islice(task.read(path, "train", Counter()), QUESTIONS))
    torch.manual_seed(1)
    words = random_words(distinct_segments(examples), 50, True, 1, 0.0)
    model = task.build_model(words, {}, task.label_vocabulary(examples))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(EPOCHS):
        for batch in batches(examples, epoch):
            optimizer.zero_grad()
            model(batch, {}).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
    model.eval()
    with torch.no_grad():
        predictions = [model(collate([example]), {}).predictions[0] for example in examples]
    scores = task.score(examples, predictions)
    assert scores["f1"] > 90
