"""Texts that say the same end in one group, others do not."""

import random
import re
import unicodedata

import numpy as np
import pytest

from linker.data.near_duplicates import duplicate_groups, linked_groups, normal_form, signatures

WORDS = re.findall(
    r"\w+",
    "river bridge council vote strike ferry island storm rescue harbour mayor school "
    "teacher budget museum painting train signal engine farmer valley orchard festival singer "
    "guitar stadium goal keeper senate ballot judge verdict lawyer volcano ",
)


def sentence(generator: random.Random, length: int = 14) -> str:
    return " ".join(generator.choices(WORDS, k=length))


def jaccard(one: str, other: str) -> float:
    runs = [
        {text[i : i + 5] for i in range(max(1, len(text) - 4))}
        for text in (normal_form(one), normal_form(other))
    ]
    return len(runs[0] & runs[1]) / len(runs[0] | runs[1])


def test_copies_retweets_and_links_make_no_difference() -> None:
    for other in [
        "RT @user: Bridge closed after the storm, says mayor http://t.co/abc",
        "bridge CLOSED after the storm says mayor!!",
        "@someone Bridge closed after the storm, says mayor https://example.org/x?y=1",
        "“Bridge closed after the storm”, says  mayor…",
        "Bridge closed after the storm, says mayor #storms",
        "RT @a: RT @b: Bridge closed after the storm, says mayor",
    ]:
        assert duplicate_groups(["Bridge closed after the storm, says mayor", other]).tolist() == [0, 0]


def test_what_must_stay_apart() -> None:
    texts = [
        "", "yes", "no", "😀", "😡", "http://t.co/a", "http://t.co/b", "Bridge closed", "Bridge not closed",
        "犬", "猫",
    ]  # fmt: skip
    assert duplicate_groups(texts).tolist() == list(range(len(texts)))
    assert duplicate_groups([]).tolist() == []
    assert duplicate_groups(["same", "x", "same", ""]).tolist() == [0, 1, 0, 3]


@pytest.mark.parametrize(
    ("text", "other", "same"),
    [
        ("Must read: https://news.example/a", "Must read: https://news.example/b", False),
        ("Must read: https://news.example/a", "RT @user: must read http://www.news.example/a?utm_source=x", True),
        ("Must read: https://news.example/a", "Must read", False),
        ("Wow https://n.example/amp/a https://b.example", "WOW! http://b.example http://n.example/a", True),
        ("https://news.example/a", "@user https://news.example/a#top", True),
        ("https://news.example/a", "https://news.example/b", False),
        ("Yes https://news.example/a", "No https://news.example/a", False),
        ("3 dead in explosion in Kabul", "5 dead in explosion in Kabul", False),
        ("Otters - Beavers 2:1", "RT @user5: Otters – Beavers 2-1 @7up", True),
        ("Otters - Beavers 2:1", "Otters - Beavers 1:2", False),
        ("Toll at the weir: 3,218", "Toll at the weir: 3218", True),
        ("G20 leaders meet in Rome today <3", "G20 leaders meet in Rome today", True),
        ("桥在风暴后关闭 https://n.example/a", "桥在风暴后关闭 https://n.example/b", False),
        ("大桥在昨晚的风暴过后被关闭了 https://t.co/a", "大桥在昨晚的风暴过后被关闭了 https://t.co/b", True),
        ("Bridge closed after the storm, says mayor t.co/a", "Bridge closed after the storm, says mayor t.co/b", True),
    ],
)  # fmt: skip
def test_links_and_numbers_decide_where_the_rest_is_short(text: str, other: str, same: bool) -> None:
    between = "Ferry crews strike in the harbor, no crossings to the islands until Monday https://t.co/c"
    for texts in ([text, between, other], [other, between, text]):
        assert duplicate_groups(texts).tolist() == [0, 1, 0 if same else 2]
        assert linked_groups(signatures(texts)).tolist() == [0, 1, 0 if same else 2]


@pytest.mark.parametrize("seed", range(3))
def test_every_text_is_like_the_first_of_its_group(seed: int) -> None:
    generator = random.Random(seed)
    texts: list[str] = []
    for _ in range(60):
        words = sentence(generator).split()
        for _ in range(5):
            changed = list(words)
            for _ in range(generator.choice([0, 1, 1, 2, 4])):
                changed[generator.randrange(len(changed))] = generator.choice(WORDS)
            texts.append(" ".join(changed))
    generator.shuffle(texts)
    groups = duplicate_groups(texts)
    assert (groups <= np.arange(len(texts))).all()
    assert (groups[groups] == groups).all()  # the first of a group is in it
    firsts = sorted(set(groups.tolist()))
    assert 60 <= len(firsts) < len(texts)
    missed = 0
    for place, first in enumerate(groups.tolist()):
        if place != first:
            assert jaccard(texts[place], texts[first]) >= 0.8
        else:
            missed += any(jaccard(texts[place], texts[other]) >= 0.8 for other in firsts if other < place)
    assert missed <= 1  # candidates are found by chance; see the docstring


def test_the_same_whatever_is_in_between() -> None:
    generator = random.Random(5)
    texts = [sentence(generator) for _ in range(50)]
    copies = [f"RT @user: {text} http://t.co/x" for text in texts]
    assert duplicate_groups(texts + copies).tolist() == [*range(50), *range(50)]
    assert duplicate_groups(copies + texts[::-1]).tolist() == [*range(50), *range(49, -1, -1)]


def test_copies_in_other_code_points_are_copies() -> None:
    text = "Ferry crews strike in Hafnarfjörður, no crossings to Skarsey"
    wide = text.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)})
    copies = [
        text,
        unicodedata.normalize("NFD", text),
        wide,
        text.replace("r", "\u00adr"),
        "A fine day in the park",
    ]
    assert duplicate_groups(copies).tolist() == [0, 0, 0, 0, 4]
    assert linked_groups(signatures(copies)).tolist() == [0, 0, 0, 0, 4]
