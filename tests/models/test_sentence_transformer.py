"""What the sentence_transformer model says when it cannot work."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from linker.common.errors import ModelError
from linker.data.types import Article
from linker.models.sentence_transformer import SentenceTransformerModel


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
