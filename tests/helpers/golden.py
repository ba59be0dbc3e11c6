"""What a version of linker reads from a golden set; `scripts/make_golden.py` writes it, the tests compare it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from linker.annotation.project.project import ProjectsFolder
from linker.annotation.session.session import Session
from linker.calibration.calibration import Calibration
from linker.corpus.corpus import Corpus
from linker.data import Article, Post, read_articles, read_posts
from linker.data.word_vectors.file import VectorFile
from linker.ranking.ranker import load

#: Model that encoded the corpus and made the calibration of a set.
MODEL = "article_softmax"
#: Word whose vector is compared.
WORD = "ferry"


def texts(folder: Path) -> tuple[list[Article], list[Post]]:
    """Return the articles and posts of a set."""
    return read_articles(str(folder / "articles.jsonl")), read_posts(str(folder / "posts.jsonl"))


def models(folder: Path) -> list[str]:
    """Return the names of the model folders in a set."""
    return sorted(path.parent.name for path in (folder / "models").glob("*/config.json"))


def read_model(folder: Path, name: str) -> list[list[float]]:
    """Return the scores of a model, 0 to 100, articles × posts."""
    scores = load(folder / "models" / name).score(*texts(folder))
    return [[round(float(score), 3) for score in row] for row in scores]


def read_corpus(folder: Path) -> dict[str, float]:
    """Return the scores of a corpus for the first article, by post."""
    corpus = Corpus.open(folder / "corpus", folder / "models" / MODEL)
    return {
        hit.post.id: round(hit.score, 3)
        for hit in corpus.rank(texts(folder)[0][0], top=len(corpus), copies=True)
    }


def read_calibration(folder: Path) -> dict[str, float]:
    """Return the probabilities of posts for the first article."""
    articles, posts = texts(folder)
    calibration = Calibration.read(folder / "calibration.json")
    ranking = load(folder / "models" / MODEL).rank(articles[0], posts, calibration=calibration, copies=True)
    return {hit.post.id: round(hit.probability or 0.0, 3) for hit in ranking}


def read_session(folder: Path) -> dict[str, Any]:
    """Return the labels of a session, the adjudicated ones, and the agreement."""
    with Session.open(folder, background=False) as session:
        alpha = session.agreement().alpha
        return {
            "question": session.settings.question,
            "labels": [
                [one.post.id, one.value, one.choice, one.annotator, one.note]
                for one in session.labeled(machines=True)
                if one.value
            ],
            "resolved": {one.post.id: one.value for one in session.labeled(resolved=True) if one.value},
            "alpha": None if math.isnan(alpha) else alpha,
        }


def read_project(folder: Path) -> dict[str, Any]:
    """Return the settings of a project, and what its session has."""
    projects = ProjectsFolder(folder / "projects")
    (key,) = projects.project_keys()
    project = projects.open(key)
    return {
        "title": project.settings.title,
        "people": [person.name for person in project.settings.people],
        "session": read_session(project.session_folder),
    }


def read_vectors(folder: Path) -> dict[str, Any]:
    """Return the number of words in the word vectors, and one vector."""
    words, matrix = VectorFile(str(folder / "vectors.txt.gz")).read()
    return {"words": len(words), WORD: [round(float(number), 4) for number in matrix[words.index(WORD)]]}
