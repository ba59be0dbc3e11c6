"""Build a corpus: read, deduplicate, encode and append posts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from rich.progress import Progress

from linker.common.concurrency import ahead
from linker.common.console import progress_bar
from linker.common.errors import LinkerError
from linker.corpus.chunks import ChunkWriter, read_chunks
from linker.corpus.compaction import merge_small
from linker.corpus.deletion import delete_by_files, delete_rows
from linker.corpus.engines.engine import Engine
from linker.corpus.filters import is_in
from linker.corpus.indexes.near_duplicates import stored_groups
from linker.corpus.known_posts import Added, KnownPosts, post_keys
from linker.corpus.storage.reader import batches
from linker.corpus.storage.store import FACTS, CorpusMetadata, Store, check_local
from linker.data.files.line_errors import BadLines, OnError
from linker.data.io.columns import PostColumns
from linker.data.io.input_files import check_inputs, files_with_records
from linker.data.io.platform_rows import deleted_in
from linker.data.io.records import posts_of_files
from linker.data.types import Post
from linker.models.files.resolve import resolve_model
from linker.models.model import Model, embedding_submodel

# At most this many posts per worker are encoded again after an interruption.
POSTS_AT_ONCE = 25_000
CHARACTERS_AT_ONCE = 25_000_000


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
        files = files_with_records(paths, columns, bad_lines)
        deleted = deleted_in(files, columns)
        posts = posts_of_files(files, columns, bad_lines, deleted)
        chunks = ahead(read_chunks(posts, bad_lines, POSTS_AT_ONCE, CHARACTERS_AT_ONCE))
        # Closed before the engine, so that calls under way are canceled while it is there.
        with closing(chunks), progress_bar() as bar:
            added = _append(store, model, at_work, chunks, _Progress(bar, files), update)
        added.deleted = delete_by_files(store, deleted)
        merge_small(store, POSTS_AT_ONCE)
        if (shards := store.shards()) is not None:
            stored_groups(shards)  # otherwise the first search would do this
    return added


def _append(
    store: Store,
    model: Model,
    engine: Engine,
    chunks: Iterator[tuple[Sequence[Post], int]],
    progress: _Progress,
    update: bool,
) -> Added:
    """Append the new posts of chunks, and return the numbers of posts."""
    dataset, added, known_posts = store.dataset(), Added(), KnownPosts(update)
    if dataset is not None:
        rows = (batch.to_pydict() for batch in batches(dataset, ["id", "text"]))
        known_posts.add(
            np.concatenate([post_keys([], []), *(post_keys(row["id"], row["text"]) for row in rows)])
        )

    def new() -> Iterator[tuple[Sequence[Post], Sequence[str]]]:
        for posts, bytes_read in chunks:
            progress.read(len(posts), bytes_read)
            fresh, replaced = known_posts.new_posts(posts, added)
            progress.done(len(posts) - len(fresh))
            if fresh:
                yield fresh, replaced

    for file, replaced in engine.map(ChunkWriter(store, model), new()):
        if replaced:
            added.updated += delete_rows(store, is_in("id", replaced))
        store.append(file)
        added.new += file.rows
        progress.done(file.rows)
    return added


class _Progress:
    """Progress bar of posts; their total is estimated from the bytes that were read, if sizes are known."""

    def __init__(self, progress: Progress, files: Sequence[str]) -> None:
        self._size = sum(map(os.path.getsize, files)) if all(map(os.path.isfile, files)) else None
        self._posts = 0
        self._progress, self._bar = progress, progress.add_task("adding posts", total=None)

    def read(self, posts: int, bytes_read: int) -> None:
        """Count posts that were read, `bytes_read` from the beginning of the files."""
        self._posts += posts
        if self._size is not None and bytes_read:
            estimate = self._posts * max(self._size / bytes_read, 1.0)
            self._progress.update(self._bar, total=round(estimate))

    def done(self, posts: int) -> None:
        """Count posts that are known or written."""
        self._progress.advance(self._bar, posts)


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
        model: a model folder, `best` or `distilled`, or the config of a model that needs no training. What its
            features read of posts is stored; a model that has only a `score` reads all texts for every search.
        columns: column names of the files.
        on_error: as for `read_posts`.
        engine: where posts are encoded and written; None: in this process.
        update: as for `add_posts`.

    Returns:
        The numbers of posts.

    Raises:
        LinkerError: if the model is not found, or the folder is not a corpus; see `add_posts`.
    """
    check_local(folder)
    check_inputs(posts)
    reference = resolve_model(model)
    store = Store.open(folder) if (folder / FACTS).is_file() else None
    if store is not None and store.facts.fingerprint != reference.fingerprint:
        raise LinkerError(
            f"{folder}: is a corpus that another model encoded ({store.facts.model}); give another folder"
        )
    loaded = reference.load()
    if store is None:
        dim, similarity = 0, "no embeddings"
        if (encoder := embedding_submodel(loaded)) is not None:
            dim, similarity = encoder.post_vectors([]).shape[1], getattr(encoder, "similarity", "cosine")
        facts = CorpusMetadata(reference.lasting_name, reference.fingerprint, similarity, dim)
        store = Store.create(folder, facts)
    return add_posts(store, loaded, posts, columns, on_error, engine, update)


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
