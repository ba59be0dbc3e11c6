"""Compaction: the same posts with the same scores in fewer files, without the bytes of deleted posts."""

import subprocess
import sys
from pathlib import Path

import pytest

from linker.common.errors import LinkerError
from linker.corpus import builder, compaction
from linker.corpus.compaction import compact
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import delete_posts
from linker.corpus.filters import is_in
from linker.corpus.storage.shards import Shard
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.ranking.explanation import Explanation
from tests.conftest import toy_posts
from tests.corpus.conftest import add, build_of, ids_in, interrupted, no_room, some_posts

ARTICLE = toy_posts().articles[0]
GONE = [f"p{number:05d}" for number in (0, 7, 31, 32, 149, 150)]
SECRET = "deleted-words-nobody-may-read"


def answers(folder: Path) -> list[tuple[str, float, int, Explanation | None]]:
    corpus = Corpus.open(folder)
    return [
        (row.post.id, row.score, row.copies, row.explanation)
        for row in corpus.rank(ARTICLE, None, explain=True)
    ]


@pytest.fixture
def folder(tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(builder, "POSTS_AT_ONCE", 30)
    posts = some_posts(200)
    posts[31]["text"] = f"harbour1 {SECRET}"
    folder = build_of(tmp_path / "corpus", posts, model_folder)
    delete_posts(Store.open(folder), is_in("id", GONE))
    return folder


def contents(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("most", [10_000, 70])
def test_the_same_posts_and_scores_in_fewer_files(folder, most, monkeypatch):
    monkeypatch.setattr(compaction, "_POSTS", most)
    before, store = answers(folder), Store.open(folder)
    assert SECRET.encode() in contents(folder)
    monkeypatch.setattr(Shard, "texts", None)  # nothing is computed again
    done = compact(store)
    assert (done.before, done.after) == (7, 1 if most == 10_000 else 4)
    assert answers(folder) == before
    assert SECRET.encode() not in contents(folder)
    monkeypatch.undo()
    assert not list(faults(store))
    assert compact(store).before == done.after, "nothing is left to do"
    assert answers(folder) == before


def test_posts_are_added_and_deleted_afterwards(folder):
    compact(Store.open(folder))
    assert add(folder, some_posts(40, start=200)).new == 40
    store = Store.open(folder)
    assert delete_posts(store, "id = 'p00199'") == 1
    before = answers(folder)
    compact(store)
    assert answers(folder) == before
    assert not list(faults(store))


def add_one_by_one(folder: Path, model_folder: Path, rows: list[dict], size: int) -> None:
    for begin in range(0, len(rows), size):
        build_of(folder, rows[begin : begin + size], model_folder)


@pytest.mark.parametrize("size", [1, 7])
def test_small_additions_are_merged(tmp_path, model_folder, size, monkeypatch):
    monkeypatch.setattr(builder, "POSTS_AT_ONCE", 64)
    at_once, folder, rows = tmp_path / "at_once", tmp_path / "corpus", some_posts(30 * size)
    add_one_by_one(at_once, model_folder, rows, 64)
    add_one_by_one(folder, model_folder, rows[: 13 * size], size)
    opened, shards = Corpus.open(folder), Store.open(folder).shards()
    assert shards is not None
    files = {folder / name for shard in shards for name in shard.names}
    add_one_by_one(folder, model_folder, rows[13 * size :], size)
    shards = Store.open(folder).shards()
    assert shards is not None
    assert len(shards) <= 9, "of 30 additions"
    assert shards.dataset.to_table() == Corpus.open(at_once).table.dataset.to_table()
    assert answers(folder) == answers(at_once)
    assert len(list(opened.rank(ARTICLE, None, copies=True))) == 13 * size, "who came before, reads on"
    former = files - {folder / name for shard in shards for name in shard.names}
    assert former
    assert all(file.exists() for file in files)
    monkeypatch.setattr(compaction, "_GRACE", -1.0)
    add_one_by_one(folder, model_folder, rows[:1], 1)
    assert not any(file.exists() for file in former)
    assert not list(faults(Store.open(folder)))
    assert answers(folder) == answers(at_once)


def test_posts_stay_in_order_where_files_in_the_middle_are_merged(tmp_path, model_folder, monkeypatch):
    monkeypatch.setattr(builder, "merge_small", lambda store, most: None)  # as after kills
    monkeypatch.setattr(compaction, "_POSTS", 40)
    rows, folder = some_posts(90), tmp_path / "corpus"
    for begin, end in ((0, 40), (40, 43), (43, 46), (46, 86), (86, 88), (88, 90)):
        add_one_by_one(folder, model_folder, rows[begin:end], 90)
    delete_posts(Store.open(folder), is_in("id", [rows[1]["id"]]))
    assert compact(Store.open(folder)).after < 6
    assert ids_in(folder) == [row["id"] for row in rows if row is not rows[1]]
    assert not list(faults(Store.open(folder)))


@pytest.mark.parametrize("after", ["rewrite", "forget"])
def test_a_killed_compaction_is_completed_by_the_next(folder, monkeypatch, after):
    before, store = answers(folder), Store.open(folder)
    with monkeypatch.context() as patch:
        if after == "rewrite":
            patch.setattr(store, "seal", interrupted)
        else:
            patch.setattr(Path, "unlink", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compact(store)
    assert not list(faults(Store.open(folder)))
    assert answers(folder) == before
    compact(Store.open(folder))
    assert answers(folder) == before
    assert SECRET.encode() not in contents(folder)
    assert not list(faults(Store.open(folder)))


def test_a_full_disk_leaves_the_corpus_as_it_was(folder, monkeypatch):
    import lance.fragment

    before = answers(folder)
    with monkeypatch.context() as patch:
        patch.setattr(lance.fragment, "write_fragments", no_room)
        with pytest.raises(LinkerError, match="No space left on device"):
            compact(Store.open(folder))
    assert answers(folder) == before
    assert not list(faults(Store.open(folder)))


def test_all_posts_deleted(folder):
    store = Store.open(folder)
    delete_posts(store, "true")
    compact(store)
    assert store.count() == 0
    assert not list(faults(store))


def test_the_command(folder):
    words = [sys.executable, "-m", "linker", "corpus", "compact", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.stdout.startswith(f"{folder}: 194 posts; 7 data files are now 1; ")
    assert done.returncode == 0
