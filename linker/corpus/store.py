"""The corpus on disk: a Lance dataset of posts with their vectors, and a note of what made it."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linker.errors import DataError, LinkerError
from linker.models.folder import write_json
from linker.version import __version__

if TYPE_CHECKING:
    import lance
    import pyarrow as pa

FORMAT = 1
FACTS, POSTS, LOCK = "corpus.json", "posts.lance", "writer.lock"
# The first Lance format that can filter by what stands within a JSON column.
LANCE_FORMAT = "2.2"


@dataclass(frozen=True)
class Facts:
    """What a corpus says of itself.

    Attributes:
        model: where the model lay that encoded it.
        fingerprint: what tells that model from every other.
        similarity: how its vectors are compared.
        dim: their length.
    """

    model: str
    fingerprint: str
    similarity: str
    dim: int


class Store:
    """The folder of a corpus. Posts are only ever appended; an append is there as a whole or not at all."""

    def __init__(self, folder: Path, facts: Facts) -> None:
        self.folder = folder
        self.facts = facts

    @classmethod
    def create(cls, folder: Path, facts: Facts) -> Store:
        """Begin a corpus where none is.

        Raises:
            LinkerError: the folder holds something else, or cannot be written.
        """
        if folder.exists() and any(path.name != LOCK for path in folder.iterdir()):
            raise LinkerError(f"{folder}: holds something else; give another folder for the corpus")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / FACTS, {"format": FORMAT, "linker_version": __version__, **asdict(facts)})
        return cls(folder, facts)

    @classmethod
    def open(cls, folder: Path) -> Store:
        """Open a corpus.

        Raises:
            DataError: there is none, it is damaged, or a newer version made it.
        """
        path = folder / FACTS
        if not path.is_file():
            problem = f"not a corpus, it has no {FACTS}" if folder.is_dir() else "there is no such corpus"
            raise DataError(f"{folder}: {problem}; make one with `linker corpus build`")
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] > FORMAT:
                raise DataError(
                    f"{folder}: written by linker {content.get('linker_version')} in a newer format; "
                    f"this is linker {__version__}: upgrade it"
                )
            facts = Facts(**{name: content[name] for name in Facts.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: damaged ({error}); build the corpus again") from error
        return cls(folder, facts)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the corpus as its only writer.

        Raises:
            LinkerError: another process is writing.
        """
        with open(self.folder / LOCK, "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise LinkerError(
                    f"{self.folder}: another process is writing to this corpus; wait until it has ended"
                ) from error
            yield

    @property
    def uri(self) -> str:
        """Where the Lance dataset lies."""
        return str(self.folder / POSTS)

    def dataset(self) -> lance.LanceDataset | None:
        """The newest version of the posts; None where nothing was appended yet.

        Raises:
            DataError: it cannot be opened.
        """
        if not (self.folder / POSTS / "_versions").is_dir():
            return None
        try:
            return _lance().dataset(self.uri)
        except (OSError, ValueError) as error:
            raise DataError(f"{self.uri}: cannot be opened ({error}); run `linker corpus verify`") from error

    def append(self, table: pa.Table) -> None:
        """Add posts, all or none."""
        mode = "create" if self.dataset() is None else "append"
        _lance().write_dataset(table, self.uri, mode=mode, data_storage_version=LANCE_FORMAT)

    def count(self) -> int:
        """How many posts there are."""
        dataset = self.dataset()
        return 0 if dataset is None else dataset.count_rows()


def _lance() -> Any:
    try:
        import lance
    except ModuleNotFoundError as error:
        raise LinkerError(
            "a corpus needs the package pylance: pip install 'article-linker[corpus]'"
        ) from error
    return lance
