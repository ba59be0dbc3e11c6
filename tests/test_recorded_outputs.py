"""Commands write what they wrote when tests/recorded was recorded: `scripts/record_outputs.py` records it again.

A difference that is intended is recorded with the change that makes it, and the commit says why.
"""

from pathlib import Path

import pytest

from tests.helpers import recorded_outputs
from tests.helpers.recorded_outputs import FOLDER, MODELS, Difference, Output

pytestmark = pytest.mark.xdist_group("recorded outputs")


@pytest.mark.parametrize("count", [2, pytest.param(None, marks=pytest.mark.slow)])  # None: all articles
@pytest.mark.parametrize("model", MODELS)
def test_outputs_are_as_recorded(
    model: str, count: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = recorded_outputs.differences(model, recorded_outputs.outputs(model, count))
    first = "\n".join(map(str, found[:3]))
    assert not found, f"{len(found)} differences; `python scripts/record_outputs.py` lists all:\n{first}"


def test_recordings_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_500_000


def found(content: object, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    old = {"scores": {"p": 54.2}, "fields": {"p": {"lang": "en", "words": [["ferry", 0.04]]}}}
    monkeypatch.setattr(recorded_outputs, "recorded", lambda model: {("a", "rank"): old})
    return [str(one) for one in recorded_outputs.differences("bm25", [Output("a", "rank", content)])]


def test_a_difference_names_article_command_post_and_both_values(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"p": {"lang": "en", "words": [["ferry", 0.04]]}}
    assert found({"scores": {"p": 54.21}, "fields": fields}, monkeypatch) == []
    assert found({"scores": {"p": 54.6}, "fields": fields}, monkeypatch) == [
        "bm25, a, rank: scores > p: was 54.2, is 54.6"
    ]
    assert found({"scores": {"q": 54.2}, "fields": fields}, monkeypatch) == [
        "bm25, a, rank: scores > p: was 54.2, is absent",
        "bm25, a, rank: scores > q: was absent, is 54.2",
    ]
    fields = {"p": {"lang": "en", "words": [["boat", 0.04]]}}
    assert found({"scores": {"p": 54.2}, "fields": fields}, monkeypatch) == [
        'bm25, a, rank: fields > p > words > 0 > 0: was "ferry", is "boat"'
    ]
    assert found({"error": "no"}, monkeypatch) != []


def test_the_kind_of_a_difference_leaves_the_post_out() -> None:
    kinds = [
        Difference("bm25", "a", "rank", place, 1, 2).kind
        for place in (("fields", "p", "lang"), ("scores", "p"), ("metrics", "MAP"))
    ]
    assert kinds == ["fields lang", "scores", "metrics"]
