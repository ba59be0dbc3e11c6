"""`linker.load(…).rank(…)`: the order, its invariants, and everything that may be given as articles and posts."""

import math
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linker
from linker.common.errors import LinkerError, ModelError
from linker.data.characters import folded, plain
from linker.data.types import Article, Post
from linker.models.features.content_words import align
from linker.models.features.words import lexical_words
from linker.models.model import Model
from linker.ranking.inputs import as_posts
from linker.ranking.ranker import Ranker
from tests.ranking.test_results import Lengths

WORDS = ["otter", "river", "mill", "bridge", "goal", "keeper", "storm", "budget"]
ARTICLE = Article("a", "Otters at the mill; the otter and the river keeper.", title="Otter seen in river")
TEXTS = [
    "an otter in the river!!",
    "what a goal",
    "#RiverKeeper on duty at the mill",
    "the storm took the bridge",
    "an otter in the river!!",
]


def test_equal_scores_are_in_descending_order_of_ids_as_in_evaluation() -> None:
    posts = [Post(i, "same") for i in ("b", "a", "d", "c")]
    ranking = Ranker(Lengths()).rank(Article("a", "x"), posts, copies=True)
    assert [r.post.id for r in ranking] == ["d", "c", "b", "a"]


@settings(max_examples=60)
@given(
    texts=st.lists(
        st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join).filter(bool), min_size=1, max_size=8
    ),
    model=st.sampled_from(["bm25", "tfidf"]),
    seed=st.randoms(use_true_random=False),
)
def test_the_order_of_posts_changes_nothing_and_no_post_is_lost(texts: list[str], model: str, seed) -> None:
    posts = [Post(f"p{i}", text) for i, text in enumerate(texts)]
    loaded = linker.load(model)
    ranking = loaded.rank(ARTICLE, posts, copies=True)
    shuffled = list(posts)
    seed.shuffle(shuffled)
    assert loaded.rank(ARTICLE, shuffled, copies=True) == ranking
    once = loaded.rank(ARTICLE, posts)
    assert loaded.rank(ARTICLE, shuffled) == once
    assert sum(1 + r.copies for r in once) == len(posts)
    assert sorted(r.post.id for r in ranking) == sorted(p.id for p in posts)
    assert [r.rank for r in ranking] == list(range(1, len(posts) + 1))
    assert all(a.score >= b.score for a, b in pairwise(ranking))
    scores = {text: {r.score for r in ranking if r.post.text == text} for text in texts}
    assert all(len(equal) == 1 for equal in scores.values())


def test_several_articles_are_one_query_with_mean_scores() -> None:
    loaded = linker.load("bm25")
    articles = [ARTICLE, Article("b", "The storm and the bridge.")]
    raw = loaded.model.score(articles, [Post(str(n), text) for n, text in enumerate(TEXTS)])
    assert raw.shape == (2, 5)
    ranking = loaded.rank(articles, TEXTS, copies=True)
    expected = dict(zip((post.id for post in as_posts(TEXTS)), loaded.model.score_scale()(raw.mean(axis=0))))
    assert {r.post.id: r.score for r in ranking} == pytest.approx(expected, rel=1e-6)
    assert [r.score for r in loaded.rank([ARTICLE, ARTICLE], TEXTS)] == pytest.approx(
        [r.score for r in loaded.rank(ARTICLE, TEXTS)]
    )


def test_each_article_gets_the_ranking_that_it_gets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, encoded = linker.load("distilled"), []
    kind: Any = type(next(feature.encoder for feature in loaded.model.features() if feature.encoder))
    made = kind.post_vectors
    monkeypatch.setattr(kind, "post_vectors", lambda self, posts: encoded.append(1) or made(self, posts))  # type: ignore[func-returns-value]
    articles = [ARTICLE, Article("b", "The storm and the bridge."), Article("c", "A goal.")]
    labels = [{"post_id": p.id, "label": n < 2, "article_id": "b"} for n, p in enumerate(as_posts(TEXTS))]
    each = list(loaded.rank_each(articles, TEXTS, labels=labels, top=3))
    assert encoded == [1]
    for article, ranking in zip(articles, each):
        alone = loaded.rank(article, TEXTS, top=3, labels=labels if article.id == "b" else None)
        assert [one._replace(article_id=None) for one in ranking] == alone
        assert {one["article_id"] for one in ranking.to_dicts()} == {article.id}
    assert [ranking[0].probability is None for ranking in each] == [True, False, True]
    with pytest.raises(LinkerError, match="no label of a, by which to choose its threshold"):
        loaded.rank_each(articles, TEXTS, labels=labels, recall=0.8)
    with pytest.raises(LinkerError, match=r"labels that name no article; .* add a column article_id"):
        loaded.rank_each(articles, TEXTS, labels=[True, *[False] * 4])


def test_articles_may_be_given_in_many_ways(site, tmp_path: Path, article_html: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(article_html, encoding="utf-8")
    loaded = linker.load("tfidf")
    url = site.on("/otters", article_html)
    from_page = loaded.rank(url, TEXTS)
    assert from_page[0].post.text == TEXTS[2]
    assert loaded.rank(path, TEXTS) == loaded.rank(str(path), TEXTS) == from_page
    text = "Otter seen in river\n\nOtters at the mill; the otter and the river keeper."
    assert loaded.rank(text, TEXTS) == loaded.rank(ARTICLE, TEXTS)
    assert loaded.rank([text, url], TEXTS) == loaded.rank([ARTICLE, path], TEXTS)
    assert loaded.rank("an otter was seen in the river.", TEXTS)[0].post.text == TEXTS[0]


def test_models_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="model not found"):
        linker.load(tmp_path / "nothing")
    with pytest.raises(ModelError, match=r"no config\.json"):
        linker.load(tmp_path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda api: api.Ranker("bm25"), r'model is a str; use linker\.load\("bm25"\)'),
        (lambda api: api.Ranker(None), r'model is None; use linker\.load\("best"\)'),
        (lambda api: api.load(None), "path is None; give a string or Path"),
        (lambda api: api.load("An otter. " * 500), "model not found"),
        (lambda api: api.load("bm25").score(ARTICLE, TEXTS, ignore_dates="no"), "ignore_dates is a str; give True"),
        (lambda api: api.Ranking([]).save(None), "path is None"),
        (lambda api: api.Corpus("posts", "best"), r"store is a str; .* with linker\.Corpus\.open\(folder\)"),
        (lambda api: api.Corpus.open(7), "folder is an int"),
    ],
)  # fmt: skip
def test_arguments_of_another_type_are_refused(call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(LinkerError, match=message):
        call(linker)


def test_scores_that_are_no_numbers_are_refused() -> None:
    class Broken(Model):
        def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
            return np.full((1, len(posts)), np.nan, dtype=np.float32)

    with pytest.raises(LinkerError, match="not finite"):
        Ranker(Broken()).rank(ARTICLE, ["x"])


# Explanations


@pytest.mark.parametrize("model", ["bm25", "tfidf"])
def test_the_shared_words_add_up_to_the_score(model: str) -> None:
    scale = linker.load(model).model.score_scale()
    for article in (ARTICLE, [ARTICLE, Article("b", "The storm and the bridge.")]):
        for ranked in linker.load(model).rank(article, TEXTS, explain=True):
            assert ranked.explanation is not None
            in_post = sum(weight for _, weight in ranked.explanation.post_words)
            assert scale(in_post) == pytest.approx(ranked.score, abs=1e-4)


def test_words_of_the_article_are_those_that_posts_are_searched_for() -> None:
    article = Article("a", "Otters, otters! The council said 300 otters took a bridge in a remote valley.")
    posts = ["an otter: otters!", "the bridge was closed", "a bridge", "said 300", "the goal"]
    first, *others = linker.load("bm25").rank(article, posts, explain=True)
    assert first.explanation is not None
    # n = 3 in the article and in 1 of 5 posts; n = 1 and in 2 of 5 posts. Never a function word or a numeral.
    rare, frequent = (1 + math.log(3)) * math.log1p(4.5 / 1.5), math.log1p(3.5 / 2.5)
    expected = [("otters", rare / (rare + frequent)), ("bridge", frequent / (rare + frequent))]
    assert [word for word, _ in first.explanation.article_words] == ["otters", "bridge"]
    assert [w for _, w in first.explanation.article_words] == pytest.approx([w for _, w in expected])
    for ranked in others:
        assert ranked.explanation is not None
        assert ranked.explanation.article_words == first.explanation.article_words


@pytest.mark.parametrize("model", ["distilled", "bm25", "tfidf"])
def test_explanations_depend_on_nothing_that_is_shown(model: str) -> None:
    loaded = linker.load(model)
    everything = {r.post.id: r.explanation for r in loaded.rank(ARTICLE, TEXTS, explain=True)}
    for top, offset in ((1, 0), (2, 0), (2, 2)):
        for ranked in loaded.rank(ARTICLE, TEXTS, top=top, explain=True, offset=offset):
            own, expected = ranked.explanation, everything[ranked.post.id]
            assert own is not None
            assert expected is not None
            assert own == expected


def test_only_content_words_are_marked() -> None:
    article = Article("a", "The two of them went to the ticket office at 9, said the 300 people. Otters!")
    posts = ["two of them went, 300 said", "the otters went to the office at 9"]
    for model in ("bm25", "tfidf", "distilled"):
        for ranked in linker.load(model).rank(article, posts, explain=True):
            assert ranked.explanation is not None
            marked = {ranked.post.text[start:end] for start, end in ranked.explanation.post_spans}
            assert marked <= {"otters", "office"}


def test_a_model_with_nothing_but_scores_is_explained_by_leaving_words_out() -> None:
    class Otters(Model):
        """How many times a post has otters, and 0.1 for each other word."""

        def score(self, articles: Sequence[Article], posts: Sequence[Post]) -> np.ndarray:
            counts = [[post.text.count("otter") + 0.1 * len(post.text.split()) for post in posts]]
            return np.array(counts * len(articles), dtype=np.float32)

    (ranked,) = Ranker(Otters()).rank(ARTICLE, ["The otter saw an otter river"], explain=True)
    assert ranked.explanation is not None
    # Both otters and two words less, over two places; one word less.
    assert [word for word, _ in ranked.explanation.post_words] == ["otter", "otter", "river"]
    assert [weight for _, weight in ranked.explanation.post_words] == pytest.approx([1.1, 1.1, 0.1], abs=1e-6)
    assert [ranked.post.text[a:b] for a, b in ranked.explanation.post_spans] == ["otter", "otter"]


@pytest.mark.parametrize(
    ("text", "tokens", "found"),
    [
        ("No no NO", ["no", "no", "no"], ["No", "no", "NO"]),
        ("@kim saw: https://t.co/x wow", ["<user>", "saw", ":", "<url>", "wow"], [None, "saw", ":", None, "wow"]),
        ("#RiverKeeper!", ["riverkeeper", "river", "keeper", "!"], ["RiverKeeper", "River", "Keeper", "!"]),
        ("don’t STOP", ["do", "n't", "stop"], ["do", "n’t", "STOP"]),
        ("soooo good", ["soo", "good"], ["soo", "good"]),
        ("İstanbul is big", ["i\u0307stanbul", "is", "big"], ["İstanbul", "is", "big"]),
        ("", ["a"], [None]),
        ("a banana", ["a", "banana", "a"], ["a", "banana", None]),
    ],
)  # fmt: skip
def test_tokens_are_aligned_with_the_text(text: str, tokens: list[str], found: list[str | None]) -> None:
    assert [span and text[slice(*span)] for span in align(text, tokens)] == found


@given(
    st.lists(
        st.sampled_from(["Muñoz", "ferry", "#BoatStrike", "渡轮罢工", "पानी", "ストライキ", "İzmir", "don’t"])
    )
)
def test_words_are_found_in_the_text_in_any_code_points(parts: list[str]) -> None:
    text = " ".join(parts)
    decomposed = (
        unicodedata.normalize("NFD", text).replace("rr", "r\u00adr").replace("oa", "\U0001d428\U0001d41a")
    )

    words = lexical_words(text, "none")
    spans = align(decomposed, words)

    assert words == lexical_words(decomposed, "none")
    for word, span in zip(words, spans, strict=True):
        assert span is not None
        assert folded(plain(decomposed[slice(*span)])) == word


@pytest.mark.parametrize("model", ["bm25", "tfidf"])
def test_explanations_mark_the_words_in_the_original_text(model: str) -> None:
    article = Article("a", "霍林贝港的渡轮船员罢工。 Strike in Hafnarfjörður", title="霍林贝港渡轮罢工")
    posts = [
        Post("han", "渡轮又罢工了！"),
        Post("nfd", unicodedata.normalize("NFD", "A Str\u00adike in Hafnarfjörður")),
        Post("other", "今天天气真好"),
    ]

    ranked = {one.post.id: one for one in linker.load(model).rank(article, posts, explain=True)}

    def marked(name: str) -> list[str]:
        explanation = ranked[name].explanation
        assert explanation
        return [ranked[name].post.text[slice(*span)] for span in explanation.post_spans]

    assert marked("han") == ["渡轮", "罢工"]
    assert marked("nfd")[0] == "Str\u00adike"
    assert unicodedata.normalize("NFC", marked("nfd")[1]) == "Hafnarfjörður"
    assert ranked["han"].score > ranked["other"].score == 0


@given(st.text(max_size=60), st.lists(st.text(min_size=1, max_size=6), max_size=8))
def test_alignment_stays_within_the_text(text: str, tokens: list[str]) -> None:
    for span in align(text, tokens):
        assert span is None or 0 <= span[0] < span[1] <= len(text)
