"""Summary of a corpus."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import pyarrow.compute as pc

from linker.corpus.storage.reader import batches, counts
from linker.corpus.storage.store import Store

_LANGUAGES = 8


@dataclass(frozen=True)
class CorpusSummary:
    """What a corpus contains.

    Attributes:
        posts: number of posts.
        first: time of the earliest post in UTC; None if no post has a time.
        last: time of the latest post in UTC.
        languages: language → number of posts, the most frequent first; `unknown` for posts without one.
        model: path or name of the model that encoded it.
    """

    posts: int
    first: datetime | None
    last: datetime | None
    languages: Mapping[str, int]
    model: str


def summarize(store: Store) -> CorpusSummary:
    """Summarize a corpus, reading the times and languages of all posts."""
    dataset = store.dataset()
    if dataset is None:
        return CorpusSummary(0, None, None, {}, store.facts.model)
    ends = [pc.min_max(batch.column(0)).as_py() for batch in batches(dataset, ["created_at"])]
    times = [time for of_batch in ends for time in of_batch.values() if time is not None]
    languages = {name or "unknown": count for name, count in counts(dataset, "lang").most_common()}
    first, last = min(times, default=None), max(times, default=None)
    return CorpusSummary(dataset.count_rows(), first, last, languages, store.facts.model)


def summary_lines(store: Store) -> dict[str, str]:
    """Return name → text to show, in order."""
    summary = summarize(store)
    languages = [f"{name} {count:,}" for name, count in list(summary.languages.items())[:_LANGUAGES]]
    rest = len(summary.languages) - _LANGUAGES
    return {
        "posts": f"{summary.posts:,}",
        "from": f"{summary.first:%Y-%m-%d %H:%M} UTC" if summary.first else "unknown",
        "to": f"{summary.last:%Y-%m-%d %H:%M} UTC" if summary.last else "unknown",
        "languages": ", ".join(languages) + (f" and {rest} more" if rest > 0 else "") or "unknown",
        "model": summary.model,
        "vectors": f"{store.facts.dim} dimensions, {store.facts.similarity}" if store.facts.dim else "none",
        "on disk": f"{store.size() / 1e6:,.1f} MB",
    }
