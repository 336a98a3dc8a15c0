"""Frozen rows in groups of one size, for products of PyTorch.

A product's result for a row can depend on the number of rows, since other shapes are computed by
other code. In groups of one size it does not, as tests find for layers of 64 units (with 9 or
fewer, MKL's results depend on a row's place). Compiled products need no such groups.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import pad

# Fewer rows make products slower per row, more of them compute more padding.
PANEL_ROWS = 32


def in_panels(function: Callable[[Tensor], Tensor], rows: Tensor) -> Tensor:
    """Apply a function to PANEL_ROWS rows at a time, the last of them filled up with zeros.

    In training, and on a GPU, whose products we cannot make independent of the batch at a fair
    price, apply it to all rows at once.
    """
    if torch.is_grad_enabled() or rows.device.type != "cpu":
        return function(rows)
    panels = [function(filled(panel)) for panel in rows.split(PANEL_ROWS)]
    return torch.cat(panels)[: len(rows)]


def filled(rows: Tensor) -> Tensor:
    """A copy of rows, with rows of zeros up to the next multiple of PANEL_ROWS."""
    return pad(rows, (*[0] * (2 * rows.dim() - 1), -len(rows) % PANEL_ROWS))
