"""Long articles by passages: whole sentences of an article that are compared with posts one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from linker.common.checks import at_least
from linker.data.types import Article, Post
from linker.models.model import Model

Passages = Literal["whole", "best", "mean"]
"""An article as one text; a post's score is that of the best passage; or the mean over the passages."""

WORDS = 50
"""About how many words a passage has."""

# A full stop or its like, closing quotes, white space, and what a sentence may begin with; or a new line.
_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]*[^\W_a-z])|(?<=[。！？])|\s*\n\s*")
_NO_END = re.compile(
    r"(?:^|[\s(\"'“‘])(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Sen|Rep|Gov|No|vs|Jan|Feb|Aug|Sept?|Oct"
    r"|Nov|Dec)|(?:[^\W\d_]\.)*[^\W\d_])\.$"
)


def sentences(text: str) -> list[str]:
    """A text in sentences, by full stops and the like, and by line ends; titles and initials end none.

    Rules of thumb for languages with full stops: at worst a passage ends in the middle of a sentence.
    """
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        sentence = text[start : match.end()].strip()
        if "\n" not in match[0] and _NO_END.search(text[start : match.start()]):
            continue
        if sentence:
            found.append(sentence)
        start = match.end()
    return [*found, rest] if (rest := text[start:].strip()) else found


def passages_of(article: Article, words: int = WORDS) -> list[Article]:
    """An article as articles, each with its title and a passage of whole sentences, about equally long.

    An article of less than one and a half times `words` stays whole. Sentences of more than `words` are cut. Words are
    what white space separates, so texts in scripts without it stay whole.

    Raises:
        LinkerError: no words.
    """
    at_least(1, words=words)
    pieces: list[list[str]] = []
    for sentence in sentences(article.text):
        split = sentence.split()
        pieces += [split[start : start + words] for start in range(0, len(split), words)]
    total = sum(map(len, pieces))
    count = max(1, round(total / words))
    if count == 1:
        return [article]
    parts: list[list[str]] = [[] for _ in range(count)]
    before = 0
    for piece in pieces:
        # Where the middle of the sentence lies decides which passage it belongs to.
        parts[int((before + len(piece) / 2) * count / total)] += piece
        before += len(piece)
    return [
        replace(article, id=f"{article.id}#{number}", text=" ".join(part))
        for number, part in enumerate(filter(None, parts), start=1)
    ]


def split_articles(articles: Sequence[Article], words: int = WORDS) -> tuple[list[Article], np.ndarray]:
    """The passages of all articles, one article after the other, and where those of each begin (int64)."""
    of_each = [passages_of(article, words) for article in articles]
    starts = np.cumsum([0, *map(len, of_each)], dtype=np.int64)[:-1]
    return [passage for passages in of_each for passage in passages], starts


def pool_passages(scores: np.ndarray, starts: np.ndarray, passages: Passages) -> np.ndarray:
    """The maximum or the mean over the passages of each article.

    Args:
        scores: passages × posts.
        starts: where the passages of each article begin.
        passages: `best` or `mean`.

    Returns:
        Articles × posts, of the same type as `scores`.
    """
    if passages == "best":
        return np.asarray(np.maximum.reduceat(scores, starts, axis=0))
    counts = np.diff(starts, append=len(scores))
    return (np.add.reduceat(scores, starts, axis=0, dtype=np.float64) / counts[:, None]).astype(scores.dtype)


class PassagePooling(Model):
    """Another model that reads articles passage by passage.

    Args:
        model: what scores.
        passages: `best`: a post's score is the highest over the passages; `mean`: their mean.
        words: about how many words a passage has, besides the title.
    """

    def __init__(self, model: Model, passages: Literal["best", "mean"], words: int = WORDS) -> None:
        self.model, self.passages, self.words = model, passages, words

    def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
        """float32, articles × posts; passages never compete with each other, so every article is scored by itself."""
        pieces, starts = split_articles(articles, self.words)
        return pool_passages(self.model.score_independently(pieces, posts), starts, self.passages)


def with_passages(model: Model, passages: Passages) -> Model:
    """A model that reads articles so."""
    return model if passages == "whole" else PassagePooling(model, passages)
