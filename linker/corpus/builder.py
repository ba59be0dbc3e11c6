"""Build a corpus: read, deduplicate, encode and append posts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linker.common.concurrency import ahead
from linker.common.console import progress_bar
from linker.common.errors import LinkerError, ModelError
from linker.corpus.deletion import complete_groups, condition_of, delete_by_files, delete_rows
from linker.corpus.encoding import VECTORS, check_parts
from linker.corpus.engines.engine import Engine
from linker.corpus.fingerprint import fingerprint
from linker.corpus.indexes.id_set import KeySet, keys_of
from linker.corpus.indexes.vectors import finite
from linker.corpus.storage.reader import batches
from linker.corpus.storage.store import FACTS, CorpusMetadata, Store, check_local
from linker.data.io.columns import PostColumns
from linker.data.io.line_errors import BadLines, OnError
from linker.data.io.paths import check_inputs
from linker.data.io.records import stream_posts
from linker.data.types import Post
from linker.models.model import Model
from linker.models.resolve import resolve_model

# At most this many posts are encoded again after an interruption.
POSTS_AT_ONCE = 25_000
CHARACTERS_AT_ONCE = 25_000_000


@dataclass
class Added:
    """Numbers of posts that were read.

    Attributes:
        new: posts encoded and appended.
        known: posts skipped because the corpus has their id with the same text.
        conflicting: posts skipped because the corpus has their id with another text.
        updated: posts of `new` that replaced posts of the corpus with the same id and another text.
        deleted: posts of the corpus that were deleted, because the files delete them or their authors.
    """

    new: int = 0
    known: int = 0
    conflicting: int = 0
    updated: int = 0
    deleted: int = 0


def add_posts(
    store: Store,
    model: Model,
    paths: Sequence[str],
    columns: PostColumns,
    on_error: OnError,
    errors_dir: str,
    engine: Engine | None = None,
    update: bool = False,
) -> Added:
    """Append the new posts of some files, and delete those that files of a platform delete.

    Posts are appended 25,000 at a time, so an interrupted run loses none that was appended; run again, it skips them.

    Args:
        store: the corpus.
        model: the model that scores them.
        paths: see `input_files`.
        columns: column names of the files.
        on_error: as for `read_posts`.
        errors_dir: as for `read_posts`.
        engine: where posts are encoded; None: in this process.
        update: whether posts replace those of the corpus with the same id and another text.

    Returns:
        The numbers of posts.

    Raises:
        DataError: if a file cannot be read, or has an invalid line in strict mode; posts appended before stay.
        LinkerError: if another process is writing to the corpus.
        ModelError: if the model's embeddings have another dimension.
    """
    added = Added()
    with store.writing(), BadLines(on_error, errors_dir) as bad_lines, progress_bar() as progress:
        bar = progress.add_task("adding posts", total=None)
        known, deleted = _Known(store, update), set[bytes]()

        def unknown() -> Iterator[list[Post]]:
            for chunk in ahead(_chunks(stream_posts(paths, columns, bad_lines, deleted))):
                if on_error == "strict" and bad_lines.total:
                    return
                posts = known.new_among(chunk, added)
                progress.advance(bar, len(chunk) - len(posts))
                if posts:
                    yield posts

        with engine or Engine() as at_work, _Appender(store, added, known.replaced) as appender:
            for posts, files in at_work.encode(model, unknown()):
                vectors = files[VECTORS]
                if vectors["values"].shape[1] != store.facts.dim:
                    raise ModelError(
                        f"{store.folder}: the model's embeddings do not have {store.facts.dim} dimensions"
                    )
                if not finite(vectors):
                    raise ModelError(
                        f"{store.facts.model}: gives embeddings that are not finite numbers; train it again"
                    )
                appender.append(posts, files)
                progress.advance(bar, len(posts))
        added.deleted = delete_by_files(store, deleted)
        complete_groups(store)  # otherwise the first search would do this
    return added


class _Appender:
    """Writes posts in a thread while the next ones are encoded; at the end of the `with` block, all are written."""

    def __init__(self, store: Store, added: Added, replaced: set[str] | None = None) -> None:
        self._store, self._added = store, added
        self._replaced = set() if replaced is None else replaced
        store.sweep()
        store.seal()  # an interrupted append may have left files without checksums

    def __enter__(self) -> _Appender:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="append")
        self._last: Future[None] | None = None
        return self

    def __exit__(self, *error: object) -> None:
        self._pool.shutdown()
        self._finish()

    def append(self, posts: Sequence[Post], files: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Start writing posts; raises the error of the previous write, if there was one."""
        self._finish()
        self._last = self._pool.submit(self._write, posts, files)

    def _finish(self) -> None:
        last, self._last = self._last, None
        if last is not None:
            last.result()

    def _write(self, posts: Sequence[Post], files: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        former = [post.id for post in posts if post.id in self._replaced]
        if former:
            self._added.updated += delete_rows(self._store, condition_of(former))
        self._store.append(posts, files)
        self._added.new += len(posts)


class _Known:
    """The ids and texts of the posts in the corpus.

    Attributes:
        replaced: ids of posts that others with the same id replace.
    """

    def __init__(self, store: Store, update: bool = False) -> None:
        self._ids, self._pairs = KeySet(), KeySet()
        self._update = update
        self.replaced: set[str] = set()
        dataset = store.dataset()
        if dataset is not None:
            for batch in batches(dataset, ["id", "text"]):
                self._add(batch.column("id").to_pylist(), batch.column("text").to_pylist())

    def _add(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        self._ids.add(keys_of(ids))
        self._pairs.add(keys_of(_pairs(ids, texts)))

    def new_among(self, posts: Sequence[Post], added: Added) -> list[Post]:
        """Return the posts with new ids and remember them; count the others in `added`."""
        ids = [post.id for post in posts]
        there = self._ids.contains(keys_of(ids))
        same = self._pairs.contains(keys_of(_pairs(ids, [post.text for post in posts])))
        new: dict[str, Post] = {}
        for post, is_there, is_same in zip(posts, there, same):
            if not is_there and post.id not in new:
                new[post.id] = post
            elif is_same or (post.id in new and new[post.id].text == post.text):
                added.known += 1
            elif self._update:
                new[post.id] = post
                if is_there:
                    self.replaced.add(post.id)
            else:
                added.conflicting += 1
        self._add(list(new), [post.text for post in new.values()])
        return list(new.values())


def _pairs(ids: Iterable[str], texts: Iterable[str]) -> list[str]:
    return [f"{len(id)}:{id}{text}" for id, text in zip(ids, texts)]


def _chunks(posts: Iterable[Post]) -> Iterator[list[Post]]:
    chunk: list[Post] = []
    characters = 0
    for post in posts:
        chunk.append(post)
        characters += len(post.text)
        if len(chunk) == POSTS_AT_ONCE or characters > CHARACTERS_AT_ONCE:
            yield chunk
            chunk, characters = [], 0
    if chunk:
        yield chunk


def build_corpus(
    folder: Path,
    posts: Sequence[str],
    model: str,
    columns: PostColumns,
    on_error: OnError = "strict",
    errors_dir: str = ".",
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
        errors_dir: as for `read_posts`.
        engine: where posts are encoded; None: in this process.
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
    return add_posts(store, whole, posts, columns, on_error, errors_dir, engine, update)


def add_to_corpus(
    folder: Path,
    posts: Sequence[str],
    model: str | None,
    columns: PostColumns,
    on_error: OnError = "strict",
    errors_dir: str = ".",
    engine: Engine | None = None,
    update: bool = False,
) -> Added:
    """Add posts to an existing corpus with its model; `model` gives its new location. See `build_corpus`."""
    store = Store.open(folder)
    return build_corpus(
        folder, posts, model or store.facts.model, columns, on_error, errors_dir, engine, update
    )
