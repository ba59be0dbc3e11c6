"""Shards: what is computed from the posts of each data file of the store, in files of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linker.common.console import progress_bar
from linker.common.errors import DataError
from linker.corpus.storage.array_files import ArrayFiles, Arrays
from linker.corpus.storage.checksums import DATA, POSTS
from linker.corpus.storage.reader import readable

if TYPE_CHECKING:
    import lance
    import pyarrow as pa

SHARDS = "shards"
#: Bytes of a data file of no posts, and those that count as a post, so that long posts can be merged in memory.
_NO_POSTS, _BYTES_OF_POST = 2_000, 1_000
# The lower half of a row's address is its offset in its fragment.
_OFFSET = np.uint64(0xFFFFFFFF)


class Shard:
    """A data file of the store with the arrays that are computed from its posts.

    The arrays have a row for each post of the file, also for posts that were deleted since.
    """

    def __init__(self, folder: Path, fragment: lance.LanceFragment) -> None:
        self._fragment = fragment
        self.rows: int = fragment.physical_rows
        self.files = files_of_shard(folder, fragment.data_files()[0].path)

    @cached_property
    def live(self) -> np.ndarray | None:
        """Return which of the posts are not deleted, bool; None: all."""
        if not self._fragment.num_deletions:
            return None
        live = np.zeros(self.rows, dtype=bool)
        live[offsets(self._fragment)] = True
        return live

    @property
    def metadata(self) -> lance.FragmentMetadata:
        """Return the description of the data file in the store."""
        return self._fragment.metadata

    @property
    def names(self) -> tuple[str, ...]:
        """Return the data file and, if posts were deleted from it, the file that says so, relative to the corpus."""
        deletions = self._fragment.deletion_file()
        names = (DATA + self._fragment.data_files()[0].path,)
        return (*names, f"{POSTS}/{deletions}") if deletions else names

    @property
    def posts(self) -> int:
        """Return the number of posts that are not deleted."""
        return self.rows - self._fragment.num_deletions

    @cached_property
    def size(self) -> int:
        """Return how large the shard is, in posts that are not deleted; long posts count more than once."""
        written = self._fragment.data_files()[0].file_size_bytes or 0
        return max(self.posts, (written - _NO_POSTS) // _BYTES_OF_POST)

    def fits(self, arrays: Mapping[str, np.ndarray]) -> bool:
        """Return whether the arrays of a file have a row for each post of the data file."""
        rows = arrays.get("values", arrays.get("lengths"))
        return rows is not None and len(rows) == self.rows

    def texts(self) -> list[str]:
        """Return the texts, one per row; an empty one for deleted posts.

        Raises:
            DataError: if the store is damaged.
        """
        texts = [""] * self.rows
        with readable(self._fragment.data_files()[0].path):
            table = self._fragment.scanner(columns=["text"], with_row_address=True).to_table()
        for row, text in zip(_offsets_in(table).tolist(), table.column("text").to_pylist()):
            texts[row] = text
        return texts


class Shards:
    """The shards of the posts that are in a dataset, in its order."""

    def __init__(self, folder: Path, dataset: lance.LanceDataset) -> None:
        self.folder, self.dataset = folder, dataset
        self.files = ArrayFiles(folder / SHARDS)
        self._all = [Shard(folder, fragment) for fragment in dataset.get_fragments()]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Shard]:
        return iter(self._all)

    @property
    def posts(self) -> int:
        """Return the number of posts."""
        return sum(shard.posts for shard in self._all)

    @cached_property
    def state(self) -> str:
        """Return a name of this set of posts, another one after each append and each deletion."""
        parts = [f"{shard.files.folder.name} {shard._fragment.deletion_file()}" for shard in self._all]
        return sha256("\n".join(parts).encode()).hexdigest()[:16]

    def table(self, shards: Sequence[Shard]) -> pa.Table:
        """Return the posts of some of the shards that are not deleted, with all columns, in their order.

        Raises:
            DataError: if the store is damaged.
        """
        with readable(self.dataset.uri):
            fragments = [shard._fragment for shard in shards]
            return self.dataset.scanner(fragments=fragments, scan_in_order=True).to_table()

    def arrays(
        self, name: str, description: str, make: Callable[[Shard], Mapping[str, np.ndarray]]
    ) -> list[Arrays]:
        """Return the arrays of this name of each shard, after computing those that are missing.

        Args:
            name: name of the file.
            description: label of the progress bar.
            make: computes the arrays of a shard.

        Raises:
            DataError: if a file is damaged, or does not have a row per post.
            LinkerError: if the disk is full.
        """
        stored = [shard.files.read(name) for shard in self._all]
        if all(stored):
            return [self._checked(shard, arrays) for shard, arrays in zip(self._all, stored) if arrays]
        made = []
        with progress_bar() as progress:
            bar = progress.add_task(description, total=self.posts)
            for shard, arrays in zip(self._all, stored):
                if not arrays:
                    arrays = shard.files.keep(name, make(shard))
                made.append(self._checked(shard, arrays))
                progress.advance(bar, shard.posts)
        return made

    def joint_arrays(self, name: str, rows: int, make: Callable[[], Mapping[str, np.ndarray]]) -> Arrays:
        """Return stored arrays of all posts together; they are computed again after each append and each deletion.

        Args:
            name: name of the file.
            rows: length of the array `values`.
            make: computes the arrays.

        Raises:
            LinkerError: if the disk is full.
        """
        stored = self.files.read(f"{name}-{self.state}")
        if stored is None or len(stored.get("values", ())) != rows:
            stored = self.files.keep(f"{name}-{self.state}", make())
            if stored.path is not None:
                for path in set(self.files.folder.glob(f"{name}-*.safetensors")) - {stored.path}:
                    path.unlink(missing_ok=True)
        return stored

    @staticmethod
    def _checked(shard: Shard, arrays: Arrays) -> Arrays:
        if not shard.fits(arrays):
            raise DataError(
                f"{arrays.path}: does not belong to the posts; delete it, and it is created again"
            )
        return arrays


def files_of_shard(folder: Path, data_file: str) -> ArrayFiles:
    """Return the files of arrays of a data file of a corpus."""
    return ArrayFiles(folder / SHARDS / Path(data_file).stem)


def offsets(fragment: lance.LanceFragment) -> np.ndarray:
    """Return the offsets of the posts of a fragment that are not deleted: int64, ascending."""
    return np.sort(_offsets_in(fragment.scanner(columns=[], with_row_address=True).to_table()))


def _offsets_in(table: pa.Table) -> np.ndarray:
    """Return the offsets of the rows of a table in their fragments, from the addresses: int64."""
    return (table.column("_rowaddr").to_numpy().astype(np.uint64) & _OFFSET).astype(np.int64)
