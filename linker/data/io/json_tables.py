"""JSON that is no object a line: a list of objects, or an object that holds one such list, read a piece at a time."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NoReturn

from linker.common.errors import DataError
from linker.data.io.line_errors import InputFile, LineError
from linker.data.io.rows import MAX_LINE, Line, Row, Table, not_utf8
from linker.data.io.streams import shown_name


def json_table(file: InputFile, lines: Iterator[Line]) -> Table:
    """Rows of a file with one JSON object a line."""

    def rows() -> Iterator[Row]:
        for number, text in lines:
            try:
                yield Row(number, json_object(text), text)
            except LineError as error:
                file.bad(number, error, text)

    return Table("jsonl", None, rows())


def json_object(text: str) -> dict[str, Any]:
    """The object that a line holds.

    Raises:
        LineError: it holds something else, or what no UTF-8 file can hold.
    """
    if not text.strip():
        raise LineError("blank line")
    if not_utf8(text):
        raise LineError("invalid UTF-8")
    try:
        value = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        raise LineError("broken JSON", f"{error.msg} (column {error.colno})") from error
    except LineError:
        raise
    except RecursionError as error:
        raise LineError("broken JSON", "nested too deeply") from error
    except ValueError as error:  # an integer of more than 4,300 digits
        raise LineError("broken JSON", "a number too long to read") from error
    return checked_object(value, text)


def checked_object(value: Any, raw: str) -> dict[str, Any]:
    """A value that was read from `raw`, if it is an object of proper Unicode.

    Raises:
        LineError: it is not.
    """
    if not isinstance(value, dict):
        raise LineError("not a JSON object", f"but {_kind(value)}")
    # JSON can spell half a surrogate pair ("\ud83d"), which no UTF-8 file can hold.
    if "\\u" in raw and not_utf8(json.dumps(value, ensure_ascii=False)):
        raise LineError("invalid Unicode", "half of a surrogate pair (a character cut in two)")
    return value


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "null" if value is None else f"{json.dumps(value)[:40]}"


def no_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python reads and JSON does not know."""
    raise LineError("broken JSON", f"{name} is not a JSON value")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these keys and values.

    Raises:
        LineError: a key is there twice.
    """
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise LineError("broken JSON", f'key "{twice}" is there twice')
    return values


_CHUNK = 1 << 18
_SPACE = re.compile(r"[ \t\r\n]*")
# What a number or word that ends with the text read so far may go on with.
_OPEN_END = re.compile(r"[\w.+-]")
_KEY = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:')
_OPENING = re.compile(r"\s*\[\s*\{")
_REMEDY = "a list of objects, or an object that holds one such list, is expected"


def json_document(file: InputFile, stream: BinaryIO) -> Table:
    """Rows of a JSON list of objects, or of an object that holds exactly one, counted from 1 in place of lines.

    Several of them may follow one another, as APIs answer page by page. Memory holds one item at a time, and what else
    stands in an object around the list.

    Raises:
        DataError: while reading: broken JSON, no such list, or several.
    """
    text = _Text(stream, shown_name(file.path))

    def rows() -> Iterator[Row]:
        number, lists = 0, 0
        keys: list[str] = []
        while opening := text.skip_to():
            if opening == "[":
                text.take("[")
                items, lists = _items(text, file, number), lists + 1
            elif opening == "{":
                items = _only_list(text, file, number, keys)
            else:
                raise text.fault(_REMEDY)
            for row in items:
                number = row.line
                yield row
            number = file.lines
        if not lists and not file.lines:
            raise text.fault(f"{_REMEDY}; this object has {', '.join(keys[:15]) or 'no keys'}")

    return Table("json", None, rows())


def is_page(line: bytes, whole: bool, is_known: Callable[[str], bool]) -> bool:
    """Does a line, or its beginning, hold an object that is no post itself, but has one list of them?

    Args:
        line: the line.
        whole: whether that is all of it.
        is_known: whether a key is known as that of a post.
    """
    if whole:
        try:
            value = json_object(line.decode("utf-8", "surrogateescape"))
        except LineError:
            return False
        known = any(not isinstance(one, list) and is_known(key) for key, one in value.items())
        return not known and len(lists_of_objects(value)) == 1
    text, decoder = line.decode("utf-8", "replace"), json.JSONDecoder()
    place = text.index("{") + 1
    try:  # key after key, up to the list
        while match := _KEY.match(text, place):
            if _OPENING.match(text, match.end()):
                return True
            value, place = decoder.raw_decode(text, _end_of_space(text, match.end()))
            if not isinstance(value, list) and is_known(json.loads(match[1])):
                return False
    except ValueError:
        pass
    return False


def _end_of_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place


def lists_of_objects(value: dict[str, Any]) -> list[str]:
    """The keys whose values are lists with an object in them."""
    return [
        key for key, one in value.items() if isinstance(one, list) and any(isinstance(i, dict) for i in one)
    ]


class _Text:
    """The decoded text of a stream, of which so much is held as is needed."""

    def __init__(self, stream: BinaryIO, shown: str) -> None:
        self._stream, self._shown = stream, shown
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._json = json.JSONDecoder(parse_constant=no_constant, object_pairs_hook=unique_keys)
        self._held, self._at, self._ended = "", 0, False
        self._before = 0
        self.raw = ""
        """What the last value was read from."""

    def skip_to(self) -> str:
        """The next character that is no white space, not taken yet; empty at the end."""
        while True:
            match = _SPACE.match(self._held, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more():
                return ""

    def take(self, expected: str) -> None:
        """Take a character that must come next."""
        found = self.skip_to()
        if found != expected:
            raise self.fault(f"{expected!r} expected, {found!r} found" if found else "it ends too early")
        self._at += 1

    def value(self) -> Any:
        """The next value.

        Raises:
            LineError: it is well-formed, but not what JSON allows in strict reading.
        """
        self.skip_to()
        step = _CHUNK
        while True:
            try:
                value, end = self._json.raw_decode(self._held, self._at)
                if end < len(self._held) or self._ended or not _OPEN_END.match(self._held[end - 1]):
                    self.raw, self._at = self._held[self._at : end], end
                    return value
            except json.JSONDecodeError as error:
                if self._ended:
                    raise self.fault(f"broken JSON: {error.msg}", error.pos) from error
            except RecursionError as error:
                raise self.fault("nested too deeply") from error
            except LineError:
                if self._skipped_value():
                    raise
            except ValueError as error:  # an integer of more than 4,300 digits
                raise self.fault("a number too long to read") from error
            if len(self._held) - self._at > MAX_LINE:
                raise self.fault(f"a value is broken, or longer than {MAX_LINE >> 20} MiB")
            self._more(step)
            step *= 2  # a value in many pieces is not read from its start for every one

    def fault(self, what: str, place: int | None = None) -> DataError:
        """The error to raise for what is wrong here."""
        at = self._at if place is None else place
        line = self._before + self._held.count("\n", 0, at) + 1
        return DataError(f"{self._shown}, line {line}: {what}")

    def _skipped_value(self) -> bool:
        """Pass over a value that is not allowed; not before all of it is held."""
        try:
            _, end = json.JSONDecoder().raw_decode(self._held, self._at)
        except ValueError as error:
            if self._ended:
                raise self.fault("broken JSON") from error
            return False
        self.raw, self._at = self._held[self._at : end], end
        return True

    def _more(self, size: int = _CHUNK) -> bool:
        block = self._stream.read(size)
        self._ended = not block
        self._before += self._held.count("\n", 0, self._at)
        self._held = self._held[self._at :] + self._decoder.decode(block, final=not block)
        self._at = 0
        return bool(block)


def _items(text: _Text, file: InputFile, number: int) -> Iterator[Row]:
    """The objects of a list whose bracket was taken, counted on from `number`."""
    if text.skip_to() == "]":
        text.take("]")
        return
    while True:
        number += 1
        file.lines = number
        try:
            value = text.value()
            if not_utf8(text.raw):
                raise LineError("invalid UTF-8")
            yield Row(number, checked_object(value, text.raw), text.raw)
        except LineError as error:
            file.bad(number, error, text.raw)
        if text.skip_to() != ",":
            text.take("]")
            return
        text.take(",")


def _only_list(text: _Text, file: InputFile, number: int, keys: list[str]) -> Iterator[Row]:
    """The objects of the only list of objects in the object that begins here, whose keys are added to `keys`."""
    text.take("{")
    found: list[str] = []
    first_key = True
    while text.skip_to() != "}":
        if not first_key:
            text.take(",")
        first_key = False
        key = text.value()
        if not isinstance(key, str):
            raise text.fault("broken JSON: a key must be a string")
        keys.append(key)
        text.take(":")
        if text.skip_to() != "[":
            text.value()
            continue
        first = len(found) == 0
        rows = _list_in_object(text, file, number)
        row = next(rows, None)
        if row is None:
            continue
        found.append(key)
        if first:
            yield row
            yield from rows
        else:
            for _ in rows:
                pass
    text.take("}")
    if len(found) > 1:
        raise text.fault(
            f"it holds several lists of objects ({', '.join(found)}); keep one of them: jq -c '.{found[0]}[]'"
        )


def _list_in_object(text: _Text, file: InputFile, number: int) -> Iterator[Row]:
    """The objects of a list; none where it begins with something else."""
    text.take("[")
    opening = text.skip_to()
    if opening == "{":
        yield from _items(text, file, number)
        return
    while text.skip_to() != "]":
        text.value()
        if text.skip_to() == ",":
            text.take(",")
    text.take("]")
