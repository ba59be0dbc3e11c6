"""Equal posts have equal scores, wherever they are in the input."""

import random
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from linker.data.io.records import read_posts
from linker.data.types import Article, Post
from linker.models.files.resolve import resolve_model
from linker.models.pretrained import BEST, DISTILLED
from linker.ranking.ranker import load

_BOLD = str.maketrans(
    {chr(first + i): chr(bold + i) for first, bold in ((65, 0x1D400), (97, 0x1D41A)) for i in range(26)}
)
_WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)} | {" ": "\u3000"})
FORMS: list[Callable[[str], str]] = [
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKC", text),
    lambda text: unicodedata.normalize("NFKD", text),
    lambda text: text.translate(_BOLD),
    lambda text: text.translate(_WIDE),
    lambda text: text.replace("ff", "\ufb00").replace(" ", "\u00a0"),
    lambda text: text.replace("er", "e\u00adr"),
    lambda text: text.replace("er", "e\u200br").replace("ri", "r\u2060i"),
    lambda text: "\u202a" + text.replace("er", "e\u200cr\ufe0f") + "\u202c",
    lambda text: text.replace("ö", "&ouml;"),
]
SAMPLE = Path(__file__).parents[2] / "data/posts.jsonl"


@pytest.mark.parametrize("name", [BEST, DISTILLED])
def test_equal_posts_have_equal_scores(name: str) -> None:
    if name == BEST:
        pytest.importorskip("transformers")
    # Enough posts that they are encoded in several batches, between which copies fall.
    texts = list(dict.fromkeys(post.text for post in read_posts(str(SAMPLE))[:300]))
    posts = [Post(f"{i}-{copy}", text) for i, text in enumerate(texts) for copy in range(3)]
    random.Random(0).shuffle(posts)
    ranking = load(name).rank(Article("a", f"{texts[10]} {texts[200]}", "x"), posts, copies=True)
    scores: dict[str, set[float]] = {}
    for ranked in ranking:
        scores.setdefault(ranked.post.text, set()).add(ranked.score)
    assert len(ranking) == 3 * len(texts)
    assert all(len(own) == 1 for own in scores.values())


@pytest.mark.parametrize("name", ["bm25", "tfidf", DISTILLED, BEST])
def test_the_same_text_in_other_code_points_has_the_same_scores(name: str) -> None:
    text = "The official ferry strike in Hafnarfjörður, says Muñoz: #NoFerries to Skarsey, 120 crossings off"
    korean, hindi, japanese = "여객선 선원 파업", "हड़ताल क़िले पानी", "フェリーのストライキ"
    texts = [text, korean, hindi, japanese, "A fine day in the park", "Ferry to Skarsey"]
    articles = [
        Article(
            "a",
            "The ferry crews of Hafnarfjörður voted to strike, Muñoz says.",
            title="Strike in Hafnarfjörður",
        ),
        *(Article(word, word, title="x") for word in (korean, hindi, japanese)),
    ]
    model = resolve_model(name).load()
    forms_of_text: list[Callable[[str], str]] = [str, *FORMS]
    posts = [Post(str(i), form(one)) for one in texts[:4] for i, form in enumerate(forms_of_text)]
    scores = model.score_independently(articles, [*posts, Post("b", texts[4]), Post("c", texts[5])])

    of_texts = scores[:, : len(posts)].reshape(len(articles), 4, len(FORMS) + 1)
    np.testing.assert_array_equal(of_texts, np.broadcast_to(of_texts[:, :, :1], of_texts.shape))
    assert (of_texts[range(4), range(4), 0] > scores[:, -2]).all()
    forms = [
        Article(article.id, form(article.text), title=form(article.title))
        for form in FORMS
        for article in articles
    ]
    again = model.score_independently(forms, [*posts, Post("b", texts[4]), Post("c", texts[5])])
    np.testing.assert_allclose(again, np.tile(scores, (len(FORMS), 1)), rtol=1e-4, atol=1e-5)
