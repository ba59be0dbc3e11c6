"""Loading a model runs no code out of its folder."""

import ast
import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from linker.common.errors import ModelError
from linker.data.types import Article, Post
from linker.models.sentence_transformer import SentenceTransformerModel
from linker.models.siamese.hugging_face import load_network
from tests.helpers.tiny_transformers import tiny

ROOT = Path(__file__).parents[2]
# Loads a matrix, not a model.
NOT_LOADERS = ("nn.Embedding.from_pretrained",)
CODE = """
from pathlib import Path
Path({mark!r}).write_text("ran")
from torch import nn
class Evil(nn.Module):
    @classmethod
    def load(cls, *_, **__):
        return cls()
"""


def loaders() -> list[tuple[str, ast.Call]]:
    """All calls in linker that load a model of Hugging Face."""
    found = []
    for path in sorted((ROOT / "linker").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name.endswith((".from_pretrained", "SentenceTransformer", ".pipeline", ".from_config")):
                    found.append((f"{path.relative_to(ROOT)}:{node.lineno}: {name}", node))
    return [one for one in found if not one[0].endswith(NOT_LOADERS)]


def test_no_loader_is_asked_for_remote_code() -> None:
    assert len(loaders()) >= 4
    for place, call in loaders():
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        source = ast.unparse(named["trust_remote_code"]) if "trust_remote_code" in named else ""
        # Either it says so itself, or it passes the options that do; a config that is loaded already has no code.
        passes = None in named and ast.unparse(named[None]) == "options"
        assert source == "False" or passes or place.endswith("auto.from_config"), place
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "linker").rglob("*.py")]
    assert not [
        text for text in texts if '"trust_remote_code": True' in text or "trust_remote_code=True" in text
    ]


def test_every_loader_of_weights_is_asked_for_safetensors() -> None:
    weights = [
        (place, ast.unparse(call))
        for place, call in loaders()
        if place.endswith(("auto.from_pretrained", "SentenceTransformer"))
    ]
    assert len(weights) >= 2
    for place, source in weights:
        assert "use_safetensors=True" in source or "'use_safetensors': True" in source, place


def test_nothing_in_linker_unpickles() -> None:
    # torch.load with weights_only=True reads plain data only; that is how torchtext's caches are read.
    for path in sorted((ROOT / "linker").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name, source = ast.unparse(node.func), ast.unparse(node)
                place = f"{path}:{node.lineno}: {source}"
                assert name not in ("pickle.load", "pickle.loads", "joblib.load", "pickle.Unpickler"), place
                assert name != "torch.load" or "weights_only=True" in source, place
                assert name not in ("np.load", "numpy.load") or "allow_pickle=False" in source, place


@pytest.fixture
def unpickled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was given to `torch.load`, which reads nothing."""
    found: list[object] = []

    def load(file: object, *_: object, **__: object) -> None:
        found.append(file)
        raise AssertionError(f"torch.load({file})")

    monkeypatch.setattr(torch, "load", load)
    return found


def as_pickle(folder: Path) -> None:
    """Write the weights of a folder as a pickle instead."""
    weights = load_file(folder / "model.safetensors")
    torch.save(weights, folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()


def test_a_network_in_a_pickle_is_refused(tmp_path: Path, unpickled: list[object]) -> None:
    folder = Path(tiny("bert", tmp_path / "network"))
    as_pickle(folder)
    with pytest.raises(
        ModelError, match=r"pytorch_model\.bin: weights in a pickle.*model\.safetensors beside it"
    ):
        load_network(str(folder))
    assert unpickled == []


@pytest.mark.parametrize("part", ["", "2_Dense"])
def test_a_sentence_transformer_in_a_pickle_is_refused(
    tmp_path: Path, unpickled: list[object], part: str
) -> None:
    library = pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    folder = tmp_path / "model"
    network = library.SentenceTransformer(str(tiny("bert", tmp_path / "network")), device="cpu")
    network.append(modules.Dense(16, 4))
    network.save(str(folder))
    model = SentenceTransformerModel(str(folder))
    model.score([Article("a", "text")], [Post("1", "the cat")])
    as_pickle(folder / part)
    with pytest.raises(ModelError, match=r"pytorch_model\.bin: weights in a pickle"):
        SentenceTransformerModel(str(folder)).score([Article("a", "text")], [Post("1", "the cat")])
    assert unpickled == []


def test_code_beside_a_network_is_not_run(tmp_path: Path) -> None:
    folder, mark = Path(tiny("bert", tmp_path / "network")), tmp_path / "ran"
    (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    config = json.loads((folder / "config.json").read_text())
    for kind in ("AutoConfig", "AutoModel", "AutoTokenizer"):
        config.setdefault("auto_map", {})[kind] = "evil.Evil"
    (folder / "config.json").write_text(json.dumps(config))
    load_network(str(folder))
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "evil"}))
    with pytest.raises(ModelError):
        load_network(str(folder))
    assert not mark.exists()


@pytest.mark.parametrize("kind", ["evil.Evil", "./evil.Evil"])
def test_code_of_a_module_is_not_run(tmp_path: Path, kind: str) -> None:
    library = pytest.importorskip("sentence_transformers", reason="needs the extra transformers")
    folder, mark = tmp_path / "model", tmp_path / "ran"
    library.SentenceTransformer(str(tiny("bert", tmp_path / "network")), device="cpu").save(str(folder))
    (folder / "evil.py").write_text(CODE.format(mark=str(mark)))
    modules = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([{**modules[0], "type": kind}, *modules[1:]]))
    with pytest.raises(ModelError):
        SentenceTransformerModel(str(folder)).score([Article("a", "text")], [Post("1", "the cat")])
    assert not mark.exists()
