"""Base class of the formats of posts: a table of paths, read by one loop."""

import hashlib
import html
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar

from linker.config import Registrable
from linker.data.html_text import anchors, text_of_html
from linker.data.platforms.paths import Getter, getter, has_path, lister

Record = Mapping[str, Any]
#: A path, several of which the first with a value counts, or a function of the record.
Field = str | tuple["Field", ...] | Getter
#: A path and the names by its values (`*`: others, empty: kept), or the name of any value; or a function.
Rule = tuple[str, "str | Mapping[str, str]"] | Callable[[Record], "str | None"]

#: Values that mean none: languages not identified, several, and those of X for tweets without words; deleted authors.
_NO_LANGUAGE = (
    "und", "mul", "zxx", "qme", "qht", "qam", "qct", "qst", "art", "un", "unknown", "n/a", "none", "null",
)  # fmt: skip
_NONE = {"lang": _NO_LANGUAGE, "author": ("[deleted]", "[removed]"), "reply_to": ("0", "root")}
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
#: Before the id of a version that an edited post replaces, among deleted ids.
OLDER = "older version "
#: Key in the columns of a post of the time at which its platform received it.
RECEIVED = "^received"


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
        fields: our column → where its value is. `quoted_text` stays in the column `x_quoted_text`.
        above: paths, separated by spaces, of what else the author wrote, put above the text, such as content warnings.
        below: the same, put below it, such as the options of polls and descriptions of pictures.
        has_entities: whether `&` is `&amp;` in texts.
        context: paths, separated by spaces, of numbers and texts that stay in columns named `x_` and the last key, such
            as `x_like_count`, or `name=path` in one named otherwise. Never names of people.
        is_table: whether all columns of the format's tables, but for people's names, stay in columns named so.
        links: where addresses are, in order; `card_url` is put before them.
        received: path of the time at which the platform received a post; empty: records do not have it.
        left_out: rules, in order, that name a record which is not kept.
        deletions: signs of a record that deletes something, each with the path of the post's id, or of the author of
            all posts; or with a function that returns a list of ids.
    """

    title: ClassVar[str] = ""
    signs: ClassVar[tuple[str, ...]] = ()
    envelope: ClassVar[str] = ""
    posts: ClassVar[tuple[str, ...]] = ()
    fields: ClassVar[Mapping[str, Field]] = {}
    above: ClassVar[str] = ""
    below: ClassVar[str] = ""
    has_entities: ClassVar[bool] = False
    context: ClassVar[str] = ""
    is_table: ClassVar[bool] = False
    links: ClassVar[tuple[Any, ...]] = ()
    received: ClassVar[str] = ""
    left_out: ClassVar[tuple[Rule, ...]] = ()
    deletions: ClassVar[tuple[tuple[str, str | Callable[[Record], list[str]]], ...]] = ()

    def __init__(self) -> None:
        self._signs = [[has_path(path) for path in sign.split(" + ")] for sign in self.signs]
        self._envelope = getter(self.envelope) if self.envelope else None
        self._posts = [lister(path) for path in self.posts]
        values = {name: _compiled(field) for name, field in self.fields.items()}
        self._id, self._text = values.pop("id"), values.pop("text")
        self._created_at = values.pop("created_at", lambda record: None)
        quoted_text = values.pop("quoted_text", None)
        self._columns = list(values.items())
        self._received = getter(self.received) if self.received else None
        self._above, self._below = (
            [lister(path) for path in paths.split()] for paths in (self.above, self.below)
        )
        names = [path.rpartition("=") if "=" in path else (path, "", path) for path in self.context.split()]
        self._context = [
            (f"x_{name.partition('|')[0].rpartition('.')[2]}", getter(path)) for name, _, path in names
        ]
        if quoted_text is not None:
            self._context.append(("x_quoted_text", quoted_text))
        self._links = [lister(field) if isinstance(field, str) else field for field in self.links]
        self._left_out = [rule if callable(rule) else _rule(*rule) for rule in self.left_out]
        self._deletions = [
            (has_path(sign), path if callable(path) else getter(path)) for sign, path in self.deletions
        ]

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
        posts = (post for posts_in in self._posts for post in posts_in(inside))
        inner: list[Record] = [post for post in posts if isinstance(post, dict)]
        return inner or [inside]

    def deleted_by(self, record: Record) -> list[str]:
        """Return the ids of posts, and authors, that a record deletes."""
        inside = self.opened(record)
        deleted = [value_of(inside) for has, value_of in self._deletions if has(inside)]
        ids = chain.from_iterable(ids if isinstance(ids, list) else [ids] for ids in deleted)
        return [str(id_) for id_ in ids if id_ is not None]

    def row(self, record: Record) -> dict[str, Any] | str:
        """Return the columns of a post, with its author in the clear; or the name that the record is left out by.

        Raises:
            UnknownShapeError: if a record is neither.
        """
        for rule in self._left_out:
            if name := rule(record):
                return name
        id_, text = self._id(record), self._whole_text(record)
        if id_ is None:
            path = self.fields["id"]
            path = path if isinstance(path, str) else "id"
            raise UnknownShapeError(f"no {self.title} id ({path}); keys: {_keys(record)}")
        if not text and text != 0:
            if self.recognizes(record):
                return "posts without text"
            raise UnknownShapeError(f"no {self.title} text; keys: {_keys(record)}")
        row: dict[str, Any] = {"id": id_, "text": text, "created_at": self._created_at(record)}
        row[RECEIVED] = self._received and self._received(record)
        for name, value_of in self._columns:
            value = value_of(record)
            if isinstance(value, (str, int)) and not isinstance(value, bool):
                value = str(value)
                if name not in _NONE or value.lower() not in _NONE[name]:
                    row[name] = value
        links = [row["card_url"]] if "card_url" in row else []
        for urls_of in self._links:
            links += [url for url in urls_of(record) if isinstance(url, str)]
        if links:
            row["links"] = list(dict.fromkeys(links))
        for name, value_of in self._context:
            if (value := self._decoded(value_of(record))) is not None and _is_short(value, _LONGEST_CONTEXT):
                row[name] = value
        if self.is_table:
            row.update(_other_columns(record, row))
        return row

    def _whole_text(self, record: Record) -> Any:
        """Return all that the author wrote: content warning, text, options of a poll, descriptions of pictures."""
        text = self._decoded(self._text(record))
        text = text.replace("\x00", "").strip() if isinstance(text, str) else text
        above, below = (
            [
                self._decoded(piece).strip()
                for texts_of in listers
                for piece in texts_of(record)
                if isinstance(piece, str)
            ]
            for listers in (self._above, self._below)
        )
        if not above and not below:
            return text
        return "\n\n".join(
            filter(None, dict.fromkeys([*above, text if isinstance(text, str) else "", *below]))
        )

    def _decoded(self, value: Any) -> Any:
        return html.unescape(value) if self.has_entities and isinstance(value, str) else value


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


def table(**fields: Field) -> Mapping[str, Field]:
    """Return the fields of a format: our column → where its value is."""
    return MappingProxyType(fields)


def hashed(author: str) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of an author: a pseudonym, the same in all files."""
    return hashlib.sha256(author.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def html_text(path: str) -> Getter:
    """Return a function that returns a text in HTML as plain text."""
    value_of = getter(path)
    return lambda record: text_of_html(value) if isinstance(value := value_of(record), str) else value


def html_links(path: str) -> Callable[[Record], list[str]]:
    """Return a function that returns the addresses of the links in HTML, without mentions and hashtags."""
    value_of = getter(path)
    return lambda record: anchors(value) if isinstance(value := value_of(record), str) else []


def _rule(path: str, names: str | Mapping[str, str]) -> Callable[[Record], str | None]:
    value_of = getter(path)

    def rule(record: Record) -> str | None:
        value = value_of(record)
        if isinstance(names, str):
            return names if value else None
        if value is None and "*" in names:
            raise UnknownShapeError(f"no {path}; keys: {_keys(record)}")
        return names.get(str(value), names.get("*"))

    return rule


def _compiled(field: Field) -> Getter:
    if isinstance(field, tuple):
        getters = [_compiled(each) for each in field]
        return lambda record: next((value for get in getters if (value := get(record)) is not None), None)
    return getter(field) if isinstance(field, str) else field


def _keys(record: Iterable[str]) -> str:
    keys = list(record)
    return ", ".join(keys[:8]) + (", …" if len(keys) > 8 else "") if keys else "none"
