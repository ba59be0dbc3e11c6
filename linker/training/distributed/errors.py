"""Adds the step number and the batch's article ids to errors raised during a training step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch

from linker.common.errors import LinkerError
from linker.training.distributed.context import ConnectionLost, DistributedContext


class StepError(Exception):
    """A step failed with an error that is not the input's fault; the error is its cause."""


@contextmanager
def add_step_context(workers: DistributedContext, step: int, article_ids: Iterable[str]) -> Iterator[None]:
    """Add process, step (from 1) and the batch's articles to errors raised in the block.

    Raises:
        LinkerError: if the input or memory is at fault.
        StepError: if anything else is.
    """
    who = f"process {workers.rank} of {workers.size}: " if workers.size > 1 else ""
    where = f"{who}step {step}: "
    articles = f"articles of the batch: {', '.join(article_ids)}"
    try:
        yield
    except ConnectionLost:
        raise
    except LinkerError as error:
        raise LinkerError(f"{where}{error}; {articles}") from error
    except Exception as error:
        if out_of_memory(error):
            advice = "set trainer.chunk_tokens (or a smaller one), or fewer trainer.batches.articles"
            raise LinkerError(f"{where}not enough memory ({_line(error)}); {advice}; {articles}") from error
        raise StepError(f"{where}{type(error).__name__}: {_line(error)}; {articles}") from error


def out_of_memory(error: BaseException) -> bool:
    """Return whether this is an out-of-memory error of torch or Python."""
    if isinstance(error, (MemoryError, torch.cuda.OutOfMemoryError)):
        return True
    # torch has no class for it on CPUs.
    return isinstance(error, RuntimeError) and "can't allocate memory" in str(error)


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
