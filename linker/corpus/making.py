"""Beginning a corpus, and going on with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linker.corpus.building import Added, add_posts
from linker.corpus.engines.engine import Engine
from linker.corpus.fingerprint import fingerprint
from linker.corpus.matrix import Matrix
from linker.corpus.parts import Parts, check_parts
from linker.corpus.store import FACTS, Facts, Store, check_local
from linker.data.columns import PostColumns
from linker.data.formats.bad_lines import OnError
from linker.data.inputs import check_inputs
from linker.errors import LinkerError, ModelError
from linker.models.shipped import FOLDERS
from linker.ranking.linker import find_model


def build_corpus(
    folder: Path,
    posts: Sequence[str],
    model: str,
    columns: PostColumns,
    on_error: OnError = "strict",
    errors_dir: str = ".",
    engine: Engine | None = None,
) -> Added:
    """Encode posts into a corpus; go on where an earlier build with the same model was cut off.

    Args:
        folder: the corpus.
        posts: files, folders, patterns, addresses (see `input_files`), or `-`, standard input.
        model: a model folder, `best` or `distilled`, or the config of a model that needs no training. Of a model made
            of others, the first part that has vectors encodes; the others score as they do without a corpus.
        columns: what the columns are called.
        on_error: as for `read_posts`.
        errors_dir: as for `read_posts`.
        engine: where posts are encoded; None: in this process.

    Raises:
        LinkerError: no such model, or one without vectors; the folder holds something else; see `add_posts`.
    """
    check_local(folder)
    check_inputs(posts)
    found = find_model(model)
    print_ = fingerprint(found.contender)
    store = None
    if (folder / FACTS).is_file():
        store = Store.open(folder)
        if store.facts.fingerprint != print_:
            raise LinkerError(
                f"{folder}: is a corpus that another model encoded ({store.facts.model}); give another folder"
            )
    whole = found.load().model
    try:
        loaded = check_parts(whole)
    except ModelError as error:
        raise ModelError(f"{model}: {error}") from error
    if store is None:
        vectors = loaded.post_vectors([])
        assert vectors is not None
        shipped = {str(path): name for name, path in FOLDERS.items()}
        given = found.contender.given
        place = shipped.get(given) or str(Path(given).resolve())
        facts = Facts(place, print_, getattr(loaded, "similarity", "cosine"), vectors.shape[1])
        store = Store.create(folder, facts)
    added = add_posts(store, loaded, posts, columns, on_error, errors_dir, engine)
    dataset = store.dataset()
    if dataset is not None:  # else whoever asks first would wait for it
        vectors = Matrix(store.folder, store.facts.dim).complete(dataset)
        Parts(store.folder, dataset, whole, vectors).complete()
    return added


def add_to_corpus(
    folder: Path,
    posts: Sequence[str],
    model: str | None,
    columns: PostColumns,
    on_error: OnError = "strict",
    errors_dir: str = ".",
    engine: Engine | None = None,
) -> Added:
    """`build_corpus` for a corpus that is there, with the model that it names."""
    store = Store.open(folder)
    return build_corpus(folder, posts, model or store.facts.model, columns, on_error, errors_dir, engine)
