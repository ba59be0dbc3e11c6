"""The sentence_transformer model: names on the hub, and what it reports when it cannot work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linker.common.errors import ModelError
from linker.data.types import Article
from linker.models.sentence_transformer import SentenceTransformerModel
from tests.helpers.tiny_transformers import tiny


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"empty: not the folder of a sentence-transformers model"):
        SentenceTransformerModel(str(tmp_path / "empty")).score([Article("a", "text")], [])


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "modules.json").write_text("[]")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ModelError, match=r"pip install 'article-linker\[transformers\]'"):
        SentenceTransformerModel(str(tmp_path)).score([Article("a", "text")], [])


TINY_ON_THE_HUB = """
import json, sys
from pathlib import Path
import numpy as np
from linker.data.types import Post
from linker.models.sentence_transformer import SentenceTransformerModel
from linker.training.distillation.teacher import Teacher

name, missing = sys.argv[1:]
vectors = SentenceTransformerModel(name).post_vectors([Post("1", "the cat sat")])
assert np.allclose(Teacher(f"{name}@main").encode(["the cat sat"]), vectors)
assert np.allclose(SentenceTransformerModel(name, prompt="the ").post_vectors([Post("1", "cat sat")]), vectors)
print(json.dumps(vectors.shape))
SentenceTransformerModel(missing).post_vectors([Post("1", "the cat sat")])
"""


def run_offline(home: Path, name: str, missing: str) -> subprocess.CompletedProcess[str]:
    """Encode with models by their names on the hub, of which only the local cache is there."""
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-c", TINY_ON_THE_HUB, name, missing]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


def test_a_name_on_the_hub_is_read_from_the_cache(tmp_path: Path) -> None:
    library = pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    repository = tmp_path / "hub" / "models--user--tiny-model"
    network = library.SentenceTransformer(str(tiny("bert", tmp_path / "network")), device="cpu")
    network.save(str(repository / "snapshots" / "0123"))
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123")
    done = run_offline(tmp_path, "user/tiny-model", "user/no-such-model")
    assert done.stdout.split("\n")[-2:-1] == ["[1, 16]"], done.stderr
    assert "user/no-such-model: not in the local cache, and HF_HUB_OFFLINE is set; unset it" in done.stderr


@pytest.mark.parametrize("path", ["models/mine", "models/absent"])
def test_a_folder_goes_before_a_name_on_the_hub(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models" / "mine").mkdir(parents=True)
    with pytest.raises(ModelError, match=f"{path}: not the folder of a sentence-transformers model"):
        SentenceTransformerModel(path).score([Article("a", "text")], [])
