"""Files of earlier versions: this version reads all of them and gives the same scores, labels and vectors.

A failure here means that users cannot use what they have. Mend the reader; never write an existing set again.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linker.annotation.session.session import Session
from linker.version import __version__
from tests.helpers import golden
from tests.helpers.forked import run_linker

FOLDER = Path(__file__).parent / "golden"
SETS = sorted(path for path in FOLDER.iterdir() if re.fullmatch(r"\d+\.\d+", path.name))
#: Points of 100: other processors and versions of torch round differently.
TOLERANCE = 0.05

each_set = pytest.mark.parametrize("folder", SETS, ids=lambda path: path.name)


def expected(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    return values


def test_there_is_a_set_of_this_version() -> None:
    assert ".".join(__version__.split(".")[:2]) in [path.name for path in SETS]


@each_set
def test_the_set_holds_every_family_and_is_small(folder: Path) -> None:
    assert set(expected(folder)["models"]) == set(golden.models(folder))
    types = {
        json.dumps(json.loads(file.read_text())["model"])
        for file in (folder / "models").glob("*/config.json")
    }
    for name in (
        *("siamese", "star_transformer", "cnn", "gru", "bigru", "mean", "word_weights"),
        *(
            "transformer",
            "int8",
            "ensemble",
            "article_softmax",
            "elapsed_time",
            "cross_encoder",
            "reranker",
        ),
    ):
        assert any(f'"{name}"' in text for text in types), name
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 1_500_000
    assert not [
        file for file in files if str(Path.home()).encode() in file.read_bytes() or file.suffix == ".log"
    ]


@pytest.mark.parametrize(
    ("folder", "name"),
    [(folder, name) for folder in SETS for name in golden.models(folder)],
    ids=lambda value: value.name if isinstance(value, Path) else value,
)
def test_a_model_folder_gives_the_stored_scores(folder: Path, name: str) -> None:
    scores = np.array(golden.read_model(folder, name))
    stored = np.array(expected(folder)["models"][name])
    np.testing.assert_allclose(scores, stored, rtol=0, atol=TOLERANCE)
    assert np.ptp(stored) > 1, "scores that are all alike show nothing"


@each_set
def test_a_corpus_gives_the_stored_scores(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("lance", reason="needs the extra corpus")
    for part in ("corpus", "models", "articles.jsonl", "posts.jsonl"):
        (shutil.copytree if (folder / part).is_dir() else shutil.copy)(folder / part, tmp_path / part)
    found, stored = golden.read_corpus(tmp_path), expected(folder)["corpus"]
    assert found == pytest.approx(stored, abs=TOLERANCE)
    # As the model gives them for the file.
    row = dict(
        zip([post.id for post in golden.texts(folder)[1]], expected(folder)["models"][golden.MODEL][0])
    )
    assert found == pytest.approx({id_: row[id_] for id_ in found}, abs=TOLERANCE)


@each_set
def test_a_calibration_gives_the_stored_probabilities(folder: Path) -> None:
    assert golden.read_calibration(folder) == pytest.approx(expected(folder)["calibration"], abs=0.005)


def same(found: dict[str, Any], stored: dict[str, Any]) -> None:
    assert found.pop("alpha") == pytest.approx(stored.pop("alpha"))
    assert found == stored


@each_set
def test_a_session_has_its_labels_and_continues(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "session", tmp_path / "session")
    stored = expected(folder)["session"]
    assert len(stored["labels"]) > 25
    assert 0 < stored["alpha"] < 1
    same(golden.read_session(tmp_path / "session"), stored)
    # Which posts come next may change with the query strategy; that labeling continues may not.
    with Session.open(tmp_path / "session", background=False) as session:
        (suggested,) = session.next("chi")
        session.label("chi", suggested.post.id, "not")
        session.undo("ann")
    found = golden.read_session(tmp_path / "session")["labels"]
    assert [suggested.post.id, "not", None, "chi", None] in found
    assert len(found) == len(stored["labels"])


@each_set
def test_a_project_has_its_settings_people_and_labels(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder / "projects", tmp_path / "projects")
    found, stored = golden.read_project(tmp_path), expected(folder)["project"]
    same(found.pop("session"), stored.pop("session"))
    assert found == stored


@each_set
def test_word_vectors_are_read(folder: Path) -> None:
    found, stored = golden.read_vectors(folder), expected(folder)["vectors"]
    assert found["words"] == stored["words"] > 100
    assert found[golden.WORD] == pytest.approx(stored[golden.WORD], abs=1e-4)


@each_set
def test_the_command_line_ranks_and_exports(folder: Path, tmp_path: Path) -> None:
    def linker(*arguments: str | Path) -> str:
        done = run_linker(tmp_path, *map(str, arguments))
        assert done.returncode == 0, done.stderr
        return done.stdout

    article = golden.texts(folder)[0][0]
    (tmp_path / "article.txt").write_text(f"{article.title}\n\n{article.text}", encoding="utf-8")
    lines = linker(
        "rank", "--model", folder / "models" / "star_transformer", "--article", "article.txt",
        "--posts", folder / "posts.jsonl", "--format", "jsonl", "--copies",
    )  # fmt: skip
    scores = {hit["id"]: hit["score"] for hit in map(json.loads, lines.splitlines())}
    ids = [post.id for post in golden.texts(folder)[1]]
    assert scores == pytest.approx(
        dict(zip(ids, expected(folder)["models"]["star_transformer"][0])), abs=TOLERANCE
    )

    shutil.copytree(folder / "session", tmp_path / "session")
    linker("annotate", "export", "session", "--out", "labels.jsonl")
    exported = [
        json.loads(line) for line in (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    labels = [[row["post_id"], row["label"], row["annotator"]] for row in exported if row["label"]]
    stored = expected(folder)["session"]["labels"]
    assert sorted(labels) == sorted([[id_, value, who] for id_, value, _, who, _ in stored])
