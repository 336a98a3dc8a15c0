"""Ctrl-C in a training: an exception whose text says what the same command will do next."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pytorch_lightning import Trainer


@contextmanager
def interruptible(trainer: Trainer) -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, where Lightning would end the process or go on."""
    try:
        yield
    except SystemExit:
        if not trainer.interrupted:
            raise
    if trainer.interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # Lightning ignores a second one
        raise KeyboardInterrupt


@contextmanager
def explained(outlook: Callable[[], str]) -> Iterator[None]:
    """Give a KeyboardInterrupt the text of `outlook`: what the same command will do next."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise stop if stop.args else KeyboardInterrupt(outlook()) from None
