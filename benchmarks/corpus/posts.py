"""Make any number of posts from real ones: joined halves of posts, sentences of articles, copies.

    python -m benchmarks.corpus.posts --data ../data/plazz_commentary ../data/politifact_tweets --out posts.jsonl.gz

Each folder in DATA holds posts.jsonl or articles.jsonl (or .gz), or both. The texts remain their authors': the file is
for measuring, not for publishing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import string
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from itertools import islice
from pathlib import Path
from typing import Any

from linker.common.files import atomic_write

# Shares of all posts; the rest are two halves of real posts.
RETWEETS, NEAR_COPIES, SENTENCES = 0.10, 0.05, 0.15
# Real text always has new words: this many of 1,000 words have a new spelling, ...
NEW_WORDS = 5
# ... and this many of 100 posts have a new link or a new hashtag of two words.
LINKS, HASHTAGS = 0.30, 0.10
# Copies are of recent posts: within the last N posts.
RECENT = 20_000
LANGUAGES = {"en": 70, "es": 10, "pt": 6, "fr": 5, "de": 4, "ja": 3, "und": 2}

_WORD = re.compile(r"[^\W\d_]{4,}")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_SENTENCE_WORDS = range(8, 41)


class PostMaker:
    """Endless stream of posts, reproducible for the same sources and seed.

    Args:
        posts: texts of real posts.
        sentences: sentences of real articles; if there are none, posts take their place.
        seed: of all draws.
    """

    def __init__(self, posts: Sequence[str], sentences: Sequence[str], seed: int = 13) -> None:
        self._posts = [words for text in posts if len(words := text.split()) > 1]
        self._sentences = sentences
        self._chance = random.Random(seed)
        self._recent: deque[str] = deque(maxlen=RECENT)

    @classmethod
    def read(cls, folders: Sequence[Path], seed: int = 13) -> PostMaker:
        """Take the texts of some folders."""
        sentences = [
            sentence
            for text in read_texts(folders, "articles")
            for sentence in _SENTENCE.split(" ".join(text.split()))
            if len(sentence.split()) in _SENTENCE_WORDS
        ]
        return cls(read_texts(folders, "posts"), sentences, seed)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        chance = self._chance
        languages, weights = list(LANGUAGES), list(LANGUAGES.values())
        at, id = datetime(2014, 1, 1, tzinfo=timezone.utc), 418_000_000_000_000_000
        while True:
            at += timedelta(seconds=chance.expovariate(0.5))
            id += chance.randrange(1, 1 << 30)
            yield {
                "id": str(id),
                "text": self._text(),
                "created_at": at.isoformat(timespec="milliseconds"),
                "lang": chance.choices(languages, weights)[0],
                "author": f"{chance.getrandbits(64):016x}",
                "likes": int(chance.paretovariate(0.8)) - 1,
            }

    def _text(self) -> str:
        chance = self._chance
        draw = chance.random()
        if self._recent and draw < RETWEETS:
            return f"RT @{self._name(8)}: {chance.choice(self._recent)}"
        if self._recent and draw < RETWEETS + NEAR_COPIES:
            return f"{chance.choice(self._recent)} https://t.co/{self._name(10)}"
        if self._sentences and draw < RETWEETS + NEAR_COPIES + SENTENCES:
            words = chance.choice(self._sentences).split()
        else:
            first, second = chance.choice(self._posts), chance.choice(self._posts)
            words = first[: (len(first) + 1) // 2] + second[len(second) // 2 :]
        words = [self._respelled(word) if 1000 * chance.random() < NEW_WORDS else word for word in words]
        if chance.random() < HASHTAGS:
            words.append(
                "#" + "".join(word.strip(string.punctuation).title() for word in chance.sample(words, 2))
            )
        if chance.random() < LINKS:
            words.append(f"https://t.co/{self._name(10)}")
        text = " ".join(words)
        self._recent.append(text)
        return text

    def _respelled(self, word: str) -> str:
        if not _WORD.fullmatch(word):
            return word
        at = self._chance.randrange(1, len(word) - 1)
        return (
            word[:at] + word[at] * self._chance.randrange(2, 5) + word[at + 1 + self._chance.randrange(2) :]
        )

    def _name(self, length: int) -> str:
        return "".join(self._chance.choices(string.ascii_letters + string.digits, k=length))


def write_posts(folders: Sequence[Path], count: int, path: Path, seed: int = 13) -> None:
    """Write `count` posts as compressed JSON lines; more posts begin with the same ones."""
    write_some(islice(PostMaker.read(folders, seed), count), path)


def write_some(posts: Iterable[dict[str, Any]], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path, "wb") as raw, gzip.GzipFile("", "wb", 5, raw, mtime=0) as file:
        for post in posts:
            file.write(json.dumps(post, ensure_ascii=False).encode() + b"\n")


def read_texts(folders: Sequence[Path], kind: str) -> list[str]:
    texts = []
    for path in (folder / f"{kind}.jsonl{packing}" for folder in folders for packing in ("", ".gz")):
        if path.is_file():
            with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as file:
                texts += [text for line in file if (text := json.loads(line).get("text"))]
    return texts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    write_posts(options.data, options.posts, options.out, options.seed)
    print(f"wrote {options.posts:,} posts into {options.out}")


if __name__ == "__main__":
    main()
