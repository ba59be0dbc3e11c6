"""Downloads of word vectors with a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def fetch_named(name: str, cache: str | None = None) -> Path:
    """Download named vectors unless they are cached, with a progress bar on standard error.

    Args:
        name: see `fetch_vectors`.
        cache: see `fetch_vectors`.

    Raises:
        DataError: see `fetch_vectors`.
    """
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    from linker.common.console import stderr
    from linker.data.word_vectors.published import fetch_vectors

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as progress:
        task = progress.add_task(name, total=None)
        return fetch_vectors(
            name, cache, lambda done, total: progress.update(task, completed=done, total=total)
        )


def fetch_missing(name: str | None, caches: Iterable[str | None], say: Callable[[str], None]) -> None:
    """Download the vectors of `--vectors`, unless they are a file or cached.

    Args:
        name: a file or the name of published vectors; None: nothing is asked for.
        caches: where the config's components look for names.
        say: called with a line before each download.

    Raises:
        DataError: if neither a file nor a name is found, or the download fails.
    """
    from linker.training.data_options import must_fetch

    for cache in caches:
        if name is not None and must_fetch(name, cache):
            say(f"downloading the word vectors GloVe {name.removeprefix('glove.')}")
            fetch_named(name, cache)
