"""Finding archives and reading them, however they are packed and nested."""

from __future__ import annotations

import gzip
import io
import warnings
from pathlib import Path
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile

import pytest

from linker.common.errors import DataError
from linker.contrib.twitter4sse import archives as archives_module
from linker.contrib.twitter4sse import archives as lines_module
from linker.contrib.twitter4sse.archives import find_sources, read_lines, source_lines, units
from tests.helpers.tweets import lines, pack, v1, write, write_tar, zip_bytes


def read(*archives: Path) -> list[bytes | None]:
    return [line for source in find_sources(archives) for line in source_lines(source)]


EXPECTED = [lines([v1(n)]) for n in range(1, 4)]
CONTENT = b"".join(EXPECTED)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl.gz", "a.json.bz2", "a.json.zst", "no_ending"])
def test_packed_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(pack(CONTENT, name))
    assert read(tmp_path / name) == EXPECTED


def test_concatenated_parts_of_packed_files(tmp_path: Path) -> None:
    for name in ("a.gz", "a.bz2"):
        (tmp_path / name).write_bytes(pack(EXPECTED[0], name) + pack(EXPECTED[1] + EXPECTED[2], name))
        assert read(tmp_path / name) == EXPECTED


@pytest.mark.parametrize("name", ["month.tar", "month.tar.gz"])
def test_tar_files_with_packed_members(tmp_path: Path, name: str) -> None:
    members = {
        "2014/01/00.json.bz2": pack(EXPECTED[0], "x.bz2"),
        "2014/01/01.json": EXPECTED[1],
        "README.md": b"not this one",
        "2014/01/._02.json": b"nor this",
        "2014/01/02.json.gz": pack(EXPECTED[2], "x.gz"),
    }
    assert read(write_tar(tmp_path / name, members)) == EXPECTED


def test_a_tar_file_in_a_tar_file(tmp_path: Path) -> None:
    inner = write_tar(tmp_path / "inner.tar", {"a.json.bz2": pack(CONTENT, "a.bz2")})
    outer = write_tar(tmp_path / "outer.tar", {"days/inner.tar": inner.read_bytes()})
    assert read(outer) == EXPECTED


def test_members_of_a_plain_tar_file_are_sources_of_their_own(tmp_path: Path) -> None:
    tar = write_tar(tmp_path / "m.tar", {f"{n}.json": EXPECTED[n] for n in range(3)})
    assert [source.member for source in find_sources([tar])] == ["0.json", "1.json", "2.json"]


def test_nested_folders_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path / "02" / "00.json.bz2", [v1(2)])
    write(tmp_path / "01" / "deep" / "00.json.gz", [v1(1)])
    write(tmp_path / "03.json", [v1(3)])
    (tmp_path / "notes.pdf").write_bytes(b"not an archive")
    (tmp_path / ".hidden").mkdir()
    write(tmp_path / ".hidden" / "a.json", [v1(9)])
    assert read(tmp_path) == EXPECTED
    assert read(tmp_path, tmp_path / "03.json") == EXPECTED, "given twice, read once"


def test_missing_and_empty(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.json: file or folder not found"):
        find_sources([tmp_path / "nothing.json"])
    with pytest.raises(DataError, match="no archive in this folder"):
        find_sources([tmp_path])


@pytest.mark.parametrize("name", ["a.gz", "a.bz2", "a.zst"])
def test_cut_short(tmp_path: Path, name: str) -> None:
    packed = pack(CONTENT * 200, name)
    (tmp_path / name).write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(DataError, match=f"{name}: damaged or cut short"):
        read(tmp_path / name)


def test_a_tar_file_that_was_cut_short(tmp_path: Path) -> None:
    tar = write_tar(tmp_path / "m.tar", {"a.json": CONTENT * 50})
    tar.write_bytes(tar.read_bytes()[: len(CONTENT) * 20])
    with pytest.raises(DataError, match=r"m\.tar.*cut short"):
        read(tar)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04xxxxxxx", "damaged or cut short"),
        (gzip.compress(zip_bytes({"a.json": b"{}"})), "is a zip archive inside another archive"),
        (zip_bytes({"xl/workbook.xml": b"<x/>"}), "no archive in this zip file"),
        ("x".encode("utf-16"), "is UTF-16 text"),
    ],
)
def test_what_cannot_be_unpacked(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "a.json")


@pytest.mark.parametrize("method", [ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_zip_files_with_packed_members(tmp_path: Path, method: int) -> None:
    members = {
        "2014/01/00.json.bz2": pack(EXPECTED[0], "x.bz2"),
        "2014/01/01.json": EXPECTED[1],
        "README.md": b"not this one",
        "2014/01/._02.json": b"nor this",
        "2014/01/02.tar": write_tar(
            tmp_path / "i.tar", {"a.json.gz": pack(EXPECTED[2], "x.gz")}
        ).read_bytes(),
    }
    (tmp_path / "i.tar").unlink()
    (tmp_path / "month.zip").write_bytes(zip_bytes(members, method))
    assert read(tmp_path) == EXPECTED
    sources = find_sources([tmp_path / "month.zip"])
    assert [source.member for source in sources] == [
        "2014/01/00.json.bz2",
        "2014/01/01.json",
        "2014/01/02.tar",
    ]


def test_members_of_the_same_name_are_both_read(tmp_path: Path) -> None:
    with warnings.catch_warnings(), ZipFile(tmp_path / "a.zip", "w") as zipped:
        warnings.simplefilter("ignore")
        for line in EXPECTED:
            zipped.writestr("a.json", line)
    assert read(tmp_path / "a.zip") == EXPECTED


def test_damage_in_a_zip_file_stops_at_the_member_it_is_in(tmp_path: Path) -> None:
    long = CONTENT * 300
    whole = zip_bytes({"a.json": long, "b.json": CONTENT}, ZIP_DEFLATED)
    at = whole.index(b"b.json") // 2
    (tmp_path / "a.zip").write_bytes(whole[:at] + bytes(40) + whole[at + 40 :])
    first, second = find_sources([tmp_path / "a.zip"])
    with pytest.raises(DataError, match=r"a\.zip:a\.json: damaged or cut short"):
        list(source_lines(first))
    assert list(source_lines(second)) == EXPECTED
    (tmp_path / "a.zip").write_bytes(whole[:-10])
    with pytest.raises(DataError, match=r"a\.zip: damaged or cut short"):
        find_sources([tmp_path / "a.zip"])


def test_an_encrypted_member_is_reported(tmp_path: Path) -> None:
    packed = bytearray(zip_bytes({"a.json": CONTENT}))
    packed[6] |= 1
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(packed)
    with pytest.raises(DataError, match=r"a\.zip:a\.json: is encrypted; unpack it first"):
        read(tmp_path / "a.zip")


def test_lines_that_are_too_long_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MAX_LINE", 8)
    stream = io.BytesIO(b"short\n" + b"x" * 20 + b"\n1234567\nlast one" + b"y" * 8)
    assert list(read_lines(stream)) == [b"short\n", None, b"1234567\n", None]


def test_what_goes_wrong_while_a_line_is_worked_on_is_not_damage(tmp_path: Path) -> None:
    write(tmp_path / "a.json", [v1(1)])
    (source,) = find_sources([tmp_path])

    def work() -> None:
        for _ in source_lines(source):
            raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        work()


def test_a_large_plain_file_is_cut_between_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"".join(b"x" * (n % 23) + b"\n" for n in range(100)) + b"the last one without an end"
    (tmp_path / "a.json").write_bytes(content)
    for size in (1, 7, 100, len(content) - 1, len(content), len(content) + 1):
        monkeypatch.setattr(archives_module, "UNIT_BYTES", size)
        sources = find_sources([tmp_path])
        assert sum(source.size for source in sources) == len(content)
        assert (len(sources) > 1) == (size < 1000)
        assert b"".join(line or b"?" for line in read(tmp_path)) == content
        assert len(read(tmp_path)) == 101


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").touch()
    assert read(tmp_path) == []


def test_units_hold_neighbors(tmp_path: Path) -> None:
    for n in range(5):
        (tmp_path / f"{n}.json").write_bytes(b"x" * 10)
    sources = find_sources([tmp_path])
    assert [len(unit) for unit in units(sources, 20)] == [2, 2, 1]
    assert [source for unit in units(sources, 20) for source in unit] == sources
    assert [len(unit) for unit in units(sources, 1)] == [1] * 5
