"""What `--data`, `--articles`, `--posts` and `--vectors` change in a training config."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError, DataError
from linker.data.io.tables import ENDINGS, format_of_name
from linker.data.word_vectors.cache import available, cache_folder, find_vectors, published

Config = dict[str, Any]

#: The files that each type of reader reads, as its config keys name them.
FILES = {
    "articles_and_posts": ("articles", "posts"),
    "hashtag_pairs": ("posts",),
    "labelled_texts": ("labels", "texts"),
    "passages": ("articles",),
    "single_file": ("files",),
    "texts": ("files",),
}


def use_data(config: Config, data: str | None, articles: str | None, posts: str | None) -> None:
    """Let the reader of a config read other files, in place.

    Args:
        config: a training config.
        data: a folder with one file per input of the reader (`articles.*` and `posts.*`, say), or, where the reader
            has only one input, that file or a folder of such files.
        articles: a file of articles; goes before `data`.
        posts: a file of posts; goes before `data`.

    Raises:
        DataError: listing everything that is missing or ambiguous.
        ConfigError: the reader has no such inputs.
    """
    if data is None and articles is None and posts is None:
        return
    reader = _component(config.setdefault("data", {}), "reader")
    type_ = reader.get("type")
    keys = FILES.get(type_) if isinstance(type_, str) else None
    if keys is None:
        raise ConfigError(
            f"data.reader: --data, --articles and --posts know no files of the reader {type_!r}; "
            "set them with -o data.reader.KEY=FILE"
        )
    given = {"articles": articles, "posts": posts}
    problems = [
        f"--{name}: the reader {type_!r} of this config reads {' and '.join(keys)}, no {name}; use --data"
        for name, file in given.items()
        if file is not None and name not in keys
    ]
    for key in keys:
        file = given.get(key)
        if file is not None:
            if not _is_there(file):
                problems.append(f"--{key} {file}: no such file")
            reader[key] = file
        elif data is not None:
            try:
                reader[key] = _found(data, key, len(keys) == 1)
            except DataError as error:
                problems.append(str(error))
    if problems:
        raise DataError("\n  ".join(dict.fromkeys(problems)))


def use_vectors(config: Config, source: str) -> list[str | None]:
    """Let the model of a config take other word vectors, in place.

    Args:
        config: a training config.
        source: a file, or the name of published vectors.

    Returns:
        The cache folders in which linker itself will look for a name (see `cache_folder`).

    Raises:
        ConfigError: the model takes no word vectors.
    """
    found = list(_vectors(config.get("model")))
    if not found:
        raise ConfigError("--vectors: the model of this config takes no word vectors")
    caches = []
    for holder in found:
        vectors = _component(holder, "vectors")
        if vectors.get("type") == "torchtext":
            # torchtext puts the corpus first: glove.6B.300d.
            vectors["name"] = f"glove.{source.removeprefix('glove.')}" if published(source) else source
        else:
            vectors["source"] = source
            vectors["otherwise"] = None
            caches.append(vectors.get("cache"))
    return list(dict.fromkeys(caches))


def must_fetch(source: str, cache: str | None) -> bool:
    """Must vectors be downloaded first?

    Raises:
        DataError: they are neither a file nor published.
    """
    if published(source) is None:
        find_vectors(source, cache)
    return available(source, "", cache) == ""


def settle_vectors(config: Config, say: Callable[[str], None]) -> None:
    """Write into a config, in place, which vectors it will use where it leaves a choice.

    Args:
        config: a complete training config.
        say: called with one line where the vectors are not those that the config names first.
    """
    for holder in _vectors(config.get("model")):
        vectors = holder["vectors"]
        source, otherwise = vectors.get("source"), vectors.get("otherwise")
        if otherwise is None:
            continue
        vectors["source"], vectors["otherwise"] = available(source, otherwise, vectors["cache"]), None
        if vectors["source"] == otherwise:
            name = source.removeprefix("glove.")
            say(
                f"word vectors: {otherwise}, because GloVe {name} is not in {cache_folder(vectors['cache'])}; "
                f"add --vectors {name} to download and use it"
            )


def _vectors(model: Any) -> Iterator[Config]:
    """Every part of a model's config that has a key `vectors`."""
    if isinstance(model, dict):
        if model.get("vectors") is not None:
            yield model
        for value in model.values():
            yield from _vectors(value)
    elif isinstance(model, list):
        for value in model:
            yield from _vectors(value)


def _component(holder: Config, key: str) -> Config:
    """The config of a component, as an object where it is only a name."""
    value = holder.get(key)
    if isinstance(value, str):
        value = holder[key] = {"source": value} if key == "vectors" else {"type": value}
    if not isinstance(value, dict):
        raise ConfigError(f"{key}: expected an object in the config, found {value!r}")
    return value


def _found(data: str, key: str, only_input: bool) -> str:
    """The file or folder of an input in what `--data` names."""
    folder = Path(data).expanduser()
    if not _is_there(data):
        raise DataError(f"--data {data}: no such folder")
    if only_input and not folder.is_dir():
        return data
    if not folder.is_dir():
        raise DataError(f"--data {data}: not a folder; name single files with --articles and --posts")
    own = [file for file in folder.iterdir() if file.name.split(".")[0] == key and format_of_name(file.name)]
    if len(own) == 1:
        return str(own[0])
    if own:
        names = ", ".join(sorted(file.name for file in own))
        raise DataError(f"--data {data}: several files of {key} ({names}); name one with --{key}")
    if only_input and key == "files":
        return data
    raise DataError(f"--data {data}: no file of {key} in it ({key}{', '.join(ENDINGS[:4])}…, packed or not)")


def _is_there(path: str) -> bool:
    return "://" in path or Path(path).expanduser().exists()
