"""A post that an annotator is asked to label."""

from __future__ import annotations

from dataclasses import dataclass

from linker.annotation.pool import Pool
from linker.annotation.session.state import Assignment
from linker.data.types import Post
from linker.ranking.explanation import Explanation
from linker.models.content_words import Span, WordWeights


@dataclass(frozen=True)
class Suggestion:
    """A post to label.

    Attributes:
        post: the representative of a group of near-duplicates.
        copies: number of near-duplicates that inherit its label.
        score: the model's score for the seed articles, 0 to 100.
        position: position in the queue, from 1; 0 if it did not come from the queue.
        at_random: whether it was sampled uniformly, for a stopping rule.
        marks: character spans of the words behind the score; empty if the model cannot explain it.
        article_words: the articles' words with the largest weights, and these weights.
        note: an earlier note of this annotator.
    """

    post: Post
    copies: int
    score: float
    position: int
    at_random: bool
    marks: list[Span]
    article_words: WordWeights
    note: str = ""


def suggestion_of(
    pool: Pool, place: int, assignment: Assignment, explanation: Explanation | None, note: str
) -> Suggestion:
    """Return the suggestion for an assigned post of a pool, with its explanation and the annotator's earlier note."""
    return Suggestion(
        pool.posts[place],
        len(pool.copies[place]),
        pool.shown_scores[place],
        assignment.position,
        assignment.at_random,
        explanation.post_spans if explanation else [],
        explanation.article_words if explanation else [],
        note,
    )
