"""JSON inputs that are a list of objects, or an object that contains one such list."""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from linker.common.errors import DataError
from linker.data.files.formats.json_lines import DECODER, checked_object
from linker.data.files.formats.json_pages import DATA, INCLUDES, NESTED, is_beside
from linker.data.files.line_errors import InputFile, LineError
from linker.data.files.rows import MAX_LINE, Row, Table

# Lists in one object that are read together: a post's context on Mastodon.
_TOGETHER = frozenset(("ancestors", "descendants"))
# An object that is a record whatever its length: a thread of Bluesky.
_WHOLE = "thread"
_CHUNK = 1 << 18
# Objects of at most this many characters are looked at as a whole.
_SMALL = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
# Tweets of the API 2 of X, whose pictures, polls and quoted tweets are behind them in their page.
_NAMES_OTHERS = re.compile(r'"(?:edit_history_tweet_ids|author_id|media_keys)"\s*:')
# Characters that may continue a number or word at the end of the text read so far.
_OPEN_END = re.compile(r"[\w.+-]")
_CLOSING = {"[": "]", "{": "}"}
_REMEDY = "not a list of objects or an object with one such list"


def json_document(file: InputFile, stream: BinaryIO, is_post: Callable[[dict[str, Any]], bool]) -> Table:
    """Open a JSON list of objects or texts, an object with exactly one list of objects, or a post.

    Items are numbered from 1. Several such values may follow one another, like the pages of an API response. Memory
    holds one item at a time, and the other values of an object around the list. Not by ijson, which knows neither lines
    nor NaN.

    Args:
        file: the input.
        stream: its content.
        is_post: whether an object is a post itself, although it may have lists.

    Raises:
        DataError: while reading: broken JSON, no such list, or several.
    """
    text = _Text(stream, file.shown)

    def rows() -> Iterator[Row]:
        has_list = False
        keys: list[str] = []
        while opening := text.skip_to():
            if opening == "[":
                has_list = True
                yield from _items(text, file)
            elif opening != "{":
                raise text.fault(_REMEDY)
            elif is_post(value := text.small_object()):
                yield from _row(text, file)
            else:
                beside = value.get(INCLUDES)
                around = {INCLUDES: beside} if isinstance(beside, dict) else {}
                try:
                    yield from _only_list(text, file, keys, around)
                except RecursionError as error:
                    raise text.fault("nested too deeply") from error
        if not has_list and not file.lines:
            raise text.fault(
                f'{_REMEDY} (keys: {", ".join(keys[:15]) or "none"}); with pandas, df.to_json(…, orient="records")'
            )

    return Table("json", None, rows())


class _Text:
    """An incremental JSON reader over a stream.

    Attributes:
        raw: the text that the last value was read from.
    """

    def __init__(self, stream: BinaryIO, shown: str) -> None:
        self._stream, self._shown = stream, shown
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held, self._at, self._ended = "", 0, False
        self._before = 0
        self.raw = ""

    def skip_to(self) -> str:
        """Skip white space and return the next character without consuming it; empty at the end."""
        while True:
            match = _SPACE.match(self._held, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more():
                return ""

    def take(self, expected: str) -> None:
        """Consume the next character, which must be `expected`."""
        if not (character := self.skip_to()):
            raise self.fault("the file ends too early")
        if character != expected:
            raise self.fault(f"broken JSON: {character!r} found, {expected!r} expected")
        self._at += 1

    def elements(self, opening: str) -> Iterator[str]:
        """Step through a list or object: yield the first character of each element, which the caller consumes."""
        self.take(opening)
        is_first = True
        while self.skip_to() != _CLOSING[opening]:
            if not is_first:
                self.take(",")
            is_first = False
            yield self.skip_to()
        self.take(_CLOSING[opening])

    def key(self) -> str:
        """Read a key of an object and the colon after it."""
        key = self.value()
        if not isinstance(key, str):
            raise self.fault("broken JSON: a key must be a string")
        self.take(":")
        return key

    def value(self) -> Any:
        """Read the next value.

        Raises:
            DataError: if it is malformed.
        """
        self.skip_to()
        step = _CHUNK
        while True:
            try:
                value, end = DECODER.raw_decode(self._held, self._at)
                if end < len(self._held) or self._ended or not _OPEN_END.match(self._held[end - 1]):
                    self.raw, self._at = self._held[self._at : end], end
                    return value
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self.fault(f"broken JSON: {error.msg}", error.pos) from error
            except RecursionError as error:
                raise self.fault("nested too deeply") from error
            except ValueError as error:  # an integer of more than 4,300 digits
                raise self.fault("a number too long to read") from error
            if len(self._held) - self._at > MAX_LINE:
                raise self.fault(f"a value is broken, or longer than {MAX_LINE >> 20} MiB")
            self._more(step)
            step *= 2  # so that a long value is not parsed from its start for every piece

    def small_object(self) -> dict[str, Any]:
        """Return the next value without consuming it; an empty object if it is none, too long or malformed."""
        size = _CHUNK
        most = MAX_LINE if _NAMES_OTHERS.search(self._held, self._at) else _SMALL
        while True:
            try:
                value, _ = DECODER.raw_decode(self._held, self._at)
                return value if isinstance(value, dict) else {}
            except RecursionError:
                return {}
            except ValueError:
                if self._ended or len(self._held) - self._at >= most:
                    return {}
            self._more(size)
            size *= 2

    def fault(self, problem: str, position: int | None = None) -> DataError:
        """Make an error that names the file and the line."""
        at = self._at if position is None else position
        line = self._before + self._held.count("\n", 0, at) + 1
        return DataError(f"{self._shown}, line {line}: {problem}")

    def _more(self, size: int = _CHUNK) -> bool:
        block = self._stream.read(size)
        self._ended = not block
        self._before += self._held.count("\n", 0, self._at)
        self._held = self._held[self._at :] + self._decoder.decode(block, final=not block)
        self._at = 0
        return bool(block)


def _row(
    text: _Text, file: InputFile, around: dict[str, Any] | None = None, texts: bool = False
) -> Iterator[Row]:
    """The next value if it is a proper object or, with `texts`, a text; otherwise it is reported."""
    file.lines += 1
    try:
        value = text.value()
        if texts and isinstance(value, str):
            value = {"text": value}
        row = Row(file.lines, checked_object(value, text.raw), text.raw, around)
    except LineError as error:
        file.bad(file.lines, error, text.raw)
    else:
        yield row


def _items(text: _Text, file: InputFile) -> Iterator[Row]:
    """The objects and texts of a list, and of lists in it, such as pages that a script collected."""
    are_pages = None
    for opening in text.elements("["):
        are_pages = opening == "[" if are_pages is None else are_pages
        if not are_pages:
            yield from _row(text, file, texts=True)
            continue
        for _ in text.elements("["):
            yield from _row(text, file, texts=True)


def _only_list(text: _Text, file: InputFile, keys: list[str], around: dict[str, Any]) -> Iterator[Row]:
    """The objects of the only list of objects in the next object, whose keys are appended to `keys`.

    `around` are the records that they name by id; the values beside the list are added.
    """
    lists: list[str] = []
    for _ in text.elements("{"):
        key = text.key()
        keys.append(key)
        opening = text.skip_to()
        if key in DATA and opening == "{":
            yield from _only_list(text, file, keys, {})
        elif key in NESTED and opening == "{":
            # The objects in the lists of the objects in a list, such as the messages of all chats.
            for _ in text.elements("{"):
                text.key()
                if text.skip_to() != "[":
                    text.value()
                    continue
                for _ in text.elements("["):
                    yield from _only_list(text, file, keys, {})
        elif opening != "[":
            value = text.value()
            if key == _WHOLE and isinstance(value, dict):
                file.lines += 1
                yield Row(file.lines, {key: value}, text.raw)
            elif not isinstance(value, dict):
                around[key] = value
        else:
            is_wanted = None
            for first in text.elements("["):
                if is_wanted is None:
                    is_wanted = first == "{" and not is_beside(key, keys)
                    lists += [key] if is_wanted else []
                if is_wanted and (len(lists) == 1 or _TOGETHER.issuperset(lists)):
                    yield from _row(text, file, around, texts=True)
                else:
                    text.value()
    if len(lists) > 1 and not _TOGETHER.issuperset(lists):
        raise text.fault(
            f"several lists of objects ({', '.join(lists)}); keep one of them: jq -c '.{lists[0]}[]'"
        )
