"""Labels that know which of their posts were drawn at random."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class SampledLabels(dict[str, bool]):
    """Relevance of posts by id, and which of the posts were drawn at random.

    Only labels of a random sample give estimates intervals: a query strategy or a person chooses posts for what is in
    them.

    Args:
        labels: relevance by post id.
        random: ids of the posts that were drawn at random.
    """

    def __init__(self, labels: Mapping[str, bool], random: Iterable[str] = ()) -> None:
        super().__init__(labels)
        self.random = frozenset(random)


def drawn_at_random(labels: Mapping[str, bool]) -> frozenset[str]:
    """Return the ids of the posts that were drawn at random; none if that is not known."""
    return labels.random if isinstance(labels, SampledLabels) else frozenset()
