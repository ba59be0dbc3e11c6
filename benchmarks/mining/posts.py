"""Generated posts that link to articles: with cards, copied headlines, trackers, bots, reposts and shortened links."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

#: Posts in one file.
A_FILE = 200_000
_START = datetime(2026, 1, 1, tzinfo=timezone.utc)
_DAYS = 60
_TRACKERS = ("", "?utm_source=feed", "?fbclid=abc&ref=home", "#comments")
_OTHERS = (
    "https://bit.ly/3xYz{}",
    "https://www.youtube.com/watch?v={}",
    "https://news{}.example/",
    "https://x.com/someone/status/{}",
)


def _words(rng: random.Random, least: int, most: int) -> str:
    return " ".join(f"word{int(60_000 * rng.random() ** 3)}" for _ in range(rng.randint(least, most)))


def generated(posts: int, seed: int = 0) -> Iterator[dict[str, object]]:
    """Yield posts with the columns that `linker mine links` reads.

    Two fifths have no link and a fifth another link than to an article; the rest link to one of `posts / 12` articles
    of 400 sites, most of them to few articles. A third of these copy the headline, four fifths have a card.
    """
    rng = random.Random(seed)
    count = max(posts // 12, 40)

    def article(number: int) -> tuple[str, str, str, float]:
        own = random.Random(f"{seed}:{number // 3 if number % 10 == 0 else number}")
        title, text = _words(own, 6, 12), _words(own, 15, 40)
        return (
            f"https://www.site{number % 400}.example/news/story-{number}-of-the-day",
            title,
            text,
            own.random(),
        )

    for number in range(posts):
        author = (
            f"bot{rng.randrange(50)}" if rng.random() < 0.02 else f"user{int(400_000 * rng.random() ** 2)}"
        )
        at = _START + timedelta(days=_DAYS * rng.random())
        post: dict[str, object] = {
            "id": f"p{number if rng.random() > 0.01 else number // 2}",
            "text": _words(rng, 6, 25),
            "author": author,
            "lang": "en",
            "platform": "generated",
        }
        kind = rng.random()
        if kind >= 0.6:
            chosen = int(count * rng.random() ** 3)
            url, title, text, day = article(chosen)
            at = _START + timedelta(days=_DAYS * day + 10 * rng.random() ** 3)
            post["links"] = [url + rng.choice(_TRACKERS)]
            if rng.random() < 0.8:
                post |= {"card_url": url, "card_title": title, "card_description": text}
            if rng.random() < 0.33:
                post["text"] = f"{title} {post['text'] if rng.random() < 0.5 else 'via @site'}"
            if rng.random() < 0.05:
                post["repost_of"] = f"p{number - 1}"
        elif kind >= 0.4:
            post["text"] = f"{post['text']} {rng.choice(_OTHERS).format(rng.randrange(10**6))}"
        post["created_at"] = at.isoformat()
        yield post


def write_posts(folder: Path, posts: int) -> list[Path]:
    """Write generated posts to files of 200,000 posts."""
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    lines = (json.dumps(post) + "\n" for post in generated(posts))
    for start in range(0, posts, A_FILE):
        files.append(folder / f"posts-{start // A_FILE:03}.jsonl")
        with open(files[-1], "w", encoding="utf-8") as file:
            for _, line in zip(range(min(A_FILE, posts - start)), lines):
                file.write(line)
    return files
