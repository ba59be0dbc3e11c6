"""Data files that workers write: nobody sees them before they are committed, several at once."""

from pathlib import Path

import numpy as np
import pytest

from linker.common.errors import LinkerError
from linker.corpus.storage.checksums import read_checksums
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.reader import table_of
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import CorpusMetadata, Store
from linker.corpus.verify import faults
from linker.data.types import Post
from tests.corpus.conftest import ids_in, interrupted


@pytest.fixture
def store(tmp_path) -> Store:
    return Store.create(tmp_path / "corpus", CorpusMetadata("model", "", "cosine", 2))


def written(store: Store, *ids: str) -> DataFile:
    values = np.array([[len(id), 1] for id in ids], dtype=np.float32)
    table = table_of([Post(id, f"text of {id}") for id in ids])
    return DataFile.write(store.folder, table, {"vectors": {"values": values}})


def files_in(store: Store) -> tuple[set[str], set[str]]:
    data, shards = store.folder / "posts.lance" / "data", store.folder / "shards"
    return {path.stem for path in data.iterdir()}, {path.name for path in shards.iterdir()}


def test_files_are_committed_in_their_order(store):
    first, second, third = written(store, "c"), written(store, "a", "b"), written(store, "d")
    assert store.count() == 0
    for file in (second, first, third):
        store.append(file)
    assert ids_in(store.folder) == ["a", "b", "c", "d"]
    newest = store.dataset()
    rows = [
        arrays["values"][:, 0].tolist()
        for arrays in Shards(store.folder, newest).arrays("vectors", "", lambda shard: {})
    ]
    assert rows == [[1, 1], [1], [1]]


def test_the_recorded_checksums_are_those_of_the_files(store, monkeypatch):
    from linker.corpus.storage import checksums

    files = [written(store, "a"), written(store, "b")]
    read: list[Path] = []
    original = checksums.sha256_of

    def noted(path: Path) -> str:
        read.append(path)
        return original(path)

    monkeypatch.setattr(checksums, "sha256_of", noted)
    for file in files:
        store.append(file)
    assert not any("data" in path.parts for path in read)
    known = read_checksums(store.folder)
    assert {name: known[name] for name in known if "/data/" in name} == {
        one.name: original(store.folder / one.name) for one in files
    }


def test_what_nobody_committed_is_swept_and_never_recorded(store):
    store.append(written(store, "a"))
    lost, kept = written(store, "b"), written(store, "c")
    store.append(kept)
    assert lost.name not in read_checksums(store.folder)
    assert lost.name.rpartition("/")[2].removesuffix(".lance") in files_in(store)[0]
    store.recover()
    data, shards = files_in(store)
    assert data == shards
    assert len(data) == 2
    assert ids_in(store.folder) == ["a", "c"]
    # A file that is being written when the command is interrupted has no checksum.
    assert set(read_checksums(store.folder)) >= {f"posts.lance/data/{stem}.lance" for stem in data}


def test_a_commit_that_was_interrupted_before_its_checksums_is_recorded(store, monkeypatch):
    file = written(store, "a")
    with monkeypatch.context() as patch:
        patch.setattr(Store, "seal", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.append(file)
    again = Store.open(store.folder)
    again.recover()
    assert ids_in(again.folder) == ["a"]
    assert read_checksums(store.folder)[file.name] == file.sha256
    (store.folder / file.name).write_bytes(b"damaged")
    assert [fault.partition(": ")[0] for fault in faults(again)] == [str(store.folder / file.name)]


def test_a_file_that_another_folder_has_is_not_committed(store):
    file = written(store, "a")
    (store.folder / file.name).unlink()
    with pytest.raises(LinkerError, match="a worker wrote it, but it is not here"):
        store.append(file)
    assert store.count() == 0
