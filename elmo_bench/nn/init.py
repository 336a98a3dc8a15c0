"""Initial weights of recurrent networks."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


@torch.no_grad()
def orthogonal_blocks_(weight: Float[Tensor, "out in"], block_dim: int) -> None:
    """Initialize each block of `block_dim` rows, one per gate, as an orthogonal matrix."""
    for block in weight.split(block_dim):
        nn.init.orthogonal_(block)


@torch.no_grad()
def init_recurrent_(rnn: nn.LSTM | nn.GRU) -> None:
    """Initialize recurrent weights as orthogonal blocks, input weights by Glorot, biases as zero.

    The bias of an LSTM's forget gate is 1, so that it remembers at the start of training.
    """
    for name, parameter in rnn.named_parameters():
        if name.startswith("weight_hh"):
            orthogonal_blocks_(parameter, rnn.hidden_size)
        elif name.startswith("weight_ih"):
            for block in parameter.split(rnn.hidden_size):
                nn.init.xavier_uniform_(block)
        else:
            nn.init.zeros_(parameter)
            if isinstance(rnn, nn.LSTM) and name.startswith("bias_ih"):
                # Gates are in the order input, forget, cell, output.
                parameter[rnn.hidden_size : 2 * rnn.hidden_size] = 1.0
