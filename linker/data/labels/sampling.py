"""How labeled posts were drawn: which of them are a random sample, and of what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
    of_post: dict[str, list[ImportedLabel]] = {}
    for label in labels:
        if not label.machine:
            of_post.setdefault(label.post_id or f"text {label.text}", []).append(label)
    drawn = {
        post: [label for label in of_post[post] if (label.sample or "").strip().casefold() == "random"]
        for post in relevance
    }
    random = {post: labels for post, labels in drawn.items() if labels}
    draws: dict[str, int] = {}
    numbers: dict[object, int] = {}
    for post, (label, *_) in random.items():
        # Near-duplicates inherit a label with its time to the microsecond.
        if label.time is not None and label.time.microsecond:
            draws[post] = numbers.setdefault((label.annotator, label.time), len(numbers))
    times = {
        post: [label.time for label in random.get(post) or of_post[post] if label.time is not None]
        for post in relevance
    }
    others = {min(found) for post, found in times.items() if found and post not in random}
    if not all(times.values()) or any(min(times[post]) in others for post in random):
        return SampledLabels(relevance, random, None, draws, posts)
    ordered = sorted(relevance, key=lambda post: (min(times[post]), post))
    start, stop = _longest([post in random for post in ordered])
    return SampledLabels(
        relevance,
        [post for post in ordered[start:stop] if post in random],
        ordered[:start],
        draws,
        posts,
    )


def _longest(is_random: list[bool]) -> tuple[int, int]:
    """Return start and end of the stretch with the most random labels, interruptions counted against it."""
    best, start, total = (0, 0, 0), 0, 0
    for place, flag in enumerate(is_random):
        if total <= 0:
            start, total = place, 0
        total += 1 if flag else -_LABELS_PER_OTHER
        best = max(best, (total, start, place + 1), key=lambda stretch: stretch[0])
    return best[1], best[2]
