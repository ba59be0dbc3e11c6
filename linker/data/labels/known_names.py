"""Names of the columns of labels, in their normal form (see `normal`) and in order of preference."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from linker.common.files import read_word_lists
from linker.data.files.known_columns import KNOWN_NAMES, normal, words

_LISTS = read_word_lists(Path(__file__).with_name("known_names.ini"))
#: Labels; and those of files of labels only, since in files of posts these columns are often of something else.
LABELS, LOOSE_LABELS = _LISTS["labels"], _LISTS["loose labels"]
#: Ids of posts; `id` may be a number that a tool gave.
IDS = (*_LISTS["ids"], *(name for name in KNOWN_NAMES["id"] if name != "guid"), "guid", "recordid")
CODERS, ADJUDICATED = _LISTS["coders"], _LISTS["adjudicated"]
ARTICLES, MACHINES = words("articleid articleids"), words("machine ismachine")
#: What else is read of a label and its post.
OTHERS = {name.removeprefix("other "): _LISTS[name] for name in _LISTS if name.startswith("other ")}
OTHERS |= {"machine": MACHINES, "text": (*KNOWN_NAMES["text"], "abstract")}

_PEOPLE = ("coder", "rater", "annotator", "reviewer", "screener", "codierer", "kodierer")
_JUDGED = "label|relevant|relevance|code|coding|rating|judge?ment|included|decision"
_OF_CODER = re.compile(
    rf"(?P<kind>{_JUDGED}|{'|'.join(_PEOPLE)})s?[\s_.:/-]*(?P<name>[^\s_.:/-].*)", re.IGNORECASE
)
_BY_CODER = re.compile(rf"(?P<name>.*[^\s_.:/-])[\s_.:/-]+(?P<kind>{_JUDGED})", re.IGNORECASE)
# Before the columns of a batch of Mechanical Turk: `Input.post_id`, `Answer.relevant`.
_OF_MTURK = re.compile(r"^(Input|Answer)\.")
# Parts of names of columns about labels that are none, such as `label_time` and `annotator_id`.
_NO_CODER = re.compile(
    r"(id|ids|name|names|time|date|at|by|note|notes|comment|comments|email|confidence|score|source|set|type|text|url|"
    r"count|users?|status|reason|probability)"
)


def columns_of(names: Sequence[str], present: Iterable[str]) -> list[str]:
    """Return the columns that have one of these names, in the order of the names."""
    order = {name: rank for rank, name in reversed(list(enumerate(names)))}
    return sorted((name for name in present if _plain(name) in order), key=lambda name: order[_plain(name)])


def coder_of(name: str) -> str | None:
    """Return the coder of a column with one coder's labels: `label_anna`, `Coder 1`; None if it is no such column."""
    if normal(name) in (*LABELS, *LOOSE_LABELS, *CODERS, *ADJUDICATED):
        return None
    match = _OF_CODER.fullmatch(name.strip()) or _BY_CODER.fullmatch(name.strip())
    if match is None or _NO_CODER.fullmatch(match["name"].casefold()):
        return None
    return name.strip() if match["kind"].lower().startswith(_PEOPLE) else match["name"].strip(" ()[]")


def _plain(name: str) -> str:
    return normal(_OF_MTURK.sub("", name))
