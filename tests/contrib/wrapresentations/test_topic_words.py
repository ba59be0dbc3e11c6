"""Words and names that tell the topic, and texts without them."""

import math

import pytest

from linker.contrib.wrapresentations.topic_words import TopicReplacer, pieces, topic_words
from linker.data.types import Post


def post(own, topic, text):
    return Post(str(own), text, extra={"topic": topic})


POSTS = [
    *(post(i, "trains", f"the sleeper to Olsen Bay leaves late, asks @rail{i} #Trains") for i in range(5)),
    *(post(i, "trains", "the platform is cold") for i in range(5, 8)),
    *(post(i, "sugar", f"the cola in Norrland is sweet, says @doc{i} #Sugar #Cola") for i in range(10, 16)),
    *(post(i, "sugar", "is this late or is the platform cold") for i in range(16, 18)),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Now @Ann and Minister Lund of Norrland meet.", "mention:@Ann name:Minister Lund name:Norrland"),
        ("New rules. Old ones go. See Tarn", "name:See Tarn"),
        ("John Smith left", "name:John Smith"),
        ("I and A B are here, says NATO", "name:A B name:NATO"),
        ("BREAKING NEWS FROM TARN", ""),
        ("go to https://t.co/AbC #EastBridge #2024 now", "link:https://t.co/AbC hashtag:#EastBridge"),
        ("they met John, Mary", "name:John name:Mary"),
    ],
)
def test_names_hashtags_mentions_and_links_are_found(text, found):
    shown = [f"{p.kind}:{text[p.start : p.end]}" for p in pieces(text) if p.kind != "word"]
    assert " ".join(shown) == found


def test_topic_words_are_frequent_here_and_rare_elsewhere():
    words = topic_words(POSTS)
    # Four words of five of eight texts each, in none of the other eight: the order is that of the alphabet.
    assert words["trains"][:3] == ["asks", "leaves", "sleeper"]
    assert "platform" not in words["trains"]  # 3 of 8 here, 2 of 8 there
    assert "the" not in words["trains"] + words["sugar"]
    assert set(words["sugar"]) == {"cola", "says", "sweet"}
    # Weights: 5.5/9 × log(11) against, for `late`, 5.5/9 × log(5.5/2.5), which is above the contrast of 2.
    assert words["trains"].index("late") == 3
    assert 5.5 / 2.5 > 2 > 3.5 / 2.5
    assert math.log(11) > math.log(2.2)
    assert topic_words(POSTS, limit=1) == {"trains": ["asks"], "sugar": ["cola"]}


def test_nothing_reveals_the_topic():
    changer = TopicReplacer(POSTS, seed=2)
    for own in POSTS[:5]:
        text, words, entities = changer.replace(own)
        # Each word gives way to that of its rank; the fourth goes round to the first.
        assert text.startswith("the sweet to Norrland says cola, cola @USER #")
        assert text.rsplit("#")[1] in ("Sugar", "Cola")
        assert (words, entities) == (4, 3)
    assert changer.replace(POSTS[5])[0] == "the platform is cold"


def test_replacements_depend_on_seed_and_id_alone():
    one, other = TopicReplacer(POSTS, seed=2), TopicReplacer(POSTS[::-1], seed=2)
    texts = [one.replace(own)[0] for own in POSTS[8:]]
    assert [one.replace(own)[0] for own in POSTS[8:]] == texts
    assert [other.replace(own)[1] for own in POSTS[8:]] == [one.replace(own)[1] for own in POSTS[8:]]
    assert len({TopicReplacer(POSTS, seed=s).replace(POSTS[0])[0] for s in range(8)}) == 2


def test_with_one_topic_there_are_no_topic_words_and_no_other_names():
    changer = TopicReplacer(POSTS[:8])
    assert changer.words == {"trains": []}
    assert changer.replace(POSTS[0])[0] == "the sleeper to Olsen Bay leaves late, asks @USER #Trains"


def test_capitals_are_kept():
    posts = [post(i, "a", "Cola now. I like cola. COLA now, it is COLA they say") for i in range(3)]
    posts += [post(i, "b", "these trains go there") for i in range(3, 6)]
    changer = TopicReplacer(posts)
    first = changer.words["b"][changer.words["a"].index("cola") % len(changer.words["b"])]
    new = changer.replace(posts[0])[0]
    assert new.startswith(first.capitalize() + " ")
    assert f" {first}. " in new
