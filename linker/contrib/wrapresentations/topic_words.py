"""Words and names that reveal a text's topic, and their replacement by those of other topics."""

import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from linker.data.tokenizers.patterns import URL
from linker.data.types import Post

Kind = Literal["link", "mention", "hashtag", "name", "word"]
_PIECE = re.compile(
    rf"(?P<link>{URL})|(?P<mention>[@＠]\w+)|(?P<hashtag>[#＃]\w*[^\W\d_]\w*)|(?P<word>\w+(?:['’-]\w+)*)"
)
# Before the start of a sentence, where a capital letter is no sign of a name.
_SENTENCE_END = re.compile(r"(?:^|[.!?:;…\n][\"'”’)\]]*)\s*[\"'“‘(\[]*$")
USER = "@USER"
# A topic word's share of its topic's texts is at least this multiple of its share of the others, in at least 3 texts.
_MIN_RATIO, _MIN_TEXTS = 2.0, 3


class Piece(NamedTuple):
    """A span of a text."""

    start: int
    end: int
    kind: Kind


def pieces(text: str) -> Iterator[Piece]:
    """Yield links, mentions, hashtags, names and words, in order.

    A name is a run of capitalized words separated by single spaces. The first word of a sentence alone is not a name,
    nor is a single letter, nor any word of a text whose letters are mostly capitals.
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


def topic_words(posts: Sequence[Post], limit: int = 20) -> dict[str, list[str]]:
    """Return each topic's most characteristic words in descending order of weight.

    A word's weight is its share of the topic's texts, times the logarithm of the ratio to its share of the other
    topics' texts, with ½ added to each count. With a single topic there are no topic words.

    Args:
        posts: texts with `extra["topic"]`.
        limit: maximum number of words per topic.
    """
    texts: Counter[str] = Counter()
    holding: dict[str, Counter[str]] = defaultdict(Counter)
    for post in posts:
        topic = _topic(post)
        texts[topic] += 1
        words_of_text = (piece for piece in pieces(post.text) if piece.kind == "word")
        holding[topic].update({post.text[piece.start : piece.end].lower() for piece in words_of_text})
    everywhere = sum(holding.values(), Counter())
    characteristic = {}
    for topic, counts in holding.items():
        weights = {}
        for word, count in counts.items():
            here = (count + 0.5) / (texts[topic] + 1)
            there = (everywhere[word] - count + 0.5) / (len(posts) - texts[topic] + 1)
            if count >= _MIN_TEXTS and len(word) > 2 and here >= _MIN_RATIO * there:
                weights[word] = here * math.log(here / there)
        ordered = sorted(weights, key=lambda word: (-weights[word], word))
        characteristic[topic] = ordered[:limit] if len(texts) > 1 else []
    return characteristic


class TopicReplacer:
    """Replaces the words and names of a topic by those of other topics.

    - A topic word becomes the word of the same rank of another topic, one topic for the whole text.
    - Hashtags and names become hashtags and names of the other topics' texts, sampled by frequency.
    - Mentions become `@USER`. Links stay.

    Args:
        posts: all texts, with `extra["topic"]`.
        seed: random seed; a text's replacements do not depend on the order of the texts.
    """

    def __init__(self, posts: Sequence[Post], seed: int = 0) -> None:
        self.seed = seed
        self.words = topic_words(posts)
        self._ranks = {
            topic: {word: k for k, word in enumerate(words)} for topic, words in self.words.items()
        }
        entities: dict[tuple[str, Kind], list[str]] = defaultdict(list)
        for post in posts:
            for piece in pieces(post.text):
                if piece.kind in ("hashtag", "name"):
                    entities[_topic(post), piece.kind].append(post.text[piece.start : piece.end])
        # Of the other topics, by topic and kind.
        self._others: dict[tuple[str, Kind], list[str]] = {
            (topic, kind): [
                entity for (name, k), of in entities.items() if k == kind and name != topic for entity in of
            ]
            for topic in self.words
            for kind in ("hashtag", "name")
        }

    def replace(self, post: Post) -> tuple[str, int, int]:
        """Return the text of a post with its replacements, and the numbers of topic words and of entities replaced."""
        rng = random.Random(f"{self.seed}:{post.id}")
        topic = _topic(post)
        others = [name for name, words in self.words.items() if name != topic and words]
        substitutes = self.words[rng.choice(others)] if others else []
        words = entities = end = 0
        parts = []
        for piece in pieces(post.text):
            old = new = post.text[piece.start : piece.end]
            if piece.kind == "word":
                rank = self._ranks[topic].get(old.lower())
                if rank is not None and substitutes:
                    new = _cased(substitutes[rank % len(substitutes)], old)
                    words += 1
            elif piece.kind == "mention":
                new = USER
            elif choice := self._others.get((topic, piece.kind)):
                new = rng.choice(choice)
            entities += piece.kind != "word" and new != old
            parts += [post.text[end : piece.start], new]
            end = piece.end
        return "".join(parts) + post.text[end:], words, entities


def _topic(post: Post) -> str:
    return post.extra.get("topic") or ""


def _cased(word: str, like: str) -> str:
    return (
        word.upper() if like.isupper() and len(like) > 1 else word.capitalize() if like[0].isupper() else word
    )
