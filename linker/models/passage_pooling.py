"""Passage pooling: score each passage of a long article, then take the maximum or the mean."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from typing_extensions import override

from linker.common.checks import at_least
from linker.data.types import Article
from linker.models.features.feature import Feature
from linker.models.features.table import PostTable
from linker.models.model import Model
from linker.models.score_scale import ScoreScale

#: An article as one text, or the best or mean score over its passages.
Passages = Literal["whole", "best", "mean"]

#: Target length of a passage, in words.
WORDS = 50
# Passages that are scored together: few, because a corpus has many posts.
_AT_ONCE = 8

# Sentence-ending punctuation, closing quotes, white space, and what may start a sentence; or a line break.
_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[]*[^\W_a-z])|(?<=[。！？])|\s*\n\s*")
_NO_END = re.compile(
    r"(?:^|[\s(\"'“‘])(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Sen|Rep|Gov|No|vs|Jan|Feb|Aug|Sept?|Oct"
    r"|Nov|Dec)|(?:[^\W\d_]\.)*[^\W\d_])\.$"
)


def sentences(text: str) -> list[str]:
    """Split a text into sentences at punctuation and line breaks, but not after titles (Mr.) and initials.

    Heuristics for languages with full stops; at worst a passage ends in the middle of a sentence.
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
    """Split an article into passages of whole sentences and about equal length.

    Args:
        article: an article; shorter than one and a half times `words`, it stays whole. So do texts in scripts without
            white space between words.
        words: target length of a passage, ≥ 1; longer sentences are split.

    Returns:
        One article per passage, each with the article's title and the id `<id>#<number from 1>`.

    Raises:
        LinkerError: if `words` is below 1.
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
        # A sentence belongs to the passage that its middle falls into.
        parts[int((before + len(piece) / 2) * count / total)] += piece
        before += len(piece)
    return [
        replace(article, id=f"{article.id}#{number}", text=" ".join(part))
        for number, part in enumerate(filter(None, parts), start=1)
    ]


class PassagePooling(Model):
    """A model applied to the passages of each article.

    Args:
        model: scores the passages.
        passages: `best`: a post's score is the maximum over the passages; `mean`: their mean.
        words: target length of a passage, besides the title.
    """

    def __init__(self, model: Model, passages: Literal["best", "mean"], words: int = WORDS) -> None:
        self.model, self.passages, self.words = model, passages, words

    @override
    def score_scale(self) -> ScoreScale:
        return self.model.score_scale()

    @override
    def features(self) -> Sequence[Feature]:
        return self.model.features()

    @override
    def score_table(
        self, table: PostTable, articles: Sequence[Article], together: bool = False
    ) -> np.ndarray:
        """Return pooled scores, float32, articles × posts; each passage is scored as a query of its own."""
        pooled = np.empty((len(articles), len(table)), dtype=np.float32)
        for scores, article in zip(pooled, articles):
            pieces = passages_of(article, self.words)
            total = np.zeros(len(table))
            for number in range(0, len(pieces), _AT_ONCE):
                of_pieces = self.model.score_table(table, pieces[number : number + _AT_ONCE])
                if self.passages == "mean":
                    total += of_pieces.sum(axis=0, dtype=np.float64) / len(pieces)
                else:
                    total = np.maximum(total if number else -np.inf, of_pieces.max(axis=0))
            scores[:] = total
        return pooled


def with_passages(model: Model, passages: Passages) -> Model:
    """Return the model itself for `whole`, else the model with pooling over passages."""
    return model if passages == "whole" else PassagePooling(model, passages)
