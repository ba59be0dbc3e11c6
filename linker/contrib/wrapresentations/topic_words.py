"""Words and names that give a text's topic away, and texts in which others stand in their place."""

from __future__ import annotations

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from linker.data.tokenizers.patterns import URL
from linker.data.types import Post

Kind = Literal["link", "mention", "hashtag", "name", "word"]
_PIECE = re.compile(
    rf"(?P<link>{URL})|(?P<mention>[@＠]\w+)|(?P<hashtag>[#＃]\w*[^\W\d_]\w*)|(?P<word>\w+(?:['’-]\w+)*)"
)
# What a sentence begins behind; there a capital says nothing.
_SENTENCE_END = re.compile(r"(?:^|[.!?:;…\n][\"'”’)\]]*)\s*[\"'“‘(\[]*$")
USER = "@USER"
# A topic word is in the texts of its topic at least so many times as often as in others, and in so many of them.
_CONTRAST, _FEWEST = 2.0, 3


class Piece(NamedTuple):
    """A stretch of a text."""

    start: int
    end: int
    kind: Kind


def pieces(text: str) -> Iterator[Piece]:
    """Links, mentions, hashtags, names and words, in order.

    A name is a run of words with a capital, one blank between them. The first word of a sentence is none by itself,
    nor is a single letter, nor anything in a text whose letters are capitals for the most part.
    """
    letters = [letter for letter in text if letter.isalpha()]
    shouted = sum(letter.isupper() for letter in letters) > len(letters) / 2
    run: list[Piece] = []
    for match in _PIECE.finditer(text):
        piece = Piece(match.start(), match.end(), match.lastgroup)  # type: ignore[arg-type]
        capital = piece.kind == "word" and match[0][0].isupper() and not shouted
        if run and not (capital and text[run[-1].end : piece.start] == " "):
            yield from _named(text, run)
            run = []
        if capital:
            run.append(piece)
        else:
            yield piece
    yield from _named(text, run)


def _named(text: str, run: list[Piece]) -> list[Piece]:
    if not run:
        return []
    first = run[0]
    alone = len(run) == 1 and (first.end - first.start == 1 or _SENTENCE_END.search(text[: first.start]))
    return run if alone else [Piece(first.start, run[-1].end, "name")]


def topic_words(posts: Sequence[Post], most: int = 20) -> dict[str, list[str]]:
    """Each topic's words, the most telling first: those that many of its texts have and few of the others.

    A word's weight is its share of the topic's texts, times the logarithm of how many times that is its share of the
    other topics' texts (½ added to each count). Needs two topics.

    Args:
        posts: with `extra["topic"]`.
        most: words of a topic, at most.
    """
    texts: Counter[str] = Counter()
    holding: dict[str, Counter[str]] = defaultdict(Counter)
    for post in posts:
        topic = _topic(post)
        texts[topic] += 1
        found = (piece for piece in pieces(post.text) if piece.kind == "word")
        holding[topic].update({post.text[piece.start : piece.end].lower() for piece in found})
    everywhere = sum(holding.values(), Counter())
    telling = {}
    for topic, counts in holding.items():
        weights = {}
        for word, count in counts.items():
            here = (count + 0.5) / (texts[topic] + 1)
            there = (everywhere[word] - count + 0.5) / (len(posts) - texts[topic] + 1)
            if count >= _FEWEST and len(word) > 2 and here >= _CONTRAST * there:
                weights[word] = here * math.log(here / there)
        ordered = sorted(weights, key=lambda word: (-weights[word], word))
        telling[topic] = ordered[:most] if len(texts) > 1 else []
    return telling


@dataclass
class Replaced:
    """A text with other words, and how many."""

    text: str
    words: int = 0
    entities: int = 0


class TopicChanger:
    """Puts words and names of other topics in the place of a text's own.

    - A topic word gives way to the word of the same rank of another topic, one topic for the whole text.
    - Hashtags and names give way to hashtags and names of the other topics' texts, as frequent ones as often.
    - Mentions become `@USER`. Links stay.

    Args:
        posts: all texts, with `extra["topic"]`.
        seed: decides what stands in; a text's replacements do not depend on the other texts' places in the list.
    """

    def __init__(self, posts: Sequence[Post], seed: int = 0) -> None:
        self.seed = seed
        self.words = topic_words(posts)
        self._ranks = {
            topic: {word: k for k, word in enumerate(words)} for topic, words in self.words.items()
        }
        self._entities: dict[tuple[str, Kind], list[str]] = defaultdict(list)
        for post in posts:
            for piece in pieces(post.text):
                if piece.kind in ("hashtag", "name"):
                    self._entities[_topic(post), piece.kind].append(post.text[piece.start : piece.end])
        self._others: dict[tuple[str, Kind], list[str]] = {}

    def replaced(self, post: Post) -> Replaced:
        """The text of a post with what stands in."""
        rng = random.Random(f"{self.seed}:{post.id}")
        topic = _topic(post)
        others = [name for name, words in self.words.items() if name != topic and words]
        stand_ins = self.words[rng.choice(others)] if others else []
        result, parts, end = Replaced(""), [], 0
        for piece in pieces(post.text):
            own = post.text[piece.start : piece.end]
            new = own
            if piece.kind == "word":
                rank = self._ranks[topic].get(own.lower())
                if rank is not None and stand_ins:
                    new = _cased(stand_ins[rank % len(stand_ins)], own)
                    result.words += 1
            elif piece.kind == "mention":
                new = USER
            elif piece.kind in ("hashtag", "name") and (choice := self._of_others(topic, piece.kind)):
                new = rng.choice(choice)
            result.entities += piece.kind != "word" and new != own
            parts += [post.text[end : piece.start], new]
            end = piece.end
        result.text = "".join(parts) + post.text[end:]
        return result

    def _of_others(self, topic: str, kind: Kind) -> list[str]:
        key = (topic, kind)
        if key not in self._others:
            self._others[key] = [
                one
                for (name, k), all_ in self._entities.items()
                if k == kind and name != topic
                for one in all_
            ]
        return self._others[key]


def _topic(post: Post) -> str:
    return post.extra.get("topic") or ""


def _cased(word: str, like: str) -> str:
    return (
        word.upper() if like.isupper() and len(like) > 1 else word.capitalize() if like[0].isupper() else word
    )
