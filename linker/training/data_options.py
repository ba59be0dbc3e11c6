"""The options `--data`, `--articles`, `--posts` and `--vectors` of `linker train`, applied to its config."""

from pathlib import Path
from typing import Any

from linker.common.errors import ConfigError, DataError
from linker.data.files.tables import ENDINGS, format_of_name
from linker.data.readers.reader import PairReader
from linker.data.word_vectors.published import ARCHIVES, vector_file
from linker.models.files.archive import walk

Config = dict[str, Any]


def use_data(config: Config, data: str | None, articles: str | None, posts: str | None) -> None:
    """Set the files that the reader of a config reads, in place.

    Args:
        config: a training config.
        data: a folder with one file per input of the reader (`articles.*` and `posts.*`, say), or, if the reader
            has only one input, that file or a folder of such files.
        articles: a file of articles; takes precedence over `data`.
        posts: a file of posts; takes precedence over `data`.

    Raises:
        DataError: if files are missing or ambiguous; lists all of them.
        ConfigError: if the reader has no such inputs.
    """
    if data is None and articles is None and posts is None:
        return
    reader = _component(config.setdefault("data", {}), "reader")
    type_ = reader.get("type")
    keys = PairReader.by_name(type_).inputs if isinstance(type_, str) else ()
    if not keys:
        raise ConfigError(
            f"data.reader: --data, --articles and --posts do not apply to the reader {type_!r}; "
            "set them with -o data.reader.KEY=FILE"
        )
    files = {"articles": articles, "posts": posts}
    problems = [
        f"--{name}: the reader {type_!r} of this config reads {' and '.join(keys)}, no {name}; use --data"
        for name, file in files.items()
        if file is not None and name not in keys
    ]
    for key in keys:
        file = files.get(key)
        try:
            if file is not None:
                reader[key] = _existing(f"--{key}", file, "file")
            elif data is not None:
                reader[key] = _input_in(data, key, len(keys) == 1)
        except DataError as error:
            problems.append(str(error))
    if problems:
        raise DataError("\n  ".join(dict.fromkeys(problems)))


def use_vectors(config: Config, source: str) -> None:
    """Set the word vectors of the model of a config, in place.

    Args:
        config: a training config.
        source: a file, or a name of GloVe.

    Raises:
        ConfigError: if the model takes no word vectors.
    """
    holders = _with_vectors(config)
    if not holders:
        raise ConfigError("--vectors: the model of this config takes no word vectors")
    for holder in holders:
        vectors = _component(holder, "vectors")
        name = source.removeprefix("glove.")
        if vectors.get("type") == "torchtext":
            # torchtext puts the corpus first: glove.6B.300d.
            vectors["name"] = f"glove.{name}" if name in ARCHIVES else source
        else:
            vectors["source"] = source


def find_vectors(config: Config) -> None:
    """Find the files of the word vectors of a complete config, before anything slow; GloVe is downloaded if missing.

    Raises:
        DataError: if one is neither a file nor a name of GloVe.
    """
    for holder in _with_vectors(config):
        if (source := holder["vectors"].get("source")) is not None:
            vector_file(source, holder["vectors"]["cache"])


def _with_vectors(config: Config) -> list[Config]:
    """Return every part of a config's model that has a key `vectors`."""
    parts = (part for part in walk(config.get("model")) if isinstance(part, dict))
    return [part for part in parts if part.get("vectors") is not None]


def _component(holder: Config, key: str) -> Config:
    """Return the config of a component; a bare name becomes an object."""
    value = holder.get(key)
    if isinstance(value, str):
        value = holder[key] = {"source": value} if key == "vectors" else {"type": value}
    if not isinstance(value, dict):
        raise ConfigError(f"{key}: expected an object in the config, found {value!r}")
    return value


def _input_in(data: str, key: str, only_input: bool) -> str:
    """Return the file or folder of an input of a reader in the argument of `--data`."""
    folder = Path(_existing("--data", data, "folder")).expanduser()
    if not folder.is_dir():
        if only_input:
            return data
        raise DataError(f"--data {data}: not a folder; give single files with --articles and --posts")
    matching = [
        file for file in folder.iterdir() if file.name.split(".")[0] == key and format_of_name(file.name)
    ]
    if len(matching) == 1:
        return str(matching[0])
    if matching:
        names = ", ".join(sorted(file.name for file in matching))
        raise DataError(f"--data {data}: several files `{key}` ({names}); name one with --{key}")
    if only_input and key == "files":
        return data
    raise DataError(
        f"--data {data}: no file `{key}` in this folder "
        f"(with an ending such as {', '.join(ENDINGS[:4])}, also compressed)"
    )


def _existing(option: str, path: str, kind: str) -> str:
    """Return a path after checking that it exists; an address on the web is checked when it is read."""
    if "://" not in path and not Path(path).expanduser().exists():
        raise DataError(f"{option} {path}: {kind} not found")
    return path
