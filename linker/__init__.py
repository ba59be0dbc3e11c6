"""linker: given a news article and a pile of posts, put the posts that talk about it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linker.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from linker.ranking.linker import Linker

__all__ = ["__version__", "load"]


def load(path: str | Path) -> Linker:
    """A model folder, `best`, `distilled`, `bm25` or `tfidf`, ready: `linker.load("best").rank(article, posts)`.

    Raises:
        ModelError: there is no such model, or its folder is damaged.
    """
    # Only now, so that `import linker` stays light.
    from linker.ranking.linker import load as load_linker

    return load_linker(path)
