"""The few rows of a large softmax that one optimizer step trains."""

import torch
import torch.distributed
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.optim import Adagrad

Table = tuple[Float[Tensor, "word dim"], Float[Tensor, " word"]]  # weight and bias


class SoftmaxRows(nn.Module):
    """Takes the place of a sampled softmax's table in the optimizer.

    A step asks for few words, and Adagrad leaves a row without a gradient as it is. So the rows of
    these words are copied here, into parameters of fixed size, and are the only ones that
    gradients, clipping, loss scaling, DDP and the optimizer see. After the step they are written
    back, together with Adagrad's sums of squares. The result is that of training the table.

    Every process takes the rows of all processes' words, so these parameters are the same words
    everywhere and DDP can average their gradients.

    Args:
        num_words: Rows of the table.
        dim: Columns of the table.
        size: The most words that a step asks for.
        initial_sum: Of squares, before the first step.
    """

    def __init__(self, num_words: int, dim: int, size: int, initial_sum: float) -> None:
        super().__init__()
        size = min(size, num_words)
        self.weight = nn.Parameter(torch.zeros(size, dim))
        self.bias = nn.Parameter(torch.zeros(size))
        # Parameters rather than buffers, which DDP would send at every step.
        self.weight_sums = nn.Parameter(torch.full((num_words, dim), initial_sum), False)
        self.bias_sums = nn.Parameter(torch.full((num_words,), initial_sum), False)
        self.words: Int[Tensor, " word"] | None = None  # in the first rows, ascending

    def take(
        self,
        table: Table,
        negatives: Int[Tensor, "direction negative"],
        targets: Int[Tensor, "direction token"],
    ) -> tuple[Int[Tensor, "direction negative"], Int[Tensor, "direction token"]]:
        """Copy the rows of these words, and of this step's earlier ones; return where they are.

        Args:
            table: Of the softmax.
            negatives: The same words in every process.
            targets: Of this process.
        """
        asked, earlier = [negatives.flatten(), _of_all_processes(targets.flatten())], self.words
        if earlier is not None:
            asked.append(earlier)
        self.words = torch.cat(asked).unique()
        with torch.no_grad():
            if earlier is not None:
                self._move_gradients(torch.searchsorted(self.words, earlier))
            for own, whole in zip((self.weight, self.bias), table, strict=True):
                own[: len(self.words)] = whole[self.words]
        return torch.searchsorted(self.words, negatives), torch.searchsorted(self.words, targets)

    def load_sums(self, optimizer: Adagrad) -> None:
        """Give the optimizer the sums of squares of the rows, before its step."""
        assert self.words is not None
        for step_sums, sums in self._sums(optimizer):
            step_sums[: len(self.words)] = sums[self.words]

    @torch.no_grad()
    def write_back(self, table: Table, optimizer: Adagrad) -> None:
        """Write the rows and their sums of squares back, after the optimizer's step."""
        assert self.words is not None
        for own, whole in zip((self.weight, self.bias), table, strict=True):
            whole[self.words] = own[: len(self.words)]
        for step_sums, sums in self._sums(optimizer):
            sums[self.words] = step_sums[: len(self.words)]
        self.words = None

    def _sums(self, optimizer: Adagrad) -> list[tuple[Tensor, Tensor]]:
        """The optimizer's sums and all sums, of weight and bias."""
        state = optimizer.state
        return [
            (state[self.weight]["sum"], self.weight_sums),
            (state[self.bias]["sum"], self.bias_sums),
        ]

    def _move_gradients(self, places: Int[Tensor, " word"]) -> None:
        """Move what earlier batches of this step have accumulated to its new rows."""
        for own in (self.weight, self.bias):
            assert own.grad is not None
            earlier = own.grad[: len(places)].clone()
            own.grad.zero_()[places] = earlier


def _of_all_processes(words: Int[Tensor, " word"]) -> Int[Tensor, " every_word"]:
    if not torch.distributed.is_initialized():
        return words
    parts = [torch.empty_like(words) for _ in range(torch.distributed.get_world_size())]
    torch.distributed.all_gather(parts, words.contiguous())
    return torch.cat(parts)
