"""linker: rank social-media posts by how likely they are to discuss a news article.

import linker

ranking = linker.load("best").rank("https://news.example/otters-return", "posts.csv")
"""

from __future__ import annotations

from linker.version import __version__

# As in `typing`, whose import takes time in which Ctrl-C shows a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from linker.common.errors import LinkerError
    from linker.corpus.corpus import Corpus
    from linker.data.types import Article, Post
    from linker.ranking.ranked_post import RankedPost
    from linker.ranking.ranker import Ranker, load
    from linker.ranking.results import Ranking

__all__ = [
    "Article", "Corpus", "LinkerError", "Post", "RankedPost", "Ranker", "Ranking", "__version__", "load",
]  # fmt: skip

# Imported when they are first used, so that `import linker` stays light.
_WHERE = {
    "Article": "linker.data.types",
    "Corpus": "linker.corpus.corpus",
    "Ranker": "linker.ranking.ranker",
    "LinkerError": "linker.common.errors",
    "Post": "linker.data.types",
    "RankedPost": "linker.ranking.ranked_post",
    "Ranking": "linker.ranking.results",
    "load": "linker.ranking.ranker",
}


if not TYPE_CHECKING:  # Type checkers would accept any name.

    def __getattr__(name: str) -> object:
        if name not in _WHERE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        value = getattr(import_module(_WHERE[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
