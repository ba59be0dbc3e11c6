"""A tiny model with vectors, saved, and posts as files."""

import json
from pathlib import Path

import pytest

pytest.importorskip("lance", reason="the package pylance (extra `corpus`) is not installed")

from linker.config import build, resolve
from linker.corpus.storage.shards import Shards
from linker.corpus.storage.store import Store
from linker.models.files.archive import save_model
from linker.models.model import Model
from tests.conftest import toy_posts

CONFIG = {"type": "siamese", "encoder": "mean", "embedder": {"dim": 8, "trainable": True}}


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "model"
    return write_model(folder, seed=0)


def write_model(folder: Path, seed: int) -> Path:
    import torch

    torch.manual_seed(seed)
    model = build(Model, CONFIG)
    model.prepare(toy_posts())
    save_model(model, folder, {"model": resolve(Model, CONFIG)}, {}, "")
    return folder


def write_posts(path: Path, posts: list[dict]) -> str:
    path.write_text("".join(json.dumps(post) + "\n" for post in posts), encoding="utf-8")
    return str(path)


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


def arrays_in(folder: Path) -> list[tuple[str, bytes]]:
    """Names with checksums, and contents, of the files of arrays, in the order of the posts."""
    dataset = Store.open(folder).dataset()
    assert dataset is not None
    paths = [path for shard in Shards(folder, dataset) for path in sorted(shard.files.folder.iterdir())]
    return [(path.name, path.read_bytes()) for path in paths]
