"""A text has one score, whatever code points write it."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

import linker
from linker.ranking.ranker import Ranker

ARTICLE = {
    "title": "Fähre läuft vor der Insel auf Grund: 143 Menschen gerettet",
    "text": "Die Fähre ist am Sonntag auf ein Riff gelaufen. Der Kapitän verließ das Schiff als Letzter. "
    "The ferry ran aground on a reef; the captain was the last to leave. Café owners served coffee.",
    "published": "2031-03-03",
}
TEXTS = [
    "Der Kapitän der Fähre war der Letzte, gut so",
    "café with a view of the ferry, coffee included",
    "The FERRY ran aground off the island #Fähre",
    "nothing to do with it, just crème brûlée",
    "the captain, the reef and the wee ones",
]
FORMS = {
    "NFD": lambda text: unicodedata.normalize("NFD", text),
    "full width": lambda text: "".join(
        chr(ord(letter) + 0xFEE0) if "!" <= letter <= "~" and letter != "#" else letter for letter in text
    ),
    "bold": lambda text: "".join(_bold(letter) for letter in text),
    "soft hyphens": lambda text: text.replace("tain", "\u00adtain").replace("ferry", "fer\u00adry"),
    "zero width": lambda text: text.replace("ferry", "fer\u200bry").replace("reef", "re\u2060ef"),
}


def _bold(letter: str) -> str:
    if "a" <= letter <= "z":
        return chr(0x1D41A + ord(letter) - ord("a"))
    return chr(0x1D400 + ord(letter) - ord("A")) if "A" <= letter <= "Z" else letter


@pytest.fixture(scope="module", params=["best", "distilled", "bm25", "tfidf"])
def ranker(request: pytest.FixtureRequest) -> Ranker:
    return linker.load(request.param)


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_a_post_have_its_score(ranker: Ranker, form: str) -> None:
    written = [FORMS[form](text) for text in TEXTS]
    assert written != TEXTS
    plain = ranker.score(ARTICLE, TEXTS)
    np.testing.assert_allclose(ranker.score(ARTICLE, written), plain, rtol=0, atol=1e-6)
    assert plain.max() > 5


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_an_article_give_its_scores(ranker: Ranker, form: str) -> None:
    written = {key: value if key == "published" else FORMS[form](value) for key, value in ARTICLE.items()}
    plain = ranker.score(ARTICLE, TEXTS)
    np.testing.assert_allclose(ranker.score(written, TEXTS), plain, rtol=0, atol=1e-6)
