"""Chunks of posts: read from files, and written into a corpus in any process."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from linker.common.errors import LinkerError, ModelError
from linker.corpus.encoding import encoded
from linker.corpus.indexes.vectors import VECTORS, finite
from linker.corpus.storage.checksums import FACTS
from linker.corpus.storage.data_files import DataFile
from linker.corpus.storage.reader import table_of
from linker.corpus.storage.store import Store
from linker.data.files.line_errors import BadLines
from linker.data.types import Post
from linker.models.model import Model


def read_chunks(
    posts: Iterable[Post], bad_lines: BadLines, most: int, most_characters: int
) -> Iterator[tuple[list[Post], int]]:
    """Yield posts in chunks, each with the number of bytes of the files, as they are stored, up to its end.

    In strict mode, no chunk has a post after the first bad line.

    Args:
        posts: the posts, read from files whose faults `bad_lines` collects.
        bad_lines: the bad lines so far.
        most: maximum number of posts of a chunk.
        most_characters: number of characters of their texts after which a chunk ends.
    """
    source, ended = iter(posts), False
    while not ended:
        chunk: list[Post] = []
        characters = 0
        while len(chunk) < most and characters <= most_characters:
            if (post := next(source, None)) is None:
                ended = True
                break
            chunk.append(post)
            characters += len(post.text)
        if bad_lines.total and bad_lines.on_error == "strict":
            return
        yield chunk, bad_lines.bytes_read


@dataclass(frozen=True)
class ChunkWriter:
    """Encodes posts and writes them into data files of a corpus.

    Attributes:
        store: the corpus.
        model: the model.
    """

    store: Store
    model: Model

    def __call__(self, posts: Sequence[Post], replaced: Sequence[str]) -> tuple[DataFile, Sequence[str]]:
        """Write a data file that is not yet committed.

        Args:
            posts: the posts.
            replaced: ids of those that replace others, returned as they are.

        Raises:
            LinkerError: if they cannot be written.
            ModelError: if the embeddings are not finite or of another dimension.
        """
        facts, folder = self.store.facts, self.store.folder
        if not (folder / FACTS).is_file():
            raise LinkerError(
                f"{folder}: a worker does not see the corpus; put it where all machines of the cluster see it "
                "under the same path"
            )
        files = encoded(self.model, posts)
        vectors = files.get(VECTORS)
        if (vectors["values"].shape[1] if vectors else 0) != facts.dim:
            raise ModelError(f"{folder}: the model's embeddings do not have {facts.dim} dimensions")
        if vectors and not finite(vectors):
            raise ModelError(f"{facts.model}: gives embeddings that are not finite numbers; train it again")
        with self.store.write_errors():
            return DataFile.write(folder, table_of(posts), files), replaced
