"""Resuming an interrupted run from its last checkpoint, or from the one before."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from elmo_bench.errors import UserError
from elmo_bench.records.digest import digest
from elmo_bench.runs.files import LAST, RunFiles
from elmo_bench.training.checkpoints import (
    SealedCheckpoints,
    find_checkpoint,
    is_intact,
    previous,
    read_checkpoint,
    set_aside,
)

log = logging.getLogger(__name__)


def sealed_checkpoints(files: RunFiles, model_spec: Mapping[str, Any]) -> SealedCheckpoints:
    """The checkpoints of a run, known by what it computes and by the words and labels of its model.

    The latter follow from the former, unless the code was changed without a new version.
    """
    model = digest([model_spec["words"], model_spec["label_vocabulary"]])
    return SealedCheckpoints({**files.identity, "words and labels": model}, keep=(LAST,))


def resumable(files: RunFiles, identity: Mapping[str, Any]) -> Path | None:
    """The checkpoint from which an interrupted run resumes; None starts from the beginning.

    Damaged checkpoints are set aside, and those of another run are refused.
    """
    if files.best.exists() and is_intact(files.best):
        found, other = find_checkpoint(files.last, identity)
        if other:
            raise UserError(
                f"{found} was written by another run ({other}); force=true starts from the "
                "beginning."
            )
        if found is not None:
            log.info("resuming from %s", found)
        return found
    # First what counts only together with the best checkpoint: a kill in between must not leave it
    # beside the best one of a new start.
    for path in (files.last, previous(files.last)):
        path.unlink(missing_ok=True)
    if files.best.exists():
        set_aside(files.best)
        log.warning("%s starts from the beginning", files.name)
    return None


def load_best(files: RunFiles, step: int) -> dict[str, Any]:
    """The checkpoint with the best dev score.

    Args:
        files: Of the run.
        step: At which the score was reached, as the history of the run says.
    """
    best = read_checkpoint(files.best)
    if best["global_step"] != step:
        # After a kill, the epoch that was lost is trained again, and on a GPU it may end otherwise.
        raise UserError(
            f"{files.best} is of step {best['global_step']}, but the best dev score was reached at "
            f"step {step}; force=true repeats the run."
        )
    return best


def outlook(files: RunFiles) -> str:
    """What the same command will do after an interruption, in words."""
    if not files.is_begun:
        return "nothing was saved yet, so the same command starts from the beginning"
    try:
        epoch = torch.load(files.last, weights_only=True, mmap=True)["epoch"]
    except (OSError, RuntimeError, LookupError):
        return "the same command continues"
    return f"the same command resumes after epoch {epoch + 1}"
