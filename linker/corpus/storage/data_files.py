"""Data files of a corpus, each with its shard; several processes may write some at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.errors import LinkerError
from linker.common.files import sha256_of
from linker.corpus.storage.checksums import DATA, POSTS, manifests
from linker.corpus.storage.shards import files_of_shard

if TYPE_CHECKING:
    import lance
    import pyarrow as pa

# The first Lance format that can filter by fields of a JSON column.
LANCE_FORMAT = "2.2"


@dataclass(frozen=True)
class DataFile:
    """A data file that no version of the store has yet, with its shard beside it.

    Attributes:
        fragment: its description for Lance, as JSON.
        name: its path, relative to the corpus.
        sha256: its checksum.
        bytes: its size.
        rows: number of posts.
    """

    fragment: str
    name: str
    sha256: str
    bytes: int
    rows: int

    @classmethod
    def write(cls, folder: Path, table: pa.Table, files: Mapping[str, Mapping[str, np.ndarray]]) -> DataFile:
        """Write posts, and the arrays of their shard; nobody sees them before they are committed.

        Args:
            folder: the corpus.
            table: the posts.
            files: name → arrays with a row per post, see `Shards`.

        Raises:
            OSError: if a file cannot be written.
        """
        fragment = _fragment(folder, table)
        path = fragment.files[0].path
        shard = files_of_shard(folder, path)
        for name, arrays in files.items():
            shard.write(name, arrays)
        name = DATA + path
        size = (folder / name).stat().st_size
        return cls(json.dumps(fragment.to_json()), name, sha256_of(folder / name), size, len(table))

    def metadata(self, folder: Path) -> lance.FragmentMetadata:
        """Return the description for a commit, after a check that this process sees the file.

        Raises:
            LinkerError: if it does not, because the process that wrote it has another folder of this name.
        """
        from lance import FragmentMetadata

        path = folder / self.name
        if not path.is_file() or path.stat().st_size != self.bytes:
            raise LinkerError(
                f"{path}: a worker wrote it, but it is not here; put the corpus where all machines of the cluster "
                "see it under the same path"
            )
        return FragmentMetadata.from_json(self.fragment)


def _fragment(folder: Path, table: pa.Table) -> lance.FragmentMetadata:
    from lance.fragment import write_fragments

    uri = str(folder / POSTS)

    def written(mode: str) -> lance.FragmentMetadata:
        rows = len(table) + 1  # in one file
        fragments = write_fragments(
            table, uri, mode=mode, data_storage_version=LANCE_FORMAT, max_rows_per_file=rows
        )
        return fragments[0]

    if not manifests(folder):
        try:
            return written("create")
        except OSError:
            if not manifests(folder):
                raise
            # Otherwise the first posts have just been committed.
    return written("append")
