"""Initial weights of recurrent networks."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


@torch.no_grad()
def orthogonal_blocks_(weight: Float[Tensor, "out in"], block_dim: int) -> None:
    """Make each block of `block_dim` rows orthogonal by itself: one block is one gate."""
    for block in weight.split(block_dim):
        nn.init.orthogonal_(block)


@torch.no_grad()
def init_recurrent_(rnn: nn.LSTM | nn.GRU) -> None:
    """Orthogonal blocks from state to state, Glorot blocks from input to state, biases of zero.

    The bias of an LSTM's forget gate is 1, so that it remembers at first.
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
