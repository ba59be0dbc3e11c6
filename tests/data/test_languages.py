"""Languages of articles and posts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.languages import among_posts, function_words, language_name, language_of, languages_of
from linker.data.types import Article, Post

pytest.importorskip("pycld2", reason="has no wheel for this platform")

GERMAN = "Die Lokführer legen von Mittwoch an für drei Tage die Arbeit nieder und verlangen mehr Lohn."
SLANG = [
    "omg im ded 💀 lol tysm bestie fr fr no cap",
    "@user @user smh this aint it chief #fail #mondaymood http://t.co/abc",
    "gonna b sooooo lit 2nite, c u l8r yall",
    "RT @user: wtf is goin on in #Ferguson rn",
    "wanna see u guys sooo bad ugh cant wait til friday",
]


def test_the_language_of_an_article() -> None:
    for text, language in [
        (GERMAN, "de"),
        ("El río se ha desbordado y setecientas personas han dejado sus casas esta noche.", "es"),
        ("The river has left its banks and seven hundred people have left their homes.", "en"),
        ("Les conducteurs arrêtent le travail pendant trois jours à partir de mercredi matin.", "fr"),
        ("Снова забастовка, и мы снова стоим под дождём без поезда.", "ru"),
        # A headline of names alone, in which CLD2 sees Danish.
        ("Tokyo ’20 beats Istanbul, Madrid Olympics bids", None),
        ("", None),
    ]:
        assert language_of(Article("a", text)) == language
        assert language_of(Article("a", "", text)) == language


def test_an_unknown_language_counts_as_that_of_most_posts() -> None:
    headlines = [Article("a", "", "Tokyo ’20"), Article("b", GERMAN)]
    unknown, german = among_posts(headlines, Counter(es=6, en=5))
    assert (language_of(unknown), language_of(german)) == ("es", "de")
    # None is in most posts, or in its script.
    assert among_posts(headlines, Counter(es=5, en=5)) == among_posts(headlines, Counter(zh=5)) == headlines


def test_the_language_of_most_posts_tells_close_ones_apart_and_identifies_headlines() -> None:
    indonesian = Article("a", "", "Warna Tutup Botol Air dalam Kemasan Menandakan Jenis Airnya")
    english = Article("b", "", "The river left its banks")
    assert [language_of(indonesian), language_of(english)] == ["ms", None]
    assert [*map(language_of, among_posts([indonesian, english], Counter(id=9)))] == ["id", "en"]


def test_english_slang_is_no_other_language() -> None:
    assert set(languages_of([Post(str(i), text) for i, text in enumerate(SLANG)])) == {"en"}


def test_a_stated_language_counts_more_than_the_text() -> None:
    for stated, language in [
        *[("es", "es"), ("pt-BR", "pt"), ("EN", "en"), ("English", "en"), ("iw", "he"), ("in", "id")],
        *[(["en"], "en"), ("['en-US']", "en"), ('["nb"]', "no")],
    ]:
        assert languages_of([Post("p", GERMAN, extra={"lang": stated})]) == {language: 1}


def test_a_post_that_states_none_is_identified() -> None:
    for stated in ["und", "qme", "zxx", "", " ", "?"]:
        assert languages_of([Post("p", GERMAN, extra={"lang": stated})]) == {"de": 1}


def test_posts_without_words_are_left_out_and_many_are_sampled_evenly() -> None:
    assert not languages_of([Post("p", "https://example.org/eine/lange/adresse @jemand 😀")])
    posts = [Post(str(i), "", extra={"lang": "de" if i < 5000 else "en"}) for i in range(10_000)]
    found = languages_of(posts)
    assert found.total() <= 300
    assert abs(found["de"] - found["en"]) <= 1


def test_names_and_function_words() -> None:
    assert [language_name(code) for code in ("de", "es", "he", "qq")] == ["German", "Spanish", "Hebrew", "qq"]
    assert {"der", "und"} <= function_words("de")
    assert "bahn" not in function_words("de")
    assert not function_words("sw")


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    language = language_of(Article("a", text))
    assert language is None or len(language) == 2
