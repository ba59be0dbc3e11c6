"""The words, numbers and marks that files use for relevance labels."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

LabelValue: TypeAlias = Literal["relevant", "not", "skip"]

_WORDS: dict[LabelValue, str] = {
    "relevant": """
        relevant|is relevant|yes|y|true|t|on|x|✓|✔|☑|✅|accept|accepted|include|included|on topic|related|about
        ja|j|wahr|relevante|sí|si|sì|verdadero|oui|vrai|pertinent|pertinente|rilevante|vero|sim|verdadeiro|waar
        incluir|incluido|incluida|inclus|inclure|incluso|includere|incluído|einschließen|eingeschlossen|opnemen|opgenomen
        tak|да|evet|是|はい|relevant ja|pertinents|relevantes|rilevanti
    """,
    "not": """
        not|not relevant|irrelevant|non relevant|nonrelevant|unrelated|not related|off topic|not about|no|n|false|f|off
        reject|rejected|exclude|excluded|nein|falsch|nicht|nicht relevant|no relevante|irrelevante|falso|non|faux
        non pertinent|non pertinente|no pertinente|hors sujet|non rilevante|irrilevante|não|nao|não relevante
        nao relevante|nee|niet|onwaar|niet relevant|ausschließen|ausgeschlossen|excluir|excluido|excluida|exclu|exclus
        exclure|escluso|escludere|excluído|uitgesloten|nie|нет|hayır|否|いいえ|✗|✘|❌
    """,
    "skip": """
        skip|skipped|ignore|ignored|unsure|uncertain|unclear|maybe|not sure|undecided|don't know|dont know|dk|?|??|???
        vielleicht|unsicher|unklar|weiß nicht|weiss nicht|überspringen|übersprungen|quizá|quizás|tal vez|no sé|no se
        incierto|peut être|incertain|ne sait pas|passer|forse|incerto|non so|talvez|não sei|misschien|onzeker|weet niet
    """,
}
_MISSING = """
    na|n/a|#n/a|#na|nan|none|null|nil|<na>|nat|.|–|—|missing|unlabeled|unlabelled|not labeled|not labelled|no label
    unjudged|not judged|not annotated|pending|k. a.|k.a.|keine angabe
"""


def _words(text: str) -> list[str]:
    return [word.strip() for word in re.split(r"[|\n]", text) if word.strip()]


_VALUES: dict[str, LabelValue | None] = {
    **{word: value for value, text in _WORDS.items() for word in _words(text)},
    **dict.fromkeys(_words(_MISSING)),
    "": None,
}
#: Nested objects of tools that hold a label under one of these keys.
_INSIDE = ("choices", "choice", "rating", "taxonomy", "value", "label", "name", "text")
_EXPECTED = "use relevant, not or skip (also yes and no, 1 and 0, include and exclude)"


@dataclass(frozen=True)
class Parsed:
    """A label as a field holds it.

    Attributes:
        value: what it means; None if the post has no label.
        grade: the number, if the field holds one other than 0, 1 and -1.
        choice: its name, if it is that of a label set.
    """

    value: LabelValue | None
    grade: float | None = None
    choice: str | None = None


class UnknownLabelError(ValueError):
    """A field that is not a label.

    Attributes:
        shown: the field as text, shortened.
    """

    def __init__(self, shown: str) -> None:
        super().__init__(f"unknown label {shown!r}; {_EXPECTED}")
        self.shown = shown


def parse_label(field: Any, names: Mapping[str, LabelValue] | None = None) -> Parsed:
    """Return the label that a field holds, whatever its case and spacing.

    Args:
        field: a field of a table or JSON record: a word, number, truth value, or a list or object with one of these.
        names: names of labels in a label set, with what they mean; they precede the usual words and numbers.

    Raises:
        UnknownLabelError: if it is none, or holds several labels.
    """
    inner = _opened(field)
    if isinstance(inner, list):
        parsed_items = [parse_label(item, names) for item in inner]
        if len({(item_.value, item_.choice) for item_ in parsed_items}) > 1:
            raise UnknownLabelError(_shown(field))
        return parsed_items[0] if parsed_items else Parsed(None)
    if isinstance(inner, dict):
        raise UnknownLabelError(_shown(field))
    text = "" if inner is None else str(inner).strip()
    for name, value in (names or {}).items():
        if name.casefold() == text.casefold():
            return Parsed(value, choice=name)
    word = re.sub(r"[\s_-]+", " ", text).strip().casefold()
    if re.fullmatch(r"[+-]?\d{1,6}([.,]\d*)?", text):
        number = float(text.replace(",", "."))
        if number == -1:  # ASReview: no label; TREC: not judged
            return Parsed(None)
        if number >= 0:
            return Parsed("relevant" if number else "not", grade=None if number in (0, 1) else number)
    elif word in _VALUES:
        return Parsed(_VALUES[word])
    raise UnknownLabelError(_shown(field))


def parse_or_none(field: Any, names: Mapping[str, LabelValue] | None = None) -> Parsed | None:
    """Return the label that a field holds, as `parse_label`; None if it is none."""
    try:
        return parse_label(field, names)
    except UnknownLabelError:
        return None


def is_true(field: Any) -> bool:
    """Return whether a field says yes; what it does not say is no."""
    parsed = parse_or_none(field)
    return parsed is not None and parsed.value == "relevant"


def _opened(field: Any) -> Any:
    """Return what is inside lists in CSV, and inside objects and lists around a single value."""
    if isinstance(field, str) and field.lstrip().startswith(("[", "{")):
        try:
            field = json.loads(field)
        except ValueError:
            return field
    while True:
        if isinstance(field, dict) and (key := next((key for key in _INSIDE if key in field), None)):
            field = field[key]
        elif isinstance(field, list) and len(field) == 1:
            field = field[0]
        else:
            return field


def _shown(field: Any) -> str:
    return (field if isinstance(field, str) else json.dumps(field, ensure_ascii=False, default=str))[:60]
