"""Label posts in the terminal with single keys."""

from __future__ import annotations

import math
import os
import select
import sys
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from linker.annotation.session.agreement import Agreement, finite
from linker.annotation.session.assignment import Suggestion
from linker.annotation.session.events import Event
from linker.annotation.session.review import Dispute, MachineAgreement, Review, Share
from linker.annotation.session.session import Session
from linker.annotation.session.status import Status
from linker.common.errors import LinkerError, RefusedError
from linker.data.labels.values import LabelValue
from linker.ranking.explanation import printable
from linker.ranking.output import marked_text
from linker.ranking.ranked_post import segments


def suggestion_text(suggestion: Suggestion, terminal: bool) -> Text:
    """Return a post with its details above."""
    post = suggestion.post
    facts = [f"post {post.id}", *([] if suggestion.score is None else [f"score {suggestion.score:.1f}"])]
    if suggestion.copies:
        facts.append(f"{suggestion.copies} near-duplicate{'s' if suggestion.copies > 1 else ''}")
    if post.created_at is not None:
        facts.append(f"{post.created_at:%Y-%m-%d %H:%M}")
    if suggestion.at_random:
        facts.append("sampled at random")
    shown = Text().append(printable(" · ".join(facts)), "dim").append("\n")
    shown.append_text(marked_text(segments(post.text, suggestion.marks), terminal))
    if suggestion.note:
        shown.append(f"\nnote: {printable(suggestion.note)}", "italic")
    return shown


def plain(text: str) -> Text:
    """Return the lines of untrusted text without terminal escape sequences."""
    return Text("\n".join(printable(line) for line in text.splitlines()))


def and_copies(copies: int) -> str:
    """Return the end of a line on posts to label; empty if none has near-duplicates."""
    return f", and {copies:,} near-duplicate{'' if copies == 1 else 's'} of them" if copies else ""


def status_text(session: Session, status: Status) -> str:
    """Return the progress of a session in lines."""
    copies = len(session.posts) - status.posts
    lines = [
        f"{session.name}: {status.posts:,} posts to label{and_copies(copies)}",
        f"labeled    {status.labeled:,} ({status.labeled / status.posts:.0%}), {status.relevant:,} relevant, "
        f"{status.skipped:,} skipped"
        + (
            f"; with near-duplicates {status.labeled + status.copies_labeled:,}"
            if status.copies_labeled
            else ""
        ),
        f"left       {status.estimate.sentence}: {status.estimate.basis}",
        f"rule       {'stop' if status.decision.stop else 'continue'}: {status.decision.reason}",
    ]
    if status.annotators:
        people = ", ".join(f"{printable(name)} {count:,}" for name, count in status.annotators.items())
        lines.append(f"by         {people}")
    if status.waiting:
        lines.append(f"waiting    {status.waiting:,} posts for the label of a second person")
    if status.disputed:
        lines.append(f"disputed   {status.disputed:,} posts; `linker annotate agreement` lists them")
    return "\n".join(lines)


def agreement_text(review: Review) -> str:
    """Return the inter-annotator agreement, that of machines with people, and every disagreement."""
    lines = [line for machine in review.machines for line in _machine_lines(machine)]
    agreement = review.agreement
    if not agreement.units:
        lines.append("no post has the labels of two annotators; start a session with --overlap for that")
        return "\n".join(lines)
    lines += [
        f"posts with two labels or more   {agreement.units:,}",
        f"percent agreement               {agreement.percent:.1%}",
        f"Krippendorff's α                {_figure(agreement.alpha)}  ({_interval(agreement)})",
        *(
            f"Cohen's κ                       {_figure(kappa)}  {printable(' and '.join(pair))}"
            for pair, kappa in review.kappas.items()
        ),
        f"disagreements                   {len(review.disputes):,}",
    ]
    if review.revised:
        lines.append(f"changed after others were seen  {review.revised:,}, counted as they were before")
    for key, (found, disputes) in review.answers.items():
        share = f"{found.percent:.1%} agreement, α {_figure(found.alpha)} ({_interval(found)})"
        lines.append(f"answers to {key:<20} {found.units:,} posts, {share}, {len(disputes):,} disagreements")
        lines += [
            printable(
                f"  {one.post.id}: {', '.join(f'{who} {answer}' for who, answer in one.answers(key).items())}"
            )
            for one in disputes
        ]
    for dispute in review.disputes:
        labels = ", ".join(
            f"{name} {'relevant' if relevant else 'not'}" for name, relevant in _votes(dispute).items()
        )
        now = f"{labels}; now {'relevant' if dispute.holds else 'not'}"
        lines += ["", printable(f"{dispute.post.id}: {now}"), f"  {printable(dispute.post.text)}"]
    return "\n".join(lines)


def _votes(dispute: Dispute) -> dict[str, bool]:
    return {name: label.value == "relevant" for name, label, _ in dispute.labels if label.value != "skip"}


def _machine_lines(machine: MachineAgreement) -> list[str]:
    def share(found: Share) -> str:
        if not found.count:
            return "not known"
        return f"{found.hits / found.count:.0%} ({found.low:.0%} to {found.high:.0%})"

    return [
        f"machine    {printable(machine.machine)}: {machine.labels:,} labels, {machine.posts:,} of them on posts that "
        f"people labeled ({machine.sampled:,} sampled at random)",
        f"           κ with people {_figure(machine.kappa)}, precision {share(machine.precision)}, "
        f"recall {share(machine.recall)}",
    ]


def agreement_record(review: Review) -> dict[str, Any]:
    """Return the agreement as JSON values; undefined values are null."""
    return {
        **review.agreement.as_json(),
        "revised": review.revised,
        "kappas": [
            {"annotators": list(pair), "kappa": finite(kappa)} for pair, kappa in review.kappas.items()
        ],
        "disagreements": [
            {"post": dispute.post.id, "labels": _votes(dispute), "holds": dispute.holds}
            for dispute in review.disputes
        ],
        "questions": {
            key: {
                **found.as_json(),
                "disagreements": [{"post": one.post.id, "answers": one.answers(key)} for one in disputes],
            }
            for key, (found, disputes) in review.answers.items()
        },
        "machines": [{**asdict(one), "kappa": finite(one.kappa)} for one in review.machines],
    }


def _figure(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{value:.3f}"


def _interval(agreement: Agreement) -> str:
    if agreement.interval is None:
        return f"no interval: {agreement.why_no_interval}"
    low, high = agreement.interval
    return f"95 % interval {low:.3f} to {high:.3f}"


VALUE_KEYS: dict[str, LabelValue] = {"r": "relevant", "n": "not", "s": "skip"}
_HELP = "r relevant · n not · s skip · u undo · e note · a article · g guidelines · i how far · q quit"


class Keys:
    """Single keys from a terminal.

    Raises:
        LinkerError: if standard input is not a terminal.
    """

    def __init__(self) -> None:
        try:
            import termios
            import tty
        except ImportError as error:  # Windows
            raise LinkerError(
                "single keys need a terminal of Linux or macOS; use `linker serve`, "
                "or `linker annotate next` and `linker annotate label`"
            ) from error
        if sys.stdin is None or not sys.stdin.isatty():
            raise LinkerError(
                "standard input is not a terminal; in scripts use `linker annotate next` and `linker annotate label`"
            )
        self._termios, self._tty = termios, tty
        self._file = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._file)

    def __enter__(self) -> Keys:
        # TCSADRAIN keeps what was typed in the meantime.
        self._tty.setcbreak(self._file, self._termios.TCSADRAIN)
        return self

    def __exit__(self, *error: object) -> None:
        self._termios.tcsetattr(self._file, self._termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Return the next key in lower case; empty at the end of input; a blank for arrow keys and the like."""
        key = os.read(self._file, 1)
        if key == b"\x1b":
            if self._follows() and os.read(self._file, 1) in (b"[", b"O"):
                while self._follows() and not b"@" <= os.read(self._file, 1) <= b"~":
                    pass
            return " "
        return key.decode("ascii", "replace").lower()

    def _follows(self) -> bool:
        """Return whether the same key sends more bytes at once."""
        return bool(select.select([self._file], [], [], 0.05)[0])

    def line(self, prompt: str) -> str | None:
        """Return a typed line; None at the end of input."""
        self.__exit__(None, None, None)
        try:
            return input(prompt)
        except EOFError:
            return None
        finally:
            self.__enter__()


class AnnotationLoop:
    """One annotator at a terminal."""

    def __init__(self, session: Session, annotator: str, console: Console) -> None:
        self.session, self.annotator, self.console = session, annotator, console
        self._stop_shown = False

    def work(self, keys: Keys) -> None:
        """Show posts and take keys until there are no more posts or the annotator quits."""
        if self.session.guidelines:
            self._show(plain(self.session.guidelines))
        self._show(Text(_HELP, "dim"))
        while suggestions := self.session.next(self.annotator):
            self._report_progress()
            self._show(suggestion_text(suggestions[0], self.console.is_terminal))
            while (again := self._take(keys, suggestions[0])) is None:
                pass
            if not again:
                return
        self._show("nothing is left for you to label")

    def _take(self, keys: Keys, suggestion: Suggestion) -> bool | None:
        """Handle a key. Returns False to quit and None to stay at the same post."""
        key = keys.read()
        if key in VALUE_KEYS:
            asked = self.session.codebook.asked(VALUE_KEYS[key])
            answers = {
                one.key: keys.line(printable(f"{one.text}{one.hint.replace('; use', ':')} ")) or ""
                for one in asked
            }
            try:
                self.session.act(
                    Event("label", self.annotator, suggestion.post.id, VALUE_KEYS[key], answers=answers)
                )
            except RefusedError as error:
                self._show(printable(str(error)))
                return None
            self._show(f"→ {VALUE_KEYS[key]}")
            return True
        if key == "u":
            if self.session.undo(self.annotator) is None:
                self._show("nothing to take back")
                return None
            self._show("← taken back")
            return True
        if key in ("q", "", "\x04"):
            return False
        if key == "e":
            note = keys.line("note: ")
            if note is not None:
                self.session.note(self.annotator, suggestion.post.id, note)
                self._show("noted")
        elif key == "a":
            for article in self.session.articles:
                self._show(plain(article.full_text))
        elif key == "g":
            self._show(plain(self.session.guidelines or "no guidelines were given"))
        elif key == "i":
            self._show(Text(status_text(self.session, self.session.status())))
        elif key not in (" ", "\n"):
            self._show(Text(_HELP, "dim"))
        return None

    def _report_progress(self) -> None:
        status = self.session.status()
        line = f"{status.labeled:,} labeled · {status.relevant:,} relevant"
        self.console.rule(Text(line, "dim"), style="dim", align="left")
        if status.advice.stop and not self._stop_shown:
            self._stop_shown = True
            self._show(
                Text(f"You may stop: {status.decision.reason}. q quits; you can also continue.", "bold")
            )

    def _show(self, what: str | Text) -> None:
        self.console.print(what, highlight=False, markup=False)
