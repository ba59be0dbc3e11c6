"""The codebook of a session: what annotators answer about each post besides its label."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from linker.common.errors import LinkerError, RefusedError
from linker.data.labels.collector import text_in
from linker.data.labels.records import ANSWER
from linker.data.labels.values import LabelValue

Answer: TypeAlias = str | int
#: Answers by the keys of their questions.
Answers: TypeAlias = dict[str, Answer]

_KEY, _CHOICE = re.compile(r"[a-z][a-z0-9_]{0,29}"), re.compile(r"\S([^\x00-\x1f]{0,98}\S)?")
_LONGEST_ANSWER = 4000
_YES_NO: dict[str, Answer] = {"yes": "yes", "true": "yes", "1": "yes", "no": "no", "false": "no", "0": "no"}


@dataclass(frozen=True)
class Question:
    """A question about a post.

    Attributes:
        key: its name in exports: up to 30 of the characters a to z, 0 to 9 and _, a letter first.
        text: what is asked.
        kind: `yes_no`; `one_of`: one of `choices`; `scale`: a whole number from `low` to `high`; `text`: a note.
        choices: what can be chosen, in order.
        low: lowest point of the scale.
        high: highest point; a scale has 2 to 11.
        low_label: what the lowest point means.
        high_label: what the highest point means.
        help: what counts, shown below the question.
        required: whether a label needs an answer to it.
        relevant_only: whether it is asked of posts labeled relevant only; else also of those labeled not relevant.
    """

    key: str
    text: str
    kind: Literal["yes_no", "one_of", "scale", "text"]
    choices: list[str] = field(default_factory=list)
    low: int = 1
    high: int = 5
    low_label: str = ""
    high_label: str = ""
    help: str = ""
    required: bool = False
    relevant_only: bool = True

    @property
    def column(self) -> str:
        """The name of its answers in files."""
        return f"{ANSWER}{self.key}"

    @property
    def options(self) -> list[Answer]:
        """The answers that it allows, in order; empty: any text."""
        if self.kind == "scale":
            return list(range(self.low, self.high + 1))
        return ["yes", "no"] if self.kind == "yes_no" else [*self.choices] if self.kind == "one_of" else []

    @property
    def hint(self) -> str:
        """The options, as the end of a message; empty if any text is allowed."""
        return f"; use {', '.join(map(str, self.options))}" if self.options else ""

    @property
    def faults(self) -> Iterator[str]:
        """What is wrong with it."""
        names, points = {choice.casefold() for choice in self.choices}, self.high - self.low + 1
        if not _KEY.fullmatch(self.key):
            yield "the key is not 1 to 30 of a to z, 0 to 9 and _, a letter first"
        if not 0 < len(self.text.strip()) <= 500:
            yield "the text is not 1 to 500 characters"
        are_names = len(names) == len(self.choices) and all(map(_CHOICE.fullmatch, names))
        if self.kind == "one_of" and not (are_names and 2 <= len(names) <= 30):
            yield "give 2 to 30 different choices of 1 to 100 characters"
        if self.kind == "scale" and not 2 <= points <= 11:
            yield f"give a scale of 2 to 11 points, not {points}"

    def parse(self, cell: Any) -> Answer | None:
        """Return the answer in a cell of a file or a typed line, whatever its case; None: there is none.

        Raises:
            RefusedError: if the question does not allow it.
        """
        text = text_in(cell).strip()
        allowed = {str(option).casefold(): option for option in self.options} or {text.casefold(): text}
        found = (_YES_NO if self.kind == "yes_no" else allowed).get(text.casefold())
        if text and (found is None or len(text) > _LONGEST_ANSWER):
            hint = self.hint or f" of {len(text):,} characters; use at most {_LONGEST_ANSWER:,}"
            raise RefusedError(f"{self.key}: unknown answer {text[:60]!r}{hint}")
        return found if text else None


@dataclass(frozen=True)
class Codebook:
    """What annotators answer about each post, as a codebook file has it.

    Attributes:
        question: what the label answers.
        labels: the label set, as `name` and `value`; empty: the usual one.
        questions: further questions, asked after the label.

    Raises:
        LinkerError: with all that is wrong with the questions.
    """

    question: str = ""
    labels: list[dict[str, str]] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def __post_init__(self) -> None:
        keys = [one.key for one in self.questions]
        faults = [f"question {one.key[:40]!r}: {fault}" for one in self.questions for fault in one.faults]
        faults += [f"question {key[:40]!r} is there twice" for key in set(keys) if keys.count(key) > 1]
        faults += ["at most 20 questions"] * (len(keys) > 20)
        if faults:
            raise LinkerError("\n".join(faults))

    def asked(self, value: LabelValue | None) -> list[Question]:
        """Return the questions that are asked of a post with a label."""
        everywhere = value == "relevant"
        return [one for one in self.questions if everywhere or (value == "not" and not one.relevant_only)]

    def kept(self, answers: Mapping[str, Any], value: LabelValue | None) -> Answers:
        """Return the answers in cells to the questions that are asked of a post with a label.

        Raises:
            RefusedError: if a question does not allow its answer.
        """
        parsed = {one.key: one.parse(answers.get(one.key)) for one in self.asked(value)}
        return {key: answer for key, answer in parsed.items() if answer is not None}

    def check(self, answers: Mapping[str, Any], value: LabelValue | None, complete: bool = True) -> Answers:
        """Return the answers of an action, as they are recorded.

        Args:
            answers: the answers.
            value: the label.
            complete: whether each required question needs an answer.

        Raises:
            RefusedError: if a question is unknown, not asked of such a post, or not answered as it must be.
        """
        kept, asked = self.kept(answers, value), self.asked(value)
        for key in answers.keys() - {one.key for one in asked}:
            keys = ", ".join(one.key for one in asked) or "none"
            raise RefusedError(f"{key[:40]}: not asked of posts labeled {value}; the questions are {keys}")
        for one in asked:
            if complete and one.required and one.key not in kept:
                raise RefusedError(f"{one.key}: an answer is required{one.hint}")
        return kept
