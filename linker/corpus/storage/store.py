"""The corpus on disk: a Lance dataset of posts with their embeddings, and its metadata."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.common.errors import DataError, LinkerError
from linker.common.files import NO_ROOM, check_regular_files, sha256_of, write_json
from linker.common.locks import acquire
from linker.corpus.storage.checksums import (
    CHANGED,
    CHECKSUMS,
    DATA,
    FACTS,
    MEND,
    POSTS,
    check_newest,
    files_of,
    forget_checksums,
    manifests,
    read_checksums,
    record_checksums,
)
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.reader import first_line, readable, schema
from linker.corpus.storage.shards import SHARDS, Shard, Shards
from linker.version import __version__

if TYPE_CHECKING:
    import lance

FORMAT = 4
LOCK = "writer.lock"
#: Number of versions, the newest included, that can be opened.
_OPENED = 8
# How Lance reports errors of the operating system.
_OS_ERROR = re.compile(r"\(os error (\d+)\)")


@dataclass(frozen=True)
class CorpusMetadata:
    """Metadata of a corpus.

    Attributes:
        model: path or name of the model that encoded it.
        fingerprint: fingerprint of that model.
        similarity: `cosine`, `dot`, `euclidean` or `no embeddings`.
        dim: dimension of the embeddings.
    """

    model: str
    fingerprint: str
    similarity: str
    dim: int


class Store:
    """The folder of a corpus. Each append and each deletion is atomic."""

    def __init__(self, folder: Path, facts: CorpusMetadata) -> None:
        self.folder = folder
        self.facts = facts

    @classmethod
    def create(cls, folder: Path, facts: CorpusMetadata) -> Store:
        """Create a corpus in an empty folder.

        Raises:
            LinkerError: if the folder is not empty, or cannot be written.
        """
        others = [path.name for path in folder.iterdir()] if folder.is_dir() else [""] * folder.exists()
        # An interrupted creation may have left the lock, or half-written metadata.
        if any(name != LOCK and not name.startswith(f".{FACTS}.") for name in others):
            raise LinkerError(f"{folder}: is not empty; give another folder for the corpus")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LinkerError(f"{folder}: cannot be created ({error.strerror})") from error
        store = cls(folder, facts)
        with store.writing():
            if (folder / FACTS).exists():
                raise LinkerError(f"{folder}: another process has just created a corpus here")
            write_json(folder / FACTS, {"format": FORMAT, "linker_version": __version__, **asdict(facts)})
            store.seal()
        return store

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Open a corpus.

        Raises:
            DataError: if there is none, or it is damaged or of a newer version.
        """
        check_local(folder)
        path = folder / FACTS
        if not path.is_file():
            if (folder / POSTS).exists():
                raise DataError(f"{path}: is missing; {MEND}")
            problem = f"not a corpus, it has no {FACTS}" if folder.is_dir() else "corpus not found"
            raise DataError(f"{folder}: {problem}; build one with `linker corpus build`")
        check_regular_files(folder)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != FORMAT:
                raise DataError(
                    f"{folder}: written by linker {content.get('linker_version')} in another format than that of "
                    f"linker {__version__}; use that version, or build the corpus again"
                )
            facts = CorpusMetadata(**{name: content[name] for name in CorpusMetadata.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: damaged ({error}); {MEND}") from error
        if read_checksums(folder).get(FACTS) not in (None, sha256_of(path)):
            raise DataError(f"{path}: {CHANGED}; {MEND}")
        return cls(folder, facts)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the corpus as its only writer.

        Raises:
            LinkerError: if another process is writing.
        """
        busy = f"{self.folder}: another process is writing to this corpus; wait until it has ended"
        with acquire(self.folder / LOCK, busy):
            yield

    @contextmanager
    def write_errors(self) -> Iterator[None]:
        """Turn errors of writing into messages.

        Raises:
            LinkerError: if a file cannot be written.
        """
        try:
            yield
        except (OSError, LinkerError) as error:
            cause = error.__cause__ if isinstance(error, LinkerError) else error
            if not isinstance(cause, OSError):
                raise
            number = cause.errno or next(map(int, _OS_ERROR.findall(str(cause))), 0)
            reason = os.strerror(number) if number else first_line(cause)
            remedy = "free disk space and" if number in NO_ROOM else "then"
            raise LinkerError(
                f"{self.folder}: cannot be written ({reason}); what was added before is safe: {remedy} run the command "
                "again, it resumes from there"
            ) from error

    def dataset(self) -> lance.LanceDataset | None:
        """Open the latest version of the posts; None if nothing was appended yet.

        Raises:
            DataError: if it cannot be opened.
        """
        if not manifests(self.folder):
            return None
        check_newest(self.folder)
        with readable(str(self.folder / POSTS)):
            return _lance().dataset(str(self.folder / POSTS))

    def shards(self) -> Shards | None:
        """Return what is computed from the latest version of the posts; None if nothing was appended yet.

        Raises:
            DataError: if it cannot be opened.
        """
        dataset = self.dataset()
        return None if dataset is None else Shards(self.folder, dataset)

    def append(self, written: DataFile) -> None:
        """Append a data file atomically, and record its checksum; for the writer.

        Raises:
            LinkerError: if it cannot be written.
        """
        operation, dataset = _lance().LanceOperation, self.dataset()
        fragments = [written.metadata(self.folder)]
        if dataset is None:
            self._commit(operation.Overwrite(schema(), fragments), None, [written])
        else:
            self._commit(operation.Append(fragments), dataset, [written])

    def rewrite(
        self, dataset: lance.LanceDataset, merged: Sequence[tuple[Sequence[Shard], Sequence[DataFile]]]
    ) -> None:
        """Replace data files by others with the same posts, atomically; for the writer.

        Args:
            dataset: the posts.
            merged: consecutive shards, and the data files that replace theirs.

        Raises:
            LinkerError: if they cannot be written.
        """
        operation = _lance().LanceOperation
        groups = [
            operation.RewriteGroup(
                old_fragments=[shard.metadata for shard in run],
                # Lance orders posts by these ids.
                new_fragments=[replace(file.metadata(self.folder), id=run[-1].metadata.id) for file in new],
            )
            for run, new in merged
        ]
        written = [file for _, new in merged for file in new]
        replaced = [name for run, _ in merged for shard in run for name in shard.names]
        self._commit(operation.Rewrite(groups, []), dataset, written, replaced)

    def _commit(
        self,
        operation: Any,
        dataset: lance.LanceDataset | None,
        written: Iterable[DataFile],
        replaced: Iterable[str] = (),
    ) -> None:
        with self.write_errors():
            self._date(replaced)
            version = None if dataset is None else dataset.version
            _lance().LanceDataset.commit(str(self.folder / POSTS), operation, read_version=version)
        self.seal(written)

    def _date(self, replaced: Iterable[str]) -> None:
        """Set the times of files that the next version does not need to now, so that `sweep` knows their age."""
        for name in replaced:
            os.utime(self.folder / name)

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())

    def delete(self, dataset: lance.LanceDataset, where: str) -> None:
        """Delete the posts that meet an SQL condition atomically; for the writer.

        Raises:
            LinkerError: if it cannot be written.
        """
        with self.write_errors():
            self._date(name for shard in Shards(self.folder, dataset) for name in shard.names[1:])
            dataset.delete(where)
        self.seal()

    def seal(self, written: Iterable[DataFile] = ()) -> None:
        """Record the checksums of new files; for the writer.

        Raises:
            LinkerError: if they cannot be written.
        """
        with self.write_errors():
            record_checksums(self.folder, {file.name: file.sha256 for file in written})

    def recover(self) -> None:
        """Finish what an interrupted command has left: record missing checksums and sweep; for the writer.

        Raises:
            LinkerError: if something cannot be written.
        """
        used = self.sweep()
        with self.write_errors():
            record_checksums(self.folder, dict.fromkeys(used))

    def sweep(self, before: float = 0.0) -> set[str]:
        """Remove files of interrupted appends, and of versions that were replaced; for the writer.

        Args:
            before: files of posts that were replaced before this time, in seconds since 1970, are removed.

        Returns:
            The data files in use.

        Raises:
            LinkerError: if a file cannot be removed.
        """
        shards, checksums, names = self.shards(), read_checksums(self.folder), files_of(self.folder)
        used = {name for shard in shards or () for name in shard.names}
        # Readers that open the corpus now may open a version before the newest, and read no manifest later; Lance
        # compares a commit with the transaction of the newest version.
        needed = {FACTS, *manifests(self.folder)[:_OPENED]} | used
        transaction = f"{POSTS}/_transactions/{0 if shards is None else shards.dataset.version - 1}-"

        def is_left(name: str) -> bool:
            if name.startswith((DATA, f"{POSTS}/_deletions/")):
                was_added = name in checksums or not name.startswith(DATA)
                return not was_added or os.stat(os.path.join(self.folder, name)).st_mtime < before
            return not name.startswith(transaction)

        left = {name for name in names if name not in needed and is_left(name)}
        with self.write_errors():
            if not checksums.keys().isdisjoint(left):
                forget_checksums(self.folder, left)
            for name in (*left, *(path.name for path in self.folder.glob(f".{CHECKSUMS}.*"))):  # half-written
                (self.folder / name).unlink(missing_ok=True)
        data = {Path(name).stem for name in names if name.startswith(DATA) and name not in left}
        for path in self.folder.glob(f"{SHARDS}/*"):
            if path.name not in data and path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
        return {name for name in used if name.startswith(DATA)}

    def count(self) -> int:
        """Return the number of posts."""
        dataset = self.dataset()
        return 0 if dataset is None else dataset.count_rows()


def check_local(folder: Path) -> None:
    """Check that a corpus can be stored in a folder: its embeddings are memory-mapped, which needs a file system.

    Raises:
        LinkerError: if the folder is an address.
    """
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(folder)):  # Path makes one slash of two
        raise LinkerError(
            f"{str(folder).replace(':/', '://', 1)}: a corpus needs a file system, not an address (posts may "
            "come from one); give a folder, and copy it when it is done"
        )


def _lance() -> Any:
    try:
        import lance
    except ModuleNotFoundError as error:
        raise LinkerError(
            "a corpus needs the package pylance: pip install 'article-linker[corpus]'"
        ) from error
    return lance
