"""Pairs of posts about the same event, by hashtags and times (De Boom et al. 2016, section 4.2)."""

import re
from collections import Counter, defaultdict, deque
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from linker.common.checks import above, at_least
from linker.common.errors import DataError
from linker.contrib.deboom2016.passages import plain_words
from linker.data.files.line_errors import OnError
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts
from linker.data.readers.reader import PairReader
from linker.data.types import Article, LinkedPosts, Post

_HASHTAG = re.compile(r"[#＃](\w+)")
_MENTION_OR_LINK = re.compile(r"https?://\S+|www\.\S+|[@＠]\w+")
GENERIC_TAGS = frozenset({"breaking", "update", "news"})
_MIN_JACCARD = 0.5


class _Tagged(NamedTuple):
    """A post that can be paired."""

    post: Post
    time: datetime
    tags: frozenset[str]
    words: frozenset[str]


@PairReader.register("hashtag_pairs")
class HashtagPairs(PairReader):
    """Reader of pairs of posts: the earlier becomes an article, the later the post about it.

    Two posts form a pair if the Jaccard similarity of their hashtags is at least 0.5, that of their words is below 0.5,
    and they were posted within `minutes`. Of several candidates a post gets the latest; no post is in two pairs. The
    `extra["hashtags"]` of the later post has the hashtags of both, to identify unrelated pairs.

    Paper: De Boom et al. 2016, https://arxiv.org/abs/1607.00570

    Args:
        posts: file or files of posts with times.
        min_words: minimum number of words besides hashtags, mentions and links.
        minutes: maximum time between the two posts.
        per_hashtag: maximum number of pairs that share a hashtag; null: no limit.
        columns: column names of the files.
        on_error: "strict" refuses files with invalid lines, "skip" sets these lines aside.
    """

    inputs = ("posts",)

    def __init__(
        self,
        posts: str | list[str],
        min_words: int = 5,
        minutes: float = 15.0,
        per_hashtag: int | None = None,
        columns: PostColumns | None = None,
        on_error: OnError = "strict",
    ) -> None:
        at_least(1, min_words=min_words, per_hashtag=per_hashtag)
        above(0, minutes=minutes)
        self.posts, self.columns = posts, columns
        self.min_words, self.minutes, self.per_hashtag = min_words, minutes, per_hashtag
        self.on_error = on_error

    def read(self) -> LinkedPosts:
        """Return all pairs, ordered by the time of their later post.

        Raises:
            DataError: for invalid lines in strict mode, an unreadable file, or if no two posts form a pair.
        """
        posts = read_posts(self.posts, self.columns, self.on_error)
        tagged = [candidate for post in posts if (candidate := self._tagged(post)) is not None]
        tagged.sort(key=lambda candidate: (candidate.time, candidate.post.id))
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
            shared, pair_id = first.tags & second.tags, f"{first.post.id}+{second.post.id}"
            firsts.append(
                Article(pair_id, _text(first.post.text, shared), published=first.time, split=first.post.split)
            )
            extra = {"hashtags": sorted(first.tags | second.tags)}
            text = _text(second.post.text, shared)
            seconds.append(Post(pair_id, text, (pair_id,), second.time, second.post.split, extra))
        if not firsts:
            raise DataError(
                f"{self.posts}: no two posts make a pair; {len(tagged):,} of {len(posts):,} have a time, a hashtag and "
                f"{self.min_words} words; allow more than {self.minutes:g} minutes"
            )
        return LinkedPosts(firsts, seconds)

    def _tagged(self, post: Post) -> _Tagged | None:
        tags = frozenset(tag.lower() for tag in _HASHTAG.findall(post.text)) - GENERIC_TAGS
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
        """Return the latest of the recent posts that forms a pair with `second`."""
        best: _Tagged | None = None
        for tag in sorted(second.tags):
            queue = recent[tag]
            while queue and second.time - queue[0].time > timedelta(minutes=self.minutes):
                queue.popleft()
            for first in reversed(queue):
                if best is not None and first.time <= best.time:
                    break
                if first.post.id not in paired and self._fits(first, second, pairs_of):
                    best = first
                    break
        return best

    def _fits(self, first: _Tagged, second: _Tagged, pairs_of: Counter[str]) -> bool:
        most = self.per_hashtag
        if most is not None and any(pairs_of[tag] >= most for tag in first.tags | second.tags):
            return False
        return _jaccard(first.tags, second.tags) >= _MIN_JACCARD > _jaccard(first.words, second.words)


def _jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / len(left | right)


def _text(text: str, shared: frozenset[str]) -> str:
    """Return the words of a post without mentions, links and the shared hashtags; other hashtags remain as words."""
    text_without = _HASHTAG.sub(
        lambda tag: " " if tag[1].lower() in shared | GENERIC_TAGS else f" {tag[1]} ",
        _MENTION_OR_LINK.sub(" ", text),
    )
    return " ".join(plain_words(text_without))
