"""Base class of the formats of posts: a table of paths, read by one loop."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar

from linker.config import Registrable
from linker.data.html_text import anchors, text_of_html
from linker.data.platforms.clocks import Clock, Numbered, began
from linker.data.platforms.paths import Getter, getter, has_path, lister

Record = Mapping[str, Any]
Rule = Callable[[Record], "str | None"]

#: Columns of posts that a table may fill, beside `id`, `text` and `created_at`.
KEPT = (
    *("lang", "author", "author_name", "reply_to", "quote_of", "repost_of", "thread"),
    *("card_url", "card_title", "card_description", "url"),
)
_BETWEEN = re.compile(r"[,|;\s]+(?=https?://)")
#: Codes of languages that are none: not identified, several, none, and those of X for tweets without words.
_NO_LANGUAGE = frozenset(
    ("und", "mul", "zxx", "qme", "qht", "qam", "qct", "qst", "art", "un", "unknown", "n/a", "none", "null")
)
#: Characters of a text in a column `x_…` at most: of one that a format names, and of a cell of its tables.
_LONGEST_CONTEXT, _LONGEST_CELL = 10_000, 500
#: Names of columns with people, or with texts and addresses that are in other columns.
_OF_PEOPLE = re.compile(
    r"author|user|account|name|people|person|profile|avatar|mention|handle|\bbio|owner|channel"
    r"|^text|text$|tweet$|body$|subject|^message$|^description$|url|link$|links$|^id$|_id$|created|published|^date|date$|^time|time$",
    re.IGNORECASE,
)
#: Key under which a record has the scalar values of the document around its list, such as the chat of a message.
AROUND = "^"
#: Key of the platform's `Clock` in the columns of a post.
CLOCK = "^clock"


class UnknownShapeError(ValueError):
    """A record without the keys of its format."""


class Platform(Registrable):
    """A format of posts; a subclass is a table of paths, see `linker.data.platforms.paths`, and nothing else.

    Attributes:
        title: name of the format in messages.
        signs: paths joined by ` + ` that a record of this format has (`!path`: has not); one of several such texts is
            enough.
        envelope: path of the object that all other paths start from, in records that have it.
        posts: paths of the posts in a record with several; empty: the record is one post.
        fields: our column → where its value is: an expression, or a function of the record. `quoted_text` stays in
            the column `x_quoted_text`.
        above: paths, separated by spaces, of what else the author wrote, put above the text, such as content warnings.
        below: the same, put below it, such as the options of polls and descriptions of pictures.
        context: paths, separated by spaces, of numbers and texts that stay in columns named `x_` and the last key, such
            as `x_like_count`, or `name=path` in one named otherwise. Never names of people.
        is_table: whether all columns of the format's tables, but for people's names, stay in columns named so.
        links: where addresses are, in order; `card_url` is put before them.
        since: when the platform began; earlier times of posts are impossible.
        received: path of the time at which the platform received a post; empty: records do not have it.
        numbered: functions that return the time, in milliseconds since 1970, in an id; see `clocks`.
        left_out: rules, in order, that name a record which is not kept.
        deletions: rules that return the id of a post, or the author of all posts, that a record deletes.
    """

    title: ClassVar[str] = ""
    signs: ClassVar[tuple[str, ...]] = ()
    envelope: ClassVar[str] = ""
    posts: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[Mapping[str, Any]] = {}
    above: ClassVar[str] = ""
    below: ClassVar[str] = ""
    context: ClassVar[str] = ""
    is_table: ClassVar[bool] = False
    links: ClassVar[tuple[Any, ...]] = ()
    since: ClassVar[datetime] = began(1971)
    received: ClassVar[str] = ""
    numbered: ClassVar[tuple[Numbered, ...]] = ()
    left_out: ClassVar[tuple[Rule, ...]] = ()
    deletions: ClassVar[tuple[Callable[[Record], Any], ...]] = ()

    def __init__(self) -> None:
        self._signs = [[has_path(path) for path in sign.split(" + ")] for sign in self.signs]
        self._envelope = getter(self.envelope) if self.envelope else None
        self._posts = [lister(path) for path in self.posts]
        values = {name: _compiled(field) for name, field in self.fields.items()}
        self._id, self._text = values.pop("id"), values.pop("text")
        self._created_at = values.pop("created_at", None)
        self._received = getter(self.received) if self.received else None
        self._kept = [(name, values[name]) for name in KEPT if name in values]
        self._above, self._below = (
            [lister(path) for path in paths.split()] for paths in (self.above, self.below)
        )
        names = [path.rpartition("=") if "=" in path else (path, "", path) for path in self.context.split()]
        self._context = [
            (f"x_{name.partition('|')[0].rpartition('.')[2]}", getter(path)) for name, _, path in names
        ]
        if "quoted_text" in values:
            self._context.append(("x_quoted_text", values["quoted_text"]))
        self._links = [lister(field) if isinstance(field, str) else field for field in self.links]

    def recognizes(self, record: Record) -> bool:
        """Return whether a record has the signs of this format."""
        if any(all(has(record) for has in sign) for sign in self._signs):
            return True
        inside = self.opened(record)
        return inside is not record and any(all(has(inside) for has in sign) for sign in self._signs)

    def opened(self, record: Record) -> Record:
        """Return the object in the record's envelope, or the record itself."""
        inside = self._envelope(record) if self._envelope else None
        return inside if isinstance(inside, dict) else record

    def posts_of(self, record: Record) -> list[Record]:
        """Return the posts of a record, as records; usually the one record itself."""
        inside = self.opened(record)
        if not self._posts:
            return [inside]
        inner_posts: list[Record] = [
            post for posts in self._posts for post in posts(inside) if isinstance(post, dict)
        ]
        return inner_posts or [inside]

    def deleted_by(self, record: Record) -> list[str]:
        """Return the ids of posts, and authors, that a record deletes."""
        inside = self.opened(record)
        return [str(value) for rule in self.deletions if (value := rule(inside)) is not None]

    def row(self, record: Record) -> dict[str, Any] | str:
        """Return the columns of a post, with its author in the clear; or the name that the record is left out by.

        Raises:
            UnknownShapeError: if a record is neither.
        """
        for rule in self.left_out:
            if (name := rule(record)) is not None:
                return name
        id_, text = self._id(record), self._whole_text(record)
        if id_ is None:
            path = self.fields["id"]
            path = path if isinstance(path, str) else "id"
            raise UnknownShapeError(f"no {self.title} id ({path}); keys: {_keys(record)}")
        if isinstance(text, str):
            text = text.replace("\x00", "").strip()
        if not text and text != 0:
            if self.recognizes(record):
                return "posts without text"
            raise UnknownShapeError(f"no {self.title} text; keys: {_keys(record)}")
        row: dict[str, Any] = {"id": id_, "text": text}
        row["created_at"] = None if self._created_at is None else self._created_at(record)
        of_id = (at for time_of in self.numbered if (at := time_of(record)) is not None)
        row[CLOCK] = Clock(self.since, self._received and self._received(record), of_id)
        for name, value_of in self._kept:
            value = value_of(record)
            if isinstance(value, str):
                if name != "lang" or value.lower() not in _NO_LANGUAGE:
                    row[name] = value
            elif isinstance(value, int) and not isinstance(value, bool):
                row[name] = str(value)
        links = [row["card_url"]] if "card_url" in row else []
        for urls_of in self._links:
            links += [url for url in urls_of(record) if isinstance(url, str)]
        if links:
            row["links"] = list(dict.fromkeys(links))
        for name, value_of in self._context:
            if (value := value_of(record)) is not None and _is_short(value, _LONGEST_CONTEXT):
                row[name] = value
        if self.is_table:
            row.update(_other_columns(record, row))
        return row

    def _whole_text(self, record: Record) -> Any:
        """Return all that the author wrote: content warning, text, options of a poll, descriptions of pictures."""
        text = self._text(record)
        above, below = (
            [piece.strip() for texts_of in listers for piece in texts_of(record) if isinstance(piece, str)]
            for listers in (self._above, self._below)
        )
        if not above and not below:
            return text
        middle = [text.strip()] if isinstance(text, str) else []
        return "\n\n".join(piece for piece in dict.fromkeys([*above, *middle, *below]) if piece)


def _is_short(value: Any, most: int) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= most)


def _other_columns(record: Record, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a table that are in no column of ours, and name nobody."""
    used = {str(value) for value in row.values() if isinstance(value, (str, int, float))}
    return {
        f"x_{name}": value
        for name, value in record.items()
        if value not in (None, "")
        and _is_short(value, _LONGEST_CELL)
        and str(value) not in used
        and not _OF_PEOPLE.search(name)
    }


def table(**fields: Any) -> Mapping[str, Any]:
    """Return the fields of a format: our column → an expression, or a function of the record."""
    return MappingProxyType(fields)


def hashed(author: str) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of an author: a pseudonym, the same in all files."""
    return hashlib.sha256(author.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def only(path: str, *kept: str, other: str = "other records", **names: str) -> Rule:
    """Return a rule that keeps records with one of some values, and names those with others.

    Args:
        path: where the value is.
        *kept: the values to keep.
        other: name of records with any value that is not in `names`.
        **names: value → name; `.` and `-` in values are written `_`.
    """
    value_of = getter(path)

    def rule(record: Record) -> str | None:
        value = value_of(record)
        if value in kept:
            return None
        if value is None:
            raise UnknownShapeError(f"no {path}; keys: {_keys(record)}")
        return names.get(str(value).replace(".", "_").replace("-", "_"), other)

    return rule


def without(path: str, name: str, *values: Any) -> Rule:
    """Return a rule that leaves out records with one of these values; without values, with any that is not empty."""
    value_of = getter(path)
    if values:
        return lambda record: name if value_of(record) in values else None
    return lambda record: name if value_of(record) else None


def beginning(path: str, start: str, name: str) -> Rule:
    """Return a rule that leaves out records with a text that begins with `start`."""
    value_of = getter(path)
    return lambda record: name if str(value_of(record) or "").startswith(start) else None


def where(path: str, value: Any, found: str) -> Callable[[Record], Any]:
    """Return a function that returns the value of `found` in records with a value at a path, else None."""
    value_of, found_of = getter(path), getter(found)
    return lambda record: found_of(record) if value_of(record) == value else None


def html_text(path: str) -> Callable[[Record], Any]:
    """Return a function that returns a text in HTML as plain text."""
    return _on_text(path, text_of_html)


def html_links(path: str) -> Callable[[Record], list[str]]:
    """Return a function that returns the addresses of the links in HTML, without mentions and hashtags."""
    value_of = getter(path)
    return lambda record: anchors(value) if isinstance(value := value_of(record), str) else []


def unescaped(field: str | Callable[[Record], Any]) -> Callable[[Record], Any]:
    """Return a function that returns a text with its HTML entities (`&amp;`) decoded."""
    return _on_text(field, html.unescape)


def first(*fields: str | Callable[[Record], Any]) -> Callable[[Record], Any]:
    """Return a function that returns the value of the first field that has one."""
    getters = [_compiled(field) for field in fields]
    return lambda record: next((value for field in getters if (value := field(record)) is not None), None)


def other_than(path: str, *values: Any) -> Callable[[Record], Any]:
    """Return a function that returns the value at a path unless it is one of some placeholders."""
    value_of = getter(path)
    return lambda record: None if (value := value_of(record)) in values else value


def each(path: str, *keys: str) -> Callable[[Record], list[Any]]:
    """Return a function that returns one value of each object at a path: that of the first key that it has."""
    objects_of, value_of = lister(path), getter("|".join(keys))
    return lambda record: [value_of(item) for item in objects_of(record) if isinstance(item, dict)]


def separated(*paths: str) -> Callable[[Record], list[str]]:
    """Return a function that returns the addresses in cells with several, separated by commas, bars or spaces."""
    listers = [lister(path) for path in paths]

    def addresses(record: Record) -> list[str]:
        cells = [cell for values in listers for cell in values(record) if isinstance(cell, str)]
        return [address for cell in cells for address in _BETWEEN.split(cell.strip()) if "://" in address]

    return addresses


def joined(*paths: str) -> Callable[[Record], Any]:
    """Return a function that joins the texts at some paths; all values of a path with lists."""
    listers = [lister(path) for path in paths]

    def join(record: Record) -> str | None:
        texts = [text for values in listers for text in values(record) if isinstance(text, str)]
        return "\n\n".join(texts) or None

    return join


def _on_text(field: str | Callable[[Record], Any], change: Callable[[str], str]) -> Callable[[Record], Any]:
    value_of = _compiled(field)

    def changed(record: Record) -> Any:
        value = value_of(record)
        return change(value) if isinstance(value, str) else value

    return changed


def _compiled(field: Any) -> Getter:
    return getter(field) if isinstance(field, str) else field


def _keys(record: Iterable[str]) -> str:
    keys = list(record)
    return ", ".join(keys[:8]) + (", …" if len(keys) > 8 else "") if keys else "none"
