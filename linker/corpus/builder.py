"""Build a corpus: read, deduplicate, encode and append posts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from linker.common.concurrency import ahead
from linker.common.console import progress_bar
from linker.common.errors import LinkerError, ModelError
from linker.corpus.chunks import Chunk, ChunkWriter, Written, read_chunks
from linker.corpus.completion import complete_indexes
from linker.corpus.deletion import condition_of, delete_by_files, delete_rows
from linker.corpus.encoding import check_parts, fingerprint
from linker.corpus.engines.engine import Engine
from linker.corpus.known_posts import Added, Answer, KnownPosts, keys_in
from linker.corpus.storage.reader import parts_of, schema
from linker.corpus.storage.store import FACTS, CorpusMetadata, Store, check_local
from linker.data.files.line_errors import BadLines, OnError
from linker.data.files.paths import check_inputs
from linker.data.io.columns import PostColumns
from linker.data.io.folders import files_with_records
from linker.data.io.platform_rows import deleted_in
from linker.data.io.records import as_list, posts_of_files
from linker.data.types import Post
from linker.models.files.resolve import resolve_model
from linker.models.model import Model

# At most this many posts per worker are encoded again after an interruption, and those of one commit.
POSTS_AT_ONCE = 25_000
CHARACTERS_AT_ONCE = 25_000_000
# A commit lists all data files again. It therefore waits until there is one new file per 200, or some seconds.
_FILES_PER_NEW, _SECONDS = 200, 30.0


def add_posts(
    store: Store,
    model: Model,
    paths: Sequence[str],
    columns: PostColumns,
    on_error: OnError,
    engine: Engine | None = None,
    update: bool = False,
) -> Added:
    """Append the new posts of some files, and delete those that files of a platform delete.

    This process reads chunks of 25,000 posts, compares their keys, and commits in the order of the files what the
    engine encoded and wrote. An interrupted run loses nothing that was committed; run again, it skips that.

    Args:
        store: the corpus.
        model: the model that scores them.
        paths: see `input_files`.
        columns: column names of the files.
        on_error: as for `read_posts`.
        engine: where posts are encoded and written; None: in this process.
        update: whether posts replace those of the corpus with the same id and another text; of several, the last does.

    Returns:
        The numbers of posts.

    Raises:
        DataError: if a file cannot be read, or has an invalid line in strict mode; posts appended before stay.
        LinkerError: if another process is writing to the corpus.
        ModelError: if the model's embeddings have another dimension.
    """
    with store.writing(), BadLines(on_error) as bad_lines, engine or Engine() as at_work:
        store.recover()
        files = files_with_records(as_list(paths), columns, bad_lines)
        deleted = deleted_in(files, columns)
        posts = posts_of_files(files, columns, bad_lines, deleted)
        chunks = ahead(read_chunks(posts, bad_lines, POSTS_AT_ONCE, CHARACTERS_AT_ONCE))
        # Closed before the engine, so that calls under way are canceled while it is there.
        with closing(chunks), _Progress(files) as progress:
            added = _append(store, model, at_work, chunks, progress, update)
        added.deleted = delete_by_files(store, deleted, at_work)
        store.sweep()  # a worker that died may have left files
        complete_indexes(store, at_work)  # otherwise the first search would do this
    return added


def _append(
    store: Store,
    model: Model,
    engine: Engine,
    chunks: Iterator[Chunk],
    progress: _Progress,
    update: bool,
) -> Added:
    """Append the new posts of chunks, and return the numbers of posts."""
    dataset, added, known = store.dataset(), Added(), KnownPosts(update)
    parts = parts_of(dataset) if dataset is not None else []
    for keys in engine.map(keys_in, ((part,) for part in parts)):
        known.add(keys)

    def new() -> Iterator[tuple[Sequence[Post], Answer]]:
        for chunk in chunks:
            progress.read(len(chunk.posts), chunk.bytes_read)
            answer = known.answer(chunk.keys, added)
            progress.done(len(chunk.posts) - len(answer.rows))
            if len(answer.rows):
                yield chunk.posts, answer

    with _Committer(store, added) as committer:
        for written in engine.map(ChunkWriter(store, model), new()):
            committer.add(written)
            progress.done(written.file.rows)
    return added


class _Progress:
    """Progress bar of posts; their total is estimated from the bytes that were read, if sizes are known."""

    def __init__(self, files: Sequence[str]) -> None:
        self._size = sum(map(os.path.getsize, files)) if all(map(os.path.isfile, files)) else None
        self._posts = 0
        self._progress = progress_bar()
        self._bar = self._progress.add_task("adding posts", total=None)

    def __enter__(self) -> _Progress:
        self._progress.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._progress.__exit__(*error)

    def read(self, posts: int, bytes_read: int) -> None:
        """Count posts that were read, `bytes_read` from the beginning of the files."""
        self._posts += posts
        if self._size is not None and bytes_read:
            estimate = self._posts * max(self._size / bytes_read, 1.0)
            self._progress.update(self._bar, total=round(estimate))

    def done(self, posts: int) -> None:
        """Count posts that are known or written."""
        self._progress.advance(self._bar, posts)


class _Committer:
    """Commits data files, several at once; at the end of the `with` block, all are committed."""

    def __init__(self, store: Store, added: Added) -> None:
        self._store, self._added = store, added
        self._dataset = store.dataset()
        self._files = 0 if self._dataset is None else len(self._dataset.get_fragments())
        self._waiting: list[Written] = []
        self._last = time.monotonic()

    def __enter__(self) -> _Committer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._commit()

    def add(self, written: Written) -> None:
        """Commit a data file, now or with later ones."""
        if written.replaced:
            self._commit()  # the posts to replace may be among those that wait
            self._added.updated += delete_rows(self._store, condition_of(written.replaced))
            self._dataset = self._store.dataset()
        self._waiting.append(written)
        late = time.monotonic() - self._last > _SECONDS
        if written.replaced or late or len(self._waiting) * _FILES_PER_NEW > self._files:
            self._commit()

    def _commit(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            files = [one.file for one in waiting]
            self._dataset = self._store.append(files, self._dataset, schema())
            self._files += len(files)
            self._added.new += sum(one.rows for one in files)
        self._last = time.monotonic()


def build_corpus(
    folder: Path,
    posts: Sequence[str],
    model: str,
    columns: PostColumns,
    on_error: OnError = "strict",
    engine: Engine | None = None,
    update: bool = False,
) -> Added:
    """Encode posts into a corpus, or resume an interrupted build with the same model.

    Args:
        folder: the corpus.
        posts: files, folders, patterns, addresses (see `input_files`), or `-`, standard input.
        model: a model folder, `best` or `distilled`, or the config of a model that needs no training. Of an ensemble,
            the first part with embeddings encodes the posts; the other parts score as they do without a corpus.
        columns: column names of the files.
        on_error: as for `read_posts`.
        engine: where posts are encoded and written; None: in this process.
        update: as for `add_posts`.

    Returns:
        The numbers of posts.

    Raises:
        LinkerError: if the model is not found or has no embeddings, or the folder is not a corpus; see `add_posts`.
    """
    check_local(folder)
    check_inputs(posts)
    found = resolve_model(model)
    print_ = fingerprint(found)
    store = None
    if (folder / FACTS).is_file():
        store = Store.open(folder)
        if store.facts.fingerprint != print_:
            raise LinkerError(
                f"{folder}: is a corpus that another model encoded ({store.facts.model}); give another folder"
            )
    whole = found.load()
    try:
        loaded = check_parts(whole)
    except ModelError as error:
        raise ModelError(f"{model}: {error}") from error
    if store is None:
        vectors = loaded.post_vectors([])
        assert vectors is not None
        facts = CorpusMetadata(
            found.lasting_name, print_, getattr(loaded, "similarity", "cosine"), vectors.shape[1]
        )
        store = Store.create(folder, facts)
    return add_posts(store, whole, posts, columns, on_error, engine, update)


def add_to_corpus(
    folder: Path,
    posts: Sequence[str],
    model: str | None,
    columns: PostColumns,
    on_error: OnError = "strict",
    engine: Engine | None = None,
    update: bool = False,
) -> Added:
    """Add posts to an existing corpus with its model; `model` gives its new location. See `build_corpus`."""
    store = Store.open(folder)
    return build_corpus(folder, posts, model or store.facts.model, columns, on_error, engine, update)
