"""Reading archives by several processes, whatever state they are in."""

from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.contrib.twitter4sse.mine_pairs import mine_pairs, report_path
from tests.helpers.tweets import read_pairs, v1, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eight files; every tweet of 40 is quoted in several of them."""
    for n in range(8):
        objects = [v1(1000 * (n + 1) + i, quotes=v1(1 + (7 * n + i) % 40)) for i in range(30)]
        write(tmp_path / "in" / f"0{n % 3}" / f"{n}.json.{'gz' if n % 2 else 'bz2'}", [*objects, b"{broken"])
    return tmp_path


def mine(folder: Path, name: str, **options: int) -> tuple[bytes, bytes]:
    out = folder / name
    mine_pairs([folder / "in"], "quotes", out, **options)  # type: ignore[arg-type]
    return out.read_bytes(), report_path(out).read_bytes()


def test_any_number_of_processes_gives_the_same_bytes(folder: Path) -> None:
    alone = mine(folder, "one.jsonl.gz")
    assert len(read_pairs(folder / "one.jsonl.gz")) == 40
    assert mine(folder, "three.jsonl.gz", workers=3) == alone
    assert not [path.name for path in folder.iterdir() if ".links." in path.name]


def test_a_damaged_archive_stops_or_is_used_as_far_as_it_goes(folder: Path) -> None:
    path = write(folder / "in" / "long.json.gz", [v1(n, quotes=v1(n % 50 + 1)) for n in range(60, 3000)])
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DataError, match=r"long\.json\.gz: damaged or truncated.*--on-error skip"):
        mine_pairs([folder / "in"], "quotes", folder / "out.jsonl")
    assert sorted(path.name for path in folder.iterdir()) == ["in"]
    report = mine_pairs([folder / "in"], "quotes", folder / "out.jsonl", on_error="skip")
    assert len(report.damaged) == 1
    assert "long.json.gz: damaged or truncated" in report.damaged[0]
    assert 1000 < report.counts["lines"].total() < 3188
    assert read_pairs(folder / "out.jsonl")
