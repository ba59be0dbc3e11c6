"""Downloads of word vectors with a progress bar."""

from __future__ import annotations

from pathlib import Path


def fetch_named(name: str, cache: str | None = None) -> Path:
    """Download named vectors unless they are cached, with a progress bar on standard error; see `fetch_vectors`."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    from linker.common.console import stderr
    from linker.data.word_vectors.published import fetch_vectors

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        task = progress.add_task(name, total=None)
        return fetch_vectors(
            name, cache, lambda done, total: progress.update(task, completed=done, total=total)
        )
