"""A tiny model with vectors, saved, and posts as files."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("lance", reason="the package pylance (extra `corpus`) is not installed")

from linker.config import build, resolve
from linker.corpus import builder
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.known_posts import Added
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store
from linker.data.io.columns import PostColumns
from linker.models.files.archive import save_model
from linker.models.model import Model
from tests.conftest import toy_posts

CONFIG = {"type": "siamese", "encoder": "mean", "embedder": {"dim": 8, "trainable": True}}


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    return write_model(tmp_path_factory.mktemp("corpus") / "model", seed=0)


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "POSTS_AT_ONCE", 64)


def write_model(folder: Path, seed: int, config: dict[str, Any] = CONFIG) -> Path:
    import torch

    torch.manual_seed(seed)
    model = build(Model, config)
    model.prepare(toy_posts())
    save_model(model, folder, {"model": resolve(Model, config)}, {}, "")
    return folder


def write_posts(path: Path, posts: list[dict]) -> str:
    path.write_text("".join(json.dumps(post) + "\n" for post in posts), encoding="utf-8")
    return str(path)


def build_of(folder: Path, posts: list[dict], model: Path | str) -> Path:
    """A corpus of these posts."""
    build_corpus(folder, [write_posts(folder.with_suffix(".jsonl"), posts)], str(model), PostColumns())
    return folder


def add(folder: Path, posts: list[dict]) -> Added:
    """Add posts to a corpus."""
    return add_to_corpus(folder, [write_posts(folder.with_suffix(".more.jsonl"), posts)], None, PostColumns())


def rows_in(folder: Path, *columns: str) -> list[dict]:
    """What a corpus stores of its posts, in their order."""
    dataset = Store.open(folder).dataset()
    assert dataset is not None
    return list(dataset.to_table(columns=[*columns]).to_pylist())


def ids_in(folder: Path) -> list[str]:
    return [row["id"] for row in rows_in(folder, "id")]


def no_room(*_: object, **__: object) -> None:
    """Fail as Lance does on a full disk."""
    raise OSError("LanceError(IO): No space left on device (os error 28), /home/runner/lance/writer.rs:190:9")


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def some_posts(count: int, seed: int = 0, start: int = 0) -> list[dict]:
    """Posts with the words of the toy data, languages, days and a number of likes."""
    texts = [post.text for post in toy_posts(seed, posts_per_article=8).posts]
    return [
        {
            "id": f"p{i:05d}",
            "text": f"{texts[i % len(texts)]} n{i}",
            "created_at": f"2031-05-{1 + i % 28:02d}T12:00:00Z",
            "lang": ("en", "de", "fr")[i % 3],
            "likes": i,
        }
        for i in range(start, start + count)
    ]


def odd_posts(count: int) -> list[dict]:
    """Posts one of which has no word that counts, another a word many times, and two the same text."""
    posts = some_posts(count)
    posts[3]["text"] = "the of and"
    posts[9]["text"] = "harbour1 " * 300 + "#GlacierNews harbour1's"
    posts[12]["text"] = posts[11]["text"]
    return posts


def arrays_in(folder: Path) -> list[tuple[str, bytes]]:
    """Names with checksums, and contents, of the files of arrays, in the order of the posts."""
    dataset = Store.open(folder).dataset()
    assert dataset is not None
    paths = [path for shard in Shards(folder, dataset) for path in sorted(shard.files.folder.iterdir())]
    return [(path.name, path.read_bytes()) for path in paths]
