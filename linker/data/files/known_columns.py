"""Names of the columns of posts in tables that no platform wrote, in order of preference."""

import re
from pathlib import Path

from linker.common.files import read_word_lists

_JOINT = re.compile(r"[\W_]+")


def normal(name: str) -> str:
    """Normalize a column's name: without case, spaces and punctuation (`Tweet Text`, `tweet_text` → `tweettext`)."""
    return _JOINT.sub("", name).casefold()


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


_LISTS = read_word_lists(Path(__file__).with_name("known_columns.ini"))
#: Titles that are read together with a text in another column than `text`, as on Reddit.
TITLES = frozenset(_LISTS.pop("titles"))
#: Normalized names by our column, in order of preference.
KNOWN_NAMES: dict[str, tuple[str, ...]] = _LISTS
