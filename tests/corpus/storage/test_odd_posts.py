"""Posts that nobody expects."""

import pytest

from linker.common.errors import DataError
from linker.corpus.builder import build_corpus
from linker.corpus.corpus import Corpus
from linker.data.io.columns import PostColumns
from tests.corpus.conftest import build_of

ARTICLE = "harbour0 harbour1 harbour2 harbour3 w1 w2"


def test_odd_fields_come_back(tmp_path, model_folder):
    odd = {
        "nul": "a\0b", "family": "\U0001f469\u200d\U0001f469\u200d\U0001f467", "": "no name",
        "deep": [[[[[[{"x": [None, True, -1]}]]]]]], "vector": [1, 2], "extra": {"text": "own"},
        "large": 2**63 - 1, "small": 1e-320, "right to left": "\u202e\u05e9\u05dc\u05d5\u05dd",
    }  # fmt: skip
    posts = [{"id": "\U0001f469\u200d\U0001f469\u200d\U0001f467", "text": "e\u0301 \u202e \0 \ufdfa", **odd}]
    (found,) = Corpus.open(build_of(tmp_path / "corpus", posts, model_folder)).rank(ARTICLE)
    assert (found.post.id, found.post.text) == (posts[0]["id"], posts[0]["text"])
    assert found.post.extra == odd


def test_lines_that_are_no_posts_are_set_aside(tmp_path, model_folder):
    line, reason = '{"id": "x", "text": "a", "more": {"\\udc00": 1}}', "half of a surrogate pair"
    path = tmp_path / "posts.jsonl"
    path.write_text(f'{{"id": "a", "text": "w1"}}\n{line}\n{{"id": "b", "text": "w2"}}\n', encoding="utf-8")
    with pytest.raises(DataError, match=f"posts.jsonl, line 2: .*{reason}"):
        build_corpus(tmp_path / "strict", [str(path)], str(model_folder), PostColumns())
    added = build_corpus(tmp_path / "corpus", [str(path)], str(model_folder), PostColumns(), "skip")
    assert added.new == 2
    assert reason in (tmp_path / "posts.jsonl.errors.jsonl").read_text()
