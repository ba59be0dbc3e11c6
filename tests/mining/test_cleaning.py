"""Posts without link, copied headline and what share buttons add."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.mining.cleaning import cleaned, copied_grams, has_words

TITLE = "Otters return to the Brell after forty years"
LEAD = "Two otters were filmed on Sunday below the old railway bridge, the city says."
GRAMS = copied_grams(TITLE, LEAD)


@pytest.mark.parametrize(
    ("post", "left"),
    [
        ("My children saw them yesterday! https://news.example/a?b=1", "My children saw them yesterday!"),
        (f"{TITLE} https://news.example/a", ""),
        (f"{TITLE.upper()} – my children saw them", "my children saw them"),
        (f"My children saw them: “{TITLE}” | via @news", "My children saw them"),
        ("So good. Otters return to the Brell! My children saw them", "So good. My children saw them"),
        ("Two otters were filmed on Sunday, and I was there", "and I was there"),
        ("the Brell after forty", ""),
        ("Brell after forty", "Brell after forty"),
        ("otters return to a river", "otters return to a river"),
        ("Read more: my children saw them (via @news)", "my children saw them"),
        ("Great piece by @author on rivers www.news.example/a", "Great piece on rivers"),
        ("My children saw them news.example/2026/otters-… @mother", "My children saw them @mother"),
        ("I agree @mother #otters", "I agree @mother #otters"),
        ("Otters’ return to the Brell is news, isn't it?", "is news, isn't it?"),
    ],
)
def test_cleaned(post: str, left: str) -> None:
    assert cleaned(post, GRAMS) == left


def test_scripts_without_spaces_are_compared_by_characters() -> None:
    grams = copied_grams("四十年后水獭重返布雷尔河", "")
    assert cleaned("太好了！四十年后水獭重返布雷尔河 https://news.example/a", grams) == "太好了！"
    assert cleaned("水獭重返了", grams) == "水獭重返了"  # four characters are two words


def test_words_of_its_own() -> None:
    assert has_words("children watched otters swimming", 4)
    assert not has_words(
        "children watched otters #swimming $BRELL @mother https://a.example/words-in-a-link", 4
    )
    assert not has_words("I think that it is a great day today", 4)
    assert has_words("Fischotter kehren zurück Fluss", 4)
    assert has_words("水獭重返布雷尔", 3)
    assert not has_words("水獭重返布", 3)


WORDS = st.lists(st.sampled_from("otter river bridge city filmed sunday , “ ” | : ! …".split()), max_size=25)  # noqa: SIM905


@given(WORDS, WORDS, WORDS)
def test_no_run_of_four_words_of_the_title_is_left(
    title: list[str], before: list[str], after: list[str]
) -> None:
    text = cleaned(" ".join([*before, *title, *after]), copied_grams(" ".join(title), ""))
    words = [word for word in title if word.isalpha()]
    left = [word for word in text.split() if word.strip(",“”|:!…")]
    original = [word for word in [*before, *title, *after] if word.isalpha()]
    assert len(left) <= len(original)
    if len(words) >= 4:
        assert len(left) <= len(original) - len(words)
