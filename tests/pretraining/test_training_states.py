import torch

from elmo_bench.bilm.model import BiLm
from elmo_bench.bilm.softmax import build_softmax
from elmo_bench.pretraining.module import BilmTraining
from tests.pretraining.tiny_pretraining import compose_pretraining


def test_only_rows_that_are_reset_start_from_zero_states():
    settings = compose_pretraining("bilm=mini", "corpus=mini", "pretraining.loss.kind=full")
    bilm = BiLm(settings.bilm.architecture(), ())
    softmax = build_softmax(settings.pretraining.loss, bilm.projection_dim, 10)
    module = BilmTraining(bilm, softmax, settings.pretraining)
    module.states = [(torch.ones(2, 3, 4), torch.ones(2, 3, 5)) for _ in range(2)]
    for hidden, cell in module._previous_states(torch.tensor([False, True, False])):
        assert hidden.sum(dim=(0, 2)).tolist() == [8.0, 0.0, 8.0]
        assert cell.sum(dim=(0, 2)).tolist() == [10.0, 0.0, 10.0]
