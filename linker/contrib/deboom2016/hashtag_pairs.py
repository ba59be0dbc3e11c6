"""Posts about the same event, told by their hashtags and times (De Boom et al. 2016, section 4.2)."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from linker.common.checks import above, at_least
from linker.common.errors import DataError
from linker.contrib.deboom2016.passages import plain_words
from linker.data.io.columns import PostColumns
from linker.data.io.line_errors import OnError
from linker.data.io.records import read_posts
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post

_HASHTAG = re.compile(r"[#＃](\w+)")
_MENTION_OR_LINK = re.compile(r"https?://\S+|www\.\S+|[@＠]\w+")
SAYS_NOTHING = frozenset({"breaking", "update", "news"})
_ALIKE = 0.5


@dataclass(frozen=True)
class _Tagged:
    """A post that may be paired."""

    post: Post
    time: datetime
    tags: frozenset[str]
    words: frozenset[str]


@PairReader.register("hashtag_pairs")
class HashtagPairs(PairReader):
    """Pairs of posts: the earlier is read as an article, the later as the post about it.

    Two posts are a pair if their hashtags' Jaccard similarity is at least 0.5, their words' is below 0.5, and not too
    much time lies between them. Of several partners a post gets the one just before it; none is in two pairs. Each
    second post's `extra["hashtags"]` has the hashtags of both, so that posts without a common one can be told.

    Args:
        posts: file or files of posts with times.
        min_words: least number of words beside hashtags, mentions and links.
        minutes: most time between the two.
        per_hashtag: at most so many pairs share any hashtag; null: all.
        columns: what the columns are called there.
        on_error: "strict" refuses files with bad lines, "skip" sets these aside and goes on.
        errors_dir: where "skip" writes `<file>.errors.jsonl`.
    """

    def __init__(
        self,
        posts: str | list[str],
        min_words: int = 5,
        minutes: float = 15.0,
        per_hashtag: int | None = None,
        columns: PostColumns | None = None,
        on_error: OnError = "strict",
        errors_dir: str = ".",
    ) -> None:
        at_least(1, min_words=min_words, per_hashtag=per_hashtag)
        above(0, minutes=minutes)
        self.posts, self.columns = posts, columns
        self.min_words, self.minutes, self.per_hashtag = min_words, minutes, per_hashtag
        self.on_error, self.errors_dir = on_error, errors_dir

    def read(self) -> LinkedPosts:
        """All pairs, by the time of their later post.

        Raises:
            DataError: bad lines in strict mode, an unreadable file, or not one pair.
        """
        posts = read_posts(self.posts, self.columns, self.on_error, self.errors_dir)
        tagged = [found for post in posts if (found := self._tagged(post)) is not None]
        tagged.sort(key=lambda one: (one.time, one.post.id))
        recent: dict[str, deque[_Tagged]] = defaultdict(deque)
        paired: set[str] = set()
        pairs_of: Counter[str] = Counter()
        firsts: list[Article] = []
        seconds: list[Post] = []
        for second in tagged:
            first = self._partner(second, recent, paired, pairs_of)
            for tag in second.tags:
                recent[tag].append(second)
            if first is None:
                continue
            paired |= {first.post.id, second.post.id}
            pairs_of.update(first.tags | second.tags)
            shared, own = first.tags & second.tags, f"{first.post.id}+{second.post.id}"
            firsts.append(
                Article(own, _text(first.post.text, shared), published=first.time, split=first.post.split)
            )
            extra = {"hashtags": sorted(first.tags | second.tags)}
            text = _text(second.post.text, shared)
            seconds.append(Post(own, text, (own,), second.time, second.post.split, extra))
        if not firsts:
            raise DataError(
                f"{self.posts}: of {len(posts):,} posts {len(tagged):,} have a time, a hashtag and {self.min_words} "
                f"words, and no two of them make a pair; allow more than {self.minutes:g} minutes"
            )
        return LinkedPosts(firsts, seconds)

    def _tagged(self, post: Post) -> _Tagged | None:
        tags = frozenset(tag.lower() for tag in _HASHTAG.findall(post.text)) - SAYS_NOTHING
        words = plain_words(_HASHTAG.sub(" ", _MENTION_OR_LINK.sub(" ", post.text)))
        if post.created_at is None or not tags or len(words) < self.min_words:
            return None
        time = post.created_at
        return _Tagged(
            post, time if time.tzinfo else time.replace(tzinfo=timezone.utc), tags, frozenset(words)
        )

    def _partner(
        self, second: _Tagged, recent: dict[str, deque[_Tagged]], paired: set[str], pairs_of: Counter[str]
    ) -> _Tagged | None:
        """The last of the recent posts that makes a pair with this one."""
        best: _Tagged | None = None
        for tag in sorted(second.tags):
            line = recent[tag]
            while line and second.time - line[0].time > timedelta(minutes=self.minutes):
                line.popleft()
            for first in reversed(line):
                if best is not None and first.time <= best.time:
                    break
                if first.post.id not in paired and self._fits(first, second, pairs_of):
                    best = first
                    break
        return best

    def _fits(self, first: _Tagged, second: _Tagged, pairs_of: Counter[str]) -> bool:
        if self.per_hashtag is not None and any(
            pairs_of[tag] >= self.per_hashtag for tag in first.tags | second.tags
        ):
            return False
        return _jaccard(first.tags, second.tags) >= _ALIKE > _jaccard(first.words, second.words)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def _text(text: str, shared: frozenset[str]) -> str:
    """The words of a post without mentions, links and the shared hashtags; other hashtags stay as words."""
    kept = _HASHTAG.sub(
        lambda tag: " " if tag[1].lower() in shared | SAYS_NOTHING else f" {tag[1]} ",
        _MENTION_OR_LINK.sub(" ", text),
    )
    return " ".join(plain_words(kept))
