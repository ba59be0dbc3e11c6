"""What `linker annotate` shows: posts, and how far a session is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.text import Text

from linker.annotation.session import Session, Suggestion
from linker.annotation.status import Agreement, Status
from linker.ranking.output import marked_text, printable

_LEVELS = " ▁▂▃▄▅▆▇█"
_ROWS = 6
_COLUMNS = 60


def suggestion_text(suggestion: Suggestion, terminal: bool) -> Text:
    """A post, what is known of it above."""
    post = suggestion.post
    facts = [f"post {post.id}", f"score {suggestion.score:.4f}"]
    if suggestion.copies:
        facts.append(f"{suggestion.copies} near-duplicate{'s' if suggestion.copies > 1 else ''}")
    if post.created_at is not None:
        facts.append(f"{post.created_at:%Y-%m-%d %H:%M}")
    if suggestion.at_random:
        facts.append("drawn at random")
    shown = Text().append(printable(" · ".join(facts)), "dim").append("\n")
    shown.append_text(marked_text(post.text, suggestion.marks, terminal))
    if suggestion.note:
        shown.append(f"\nnote: {printable(suggestion.note)}", "italic")
    return shown


def plain(text: str) -> Text:
    """Lines of somebody's text, without what would steer the terminal."""
    return Text("\n".join(printable(line) for line in text.splitlines()))


def progress_line(status: Status) -> str:
    """How far the session is, in a line."""
    return f"{status.labelled:,} labelled · {status.relevant:,} relevant · {left(status)} left"


def left(status: Status) -> str:
    """The estimate of relevant posts left, in a few words."""
    estimate = status.estimate
    if estimate.low == estimate.high:
        return f"{estimate.low:,}"
    return f"about {estimate.middle:,} ({estimate.low:,} to {estimate.high:,})"


def status_text(session: Session, status: Status) -> str:
    """How far a session is, with the curve of the finds."""
    copies = len(session.posts) - status.posts
    lines = [
        f"{session.name}: {status.posts:,} posts to label"
        + (f", and {copies:,} near-duplicates of them" if copies else ""),
        f"labelled   {status.labelled:,} ({status.labelled / status.posts:.0%}), {status.relevant:,} relevant, "
        f"{status.skipped:,} skipped"
        + (
            f"; with near-duplicates {status.labelled + status.copies_labelled:,}"
            if status.copies_labelled
            else ""
        ),
        f"left       {left(status)} relevant posts"
        + (f", {status.estimate.confidence:.0%} sure" if status.estimate.confidence < 1 else "")
        + f": {status.estimate.basis}",
        f"rule       {'stop' if status.decision.stop else 'go on'}: {status.decision.reason}",
    ]
    if status.annotators:
        people = ", ".join(f"{printable(name)} {count:,}" for name, count in status.annotators.items())
        speed = f"; {status.per_hour:,.0f} labels an hour of work" if status.per_hour else ""
        lines.append(f"by         {people}{speed}")
    if status.disputed:
        lines.append(f"disputed   {status.disputed:,} posts; `linker annotate agreement` lists them")
    if status.problem:
        lines.append(f"problem    {printable(status.problem)}")
    return "\n".join([*lines, *curve_picture(status.curve)])


def agreement_text(session: Session, agreement: Agreement) -> str:
    """How far annotators agree, and every post on which they do not."""
    if not agreement.posts:
        return "no post has the labels of two annotators; start a session with --overlap for that"
    lines = [
        f"posts with two labels or more   {agreement.posts:,}",
        f"Krippendorff's α                {_figure(agreement.alpha)}",
        *(
            f"Cohen's κ                       {_figure(kappa)}  {printable(' and '.join(pair))}"
            for pair, kappa in agreement.kappas.items()
        ),
        f"disagreements                   {len(agreement.disagreements):,}",
    ]
    texts = {post.id: post.text for post in session.pool.posts}
    for one in agreement.disagreements:
        said = ", ".join(f"{name} {'relevant' if value else 'not'}" for name, value in one.labels.items())
        holds = "relevant" if agreement.holds[one.post_id] else "not"
        lines += ["", printable(f"{one.post_id}: {said}; now {holds}"), f"  {printable(texts[one.post_id])}"]
    return "\n".join(lines)


def agreement_record(agreement: Agreement) -> dict[str, Any]:
    """The same as JSON values; what is not defined is null."""
    return {
        "posts": agreement.posts,
        "alpha": _number(agreement.alpha),
        "kappas": [
            {"annotators": list(pair), "kappa": _number(kappa)} for pair, kappa in agreement.kappas.items()
        ],
        "disagreements": [
            {"post": one.post_id, "labels": one.labels, "holds": agreement.holds[one.post_id]}
            for one in agreement.disagreements
        ],
    }


def _figure(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{value:.3f}"


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


def curve_picture(curve: Sequence[int]) -> list[str]:
    """Relevant posts found, from the first label to the last, as lines of text; none before the first find."""
    if not curve or not curve[-1]:
        return []
    columns = min(_COLUMNS, len(curve))
    ends = [(column + 1) * len(curve) // columns - 1 for column in range(columns)]
    eighths = [round(curve[end] / curve[-1] * _ROWS * 8) for end in ends]
    width = len(f"{curve[-1]:,}")
    rows = []
    for row in reversed(range(_ROWS)):
        label = f"{curve[-1]:,}" if row == _ROWS - 1 else "0" if row == 0 else ""
        rows.append(
            f"{label:>{width}} │"
            + "".join(_LEVELS[min(8, max(0, high - 8 * row))] for high in eighths).rstrip()
        )
    after = f"{len(curve):,} labels"
    return [
        "",
        "relevant posts found",
        *rows,
        f"{'':>{width}} └{'─' * columns}",
        f"{'':>{width}}  {after:>{columns}}",
    ]
