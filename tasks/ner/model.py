"""The paper's tagger: words and characters [and ELMo] -> two BiLSTM layers -> CRF."""

from collections.abc import Mapping, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from elmo_bench.data.tags import bioul_transitions, to_bioul, to_iob2
from elmo_bench.devices import to_device
from elmo_bench.nn.birnn import BiLstm
from elmo_bench.nn.char_cnn import CharCnn
from elmo_bench.nn.crf import Crf
from elmo_bench.nn.dropout import VariationalDropout
from elmo_bench.nn.word_embedding import WordEmbedding
from elmo_bench.task import Batch, Output


class Tagger(nn.Module):
    """BiLSTM-CRF. Tags are BIOUL inside and IOB2 outside.

    Args:
        words: Static word vectors.
        chars: Embeds the characters of a word.
        elmo_dims: Size of the ELMo vectors by placement, at the input and output of the BiLSTM.
        tags: The BIOUL tags of the training data.
        hidden_dims: Units per direction of each BiLSTM layer.
        dropout: Variational, at the input of each layer and before the dense layer.
        boundary_transitions: Whether the CRF learns scores of the first and the last tag.
    """

    def __init__(
        self,
        words: WordEmbedding,
        chars: CharCnn,
        elmo_dims: Mapping[str, int],
        tags: Sequence[str],
        hidden_dims: Sequence[int],
        dropout: float,
        boundary_transitions: bool,
    ) -> None:
        super().__init__()
        self.words = words
        self.chars = chars
        input_dim = words.dim + chars.dim + elmo_dims.get("input", 0)
        self.encoder = BiLstm(input_dim, hidden_dims, dropout)
        self.dropout = VariationalDropout(dropout)
        self.dense = nn.Linear(self.encoder.dim + elmo_dims.get("output", 0), len(tags))
        self.crf = Crf(bioul_transitions(tags), boundary_transitions)
        self.tags = list(tags)
        self.index = {tag: number for number, tag in enumerate(tags)}

    def forward(self, batch: Batch, elmo: Mapping[str, Tensor]) -> Output:
        emissions = self.emissions(batch, elmo)
        rows = batch.row_index()
        emissions, mask = emissions[rows], batch.mask[rows]
        gold = to_device(self.gold(batch), emissions.device)
        loss = -self.crf(emissions, gold, mask).mean() if len(gold) else emissions.new_zeros(())
        if self.training:
            return Output(loss, [])
        best = self.crf.decode(emissions, mask)
        return Output(loss, [to_iob2([self.tags[tag] for tag in path]) for path in best])

    def emissions(
        self, batch: Batch, elmo: Mapping[str, Tensor]
    ) -> Float[Tensor, "segment time tag"]:
        """Return the score of every tag at every token."""
        parts = [self.words(batch.segments), self.chars(batch.segments)]
        if "input" in elmo:
            parts.append(elmo["input"])
        states = self.dropout(self.encoder(torch.cat(parts, dim=2), batch.mask))
        if "output" in elmo:
            states = torch.cat([states, elmo["output"]], dim=2)
        return self.dense(states)

    def gold(self, batch: Batch) -> Int[Tensor, "batch time"]:
        """Return the numbers of the gold tags; empty for new text.

        An entity type absent from the training data counts as O: the dev loss is informative only.
        """
        outside = self.index["O"]
        gold = [
            torch.tensor([self.index.get(tag, outside) for tag in to_bioul(example.target)])
            for example in batch.examples
            if example.target is not None
        ]
        if not gold:
            return torch.zeros(0, batch.mask.shape[1], dtype=torch.long)
        padded = pad_sequence(gold, batch_first=True, padding_value=outside)
        return nn.functional.pad(padded, (0, batch.mask.shape[1] - padded.shape[1]), value=outside)
