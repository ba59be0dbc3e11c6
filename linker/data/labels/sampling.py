"""How labeled posts were drawn: which of them are a random sample, and of what."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from linker.data.labels.records import ImportedLabel, SampledLabels

# A label of another post does not end the sample if so many labels of the sample follow: it may be a correction, or of
# an open page. More of them do, since posts that a query strategy finds in between change the rest.
_LABELS_PER_OTHER = 20


def with_sample(
    relevance: Mapping[str, bool], labels: Iterable[ImportedLabel], posts: int | None = None
) -> SampledLabels:
    """Return relevance with the longest sample that was drawn at random from the same posts.

    By the times of labels, posts labeled before the sample could not be drawn, and those labeled after it could.

    Args:
        relevance: relevance by post id.
        labels: all labels of these posts.
        posts: number of posts that were there to be drawn or labeled; None: not known.
    """
    random: set[str] = set()
    draws: dict[str, str] = {}
    times: dict[str, datetime | None] = {}
    # Labels of the sample first, since other labels of the same posts may be older or later.
    for label in sorted(labels, key=lambda label: not _is_random(label)):
        post = label.post_id or f"text {label.text}"
        if post not in relevance or label.machine or (post in random and not _is_random(label)):
            continue
        random |= {post} if _is_random(label) else set()
        before = times.get(post, label.time)
        times[post] = min(before, label.time) if before and label.time else None
        # Near-duplicates inherit a label with its time to the microsecond.
        if label.time and label.time.microsecond:
            draws.setdefault(post, f"{label.annotator} {label.time}")
    others = {time for post, time in times.items() if post not in random}
    dated = {post: time for post, time in times.items() if time is not None}
    if len(dated) < len(relevance) or any(dated[post] in others for post in random):
        return SampledLabels(relevance, random, None, draws, posts)
    ordered = sorted(dated, key=lambda post: (dated[post], post))
    start, stop = _longest([post in random for post in ordered])
    return SampledLabels(relevance, random.intersection(ordered[start:stop]), ordered[:start], draws, posts)


def _is_random(label: ImportedLabel) -> bool:
    return (label.sample or "").strip().casefold() == "random"


def _longest(is_random: list[bool]) -> tuple[int, int]:
    """Return start and end of the stretch with the most random labels, interruptions counted against it."""
    best, start, total = (0, 0, 0), 0, 0
    for place, flag in enumerate(is_random):
        if total <= 0:
            start, total = place, 0
        total += 1 if flag else -_LABELS_PER_OTHER
        best = max(best, (total, start, place + 1), key=lambda stretch: stretch[0])
    return best[1], best[2]
