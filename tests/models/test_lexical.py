"""BM25 and TF-IDF against slow, obvious implementations, and on the odd inputs that users bring."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import bm25s
import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from linker.data.types import Article, Post
from linker.models.bm25 import BM25Model
from linker.models.features.feature import Contributions
from linker.models.features.memory_table import MemoryTable
from linker.models.features.words import lexical_words
from linker.models.model import Model
from linker.models.tfidf import TfidfModel

WORDS = [
    "fire", "flood", "mayor", "bridge", "vote", "court", "strike", "match", "goal", "storm", "bill", "budget",
]  # fmt: skip


def texts(count: int, longest: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(1, longest))) for _ in range(count)]


ARTICLES = [Article(f"a{i}", text, title="fire") for i, text in enumerate(texts(7, 60, seed=1))]
POSTS = [Post(f"p{i}", text) for i, text in enumerate(texts(23, 12, seed=2))]


def slow_bm25(article: Article, post: Post, k1: float, b: float) -> float:
    documents = [Counter(lexical_words(p.text)) for p in POSTS]
    document = Counter(lexical_words(post.text))
    average = sum(map(len, [lexical_words(p.text) for p in POSTS])) / len(POSTS)
    score = norm = 0.0
    for word, count in Counter(lexical_words(article.full_text)).items():
        containing = sum(word in d for d in documents)
        if not containing:
            continue
        idf = math.log(1 + (len(POSTS) - containing + 0.5) / (containing + 0.5))
        weight = 1 + math.log(count)
        tf = document[word]
        score += weight * idf * tf / (tf + k1 * (1 - b + b * sum(document.values()) / average))
        norm += weight * idf
    return score / math.sqrt(norm)


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (2.0, 0.0)])
def test_bm25_equals_the_formula(k1: float, b: float) -> None:
    scores = BM25Model(k1=k1, b=b).score(ARTICLES, POSTS)
    expected = [[slow_bm25(article, post, k1, b) for post in POSTS] for article in ARTICLES]
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-6)


def test_bm25_ranks_as_bm25s_does_for_an_article_without_repeated_words() -> None:
    article = Article("a", "storm rain flood bridge")
    index = bm25s.BM25(method="lucene")
    index.index([lexical_words(post.text) for post in POSTS], show_progress=False)
    theirs = index.get_scores(lexical_words(article.text))
    ours = BM25Model().score([article], POSTS)[0]
    ratio = ours[theirs > 0] / theirs[theirs > 0]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)
    assert (ours[theirs == 0] == 0).all()


def test_tfidf_equals_the_formula() -> None:
    pool = [Counter(lexical_words(t)) for t in [*(a.full_text for a in ARTICLES), *(p.text for p in POSTS)]]
    containing = Counter(word for text in pool for word in text)

    def vector(text: Counter[str]) -> np.ndarray:
        weights = [
            (1 + math.log(text[word])) * (math.log((1 + len(pool)) / (1 + containing[word])) + 1)
            if text[word] and containing[word] > 1
            else 0
            for word in WORDS
        ]
        return np.array(weights) / np.linalg.norm(weights)

    vectors = np.stack([vector(text) for text in pool])
    scores = TfidfModel().score(ARTICLES, POSTS)
    np.testing.assert_allclose(scores, vectors[: len(ARTICLES)] @ vectors[len(ARTICLES) :].T, atol=1e-6)


def test_min_words_lower_the_scores_of_short_posts_only() -> None:
    query = [Article("q", "harbor fire")]
    long = "fire crews save the old harbor, mayor says"
    posts = [
        Post(str(n), text) for n, text in enumerate(["harbor fire", long, "mayor crews save old", "sun"])
    ]
    (cosines,), (scores,) = TfidfModel().score(query, posts), TfidfModel(min_words=3).score(query, posts)
    assert cosines[0] == pytest.approx(1)
    # Five texts; "harbor" and "fire" occur in three of them, a word of a single text would be the rarest.
    length, least = math.sqrt(2) * (math.log(6 / 4) + 1), math.sqrt(3) * (math.log(6 / 2) + 1)
    assert scores[0] == pytest.approx(length / least)
    rest = math.sqrt(2 * (math.log(6 / 4) + 1) ** 2 + 4 * (math.log(6 / 3) + 1) ** 2)
    assert rest > least  # the second post is long enough
    assert scores[1] == pytest.approx(cosines[1])
    assert scores[0] / scores[1] < cosines[0] / cosines[1]


def shared_terms(
    model: Model, articles: Sequence[Article], posts: Sequence[Post], chosen: Sequence[Post]
) -> Contributions:
    (feature,) = model.features()
    found = feature.contributions(MemoryTable(posts), articles, chosen)
    assert found is not None
    return found


def test_characters_score_as_scikit_learn_does() -> None:
    articles = [Article("a", "Die Lokführer streiken: kein Zug, nirgends")]
    texts = [
        "Lokführerstreik!",
        "kein einziger Zug fährt",
        "Streik streik STREIK der Lokführer, im Nu",
        "ein Hund",
    ]
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), sublinear_tf=True, min_df=2)
    vectors = vectorizer.fit_transform([" ".join(re.findall(r"\w+", t)) for t in [articles[0].text, *texts]])
    scores = TfidfModel(terms="characters").score(articles, [Post(t, t) for t in texts])
    np.testing.assert_allclose(scores[0], (vectors[1:] @ vectors[0].T).toarray()[:, 0], atol=1e-6)


@pytest.mark.parametrize("terms", ["words", "characters"])
def test_shared_terms_add_up_to_scores_with_min_words(terms: Literal["words", "characters"]) -> None:
    model = TfidfModel(min_words=4, terms=terms)
    scores = model.score_independently(ARTICLES[:1], POSTS)[0]
    for score, parts in zip(scores, shared_terms(model, ARTICLES[:1], POSTS, POSTS)):
        assert sum(parts.values()) == pytest.approx(score, abs=1e-6)
        assert set(parts) <= set(WORDS)


def test_min_words_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="min_words"):
        TfidfModel(min_words=-1)


def test_a_word_of_one_text_only_changes_no_tfidf_score() -> None:
    alone = TfidfModel().score(ARTICLES, POSTS)
    wordier = [Post(p.id, p.text + " unrepeatable" if i == 3 else p.text) for i, p in enumerate(POSTS)]
    np.testing.assert_array_equal(TfidfModel().score(ARTICLES, wordier), alone)


@pytest.mark.parametrize("name", ["bm25", "tfidf"])
class TestBoth:
    def model(self, name: str) -> Model:
        return {"bm25": BM25Model, "tfidf": TfidfModel}[name]()

    def test_shape_and_type(self, name: str) -> None:
        scores = self.model(name).score(ARTICLES, POSTS)
        assert scores.shape == (7, 23)
        assert scores.dtype == np.float32

    def test_the_order_of_the_input_changes_nothing(self, name: str) -> None:
        expected = self.model(name).score(ARTICLES, POSTS)
        scores = self.model(name).score(ARTICLES[::-1], POSTS[::-1])
        np.testing.assert_allclose(scores[::-1, ::-1], expected, atol=1e-6)

    def test_the_post_about_the_article_comes_first(self, name: str) -> None:
        article = Article("a", "The council closed the Millbrook footbridge after cracks were found.")
        posts = [
            Post("p1", "lovely weather and nothing to do"),
            Post("p2", "so the #MillbrookFootbridge... the council knew about the cracks for YEARS"),
            Post("p3", "council tax up again"),
        ]
        scores = self.model(name).score([article], posts)[0]
        assert scores.argmax() == 1
        assert scores[0] == 0.0

    def test_stop_words_alone_match_nothing_unless_wanted(self, name: str) -> None:
        article, posts = Article("a", "it was the one"), [Post("p", "was it the one"), Post("q", "storm")]
        assert not self.model(name).score([article], posts).any()
        model = {"bm25": BM25Model, "tfidf": TfidfModel}[name](stop_words="none")
        assert model.score([article], posts)[0, 0] > 0

    def test_nothing_shared_gives_zeros(self, name: str) -> None:
        scores = self.model(name).score(
            [Article("a", "storm")], [Post("p", "goal"), Post("q", "🙈 https://t.co/x")]
        )
        np.testing.assert_array_equal(scores, np.zeros((1, 2)))

    def test_more_articles_than_one_slice(self, name: str) -> None:
        many = [Article(f"a{i}", text) for i, text in enumerate(texts(300, 20, seed=3))]
        scores = self.model(name).score(many, POSTS)
        assert scores.shape == (300, 23)
        assert (scores.max(axis=1) > 0).all()

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
    def test_nothing_to_score(self, name: str, shape: tuple[int, int]) -> None:
        assert self.model(name).score(ARTICLES[: shape[0]], POSTS[: shape[1]]).shape == shape


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("See https://t.co/Ab1 @someone", ["see"]),
        ("they don’t DON'T fire the bill", ["fire", "bill"]),
        ("#ClimateMarch2019", ["climatemarch2019", "climate", "march", "2019"]),
        ("#brexit", ["brexit"]),
        ("#BBCNews", ["bbcnews", "bbc", "news"]),
        ("Trump's wall, the mayor’s plan", ["trump", "wall", "mayor", "plan"]),
        ("Überschwemmung in Österreich", ["überschwemmung", "österreich"]),
        ("", []),
        ("🙈 !!!", []),
        ("NVIDIA发布新显卡 2024", ["nvidia", "发布", "布新", "新显", "显卡", "2024"]),
        ("#罢工 https://t.co/x渡轮", ["罢工", "渡轮"]),
        ("島でストライキ", ["島で", "でス", "スト", "トラ", "ライ", "イキ"]),
        ("น้ำท่วม", ["น้ำ", "ำท่", "ท่ว", "วม"]),
        ("여객선을 タ", ["여객", "객선", "선을", "タ"]),
        ("हिन्दी #पानीबचाओ", ["हिन्दी", "पानीबचाओ"]),
        ("İSTANBUL istanbul DIYARBAKIR’da", ["istanbul", "istanbul", "diyarbakir'da"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert lexical_words(text) == words


def test_function_words_of_the_articles_language_match_nothing() -> None:
    pytest.importorskip("pycld2", reason="has no wheel for this platform")
    german = Article("g", "Die Lokführer der Bahn legen von Mittwoch an für drei Tage die Arbeit nieder.")
    english = Article("e", "The drivers of the railway will stop their work for three days from Wednesday.")
    posts = [Post("p1", "die der von an für"), Post("p2", "Lokführer"), Post("p3", "the of will for days")]
    model = TfidfModel("by_language")
    for scores in (
        model.score([german, english], posts),
        model.score_independently([german, english], posts),
    ):
        assert (scores[0] > 0).tolist() == [False, True, False]
        assert (scores[1] > 0).tolist() == [False, False, True]
    np.testing.assert_array_equal(model.score([english], posts), TfidfModel().score([english], posts))
    np.testing.assert_allclose(
        model.score_independently([german, english, german], posts),
        [model.score([article], posts)[0] for article in (german, english, german)],
        rtol=1e-6,
    )
    assert model.score([], posts).shape == (0, 3)
    assert shared_terms(model, [german], posts, posts[:2])[0] == {}
    assert set(shared_terms(model, [german, english], posts, posts[1:])[1]) == {"days"}


def test_apostrophes_separate_words_outside_english() -> None:
    assert lexical_words("l'hôpital d’Arles", "fr") == ["hôpital", "arles"]
    assert lexical_words("don't the driver's", "none") == ["don't", "the", "driver"]
