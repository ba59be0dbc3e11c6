"""What the tokenizers make of tweets and news."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.data.tokenizers.simple import BasicEnglishTokenizer, WhitespaceTokenizer
from linker.data.tokenizers.social import SocialTokenizer
from linker.data.tokenizers.tokenizer import Tokenizer

ALL: list[Tokenizer] = [
    SocialTokenizer(),
    SocialTokenizer(False, "both", "keep", "mask", "keep", True),
    BasicEnglishTokenizer(),
    WhitespaceTokenizer(True),
]
PIECES = [
    "https://t.co/aB1", "www.x.org/a?b=c", "@user", "#BostonMarathon", "#42", "1,000,000", "10:30pm", ":-)",
    "<3", "U.S.", "👩🏽‍💻", "🇺🇸", "❤️", "1️⃣", "don’t", "नमस्ते", "你好", "สวัสดี", "مرحبا،", "e\u0301",
    "soooo", "…", "…https://t.co/x", "\ud83d", "\x00", "\u200b", "\u2028", "&amp;", "&#0;", "ﷺ", "ẞ", "İ",
    "ﬀ", "①", "¯\\_(ツ)_/¯", "a@b.co", "@", "#", "'", "_", "<user>",
]  # fmt: skip
texts = st.one_of(
    st.text(st.characters(exclude_categories=[]), max_size=40),
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join),
)


@pytest.mark.parametrize("tokenizer", ALL, ids=lambda tokenizer: type(tokenizer).__name__)
@given(text=texts)
def test_any_text_gives_tokens_without_white_space(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.tokenize(text)
    assert all(isinstance(token, str) and token and token.split() == [token] for token in tokens)
    assert tokenizer.tokenize(text) == tokens


@given(texts)
def test_social_loses_no_letter_and_makes_tokens_a_file_can_hold(text: str) -> None:
    tokens = SocialTokenizer(hashtags="keep", mentions="keep").tokenize(text)
    "\n".join(tokens).encode()
    if not any(mark in text for mark in "&:/.@#…<>'’") and not any(
        len(set(text[i : i + 3])) == 1 for i in range(len(text))
    ):
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFC", text)).lower()
        before = [char for char in folded if char.isalpha()]
        after = [char for char in unicodedata.normalize("NFKC", "".join(tokens)) if char.isalpha()]
        assert after == before


@given(st.text(max_size=30))
def test_social_composed_and_decomposed_text_are_the_same(text: str) -> None:
    tokenize = SocialTokenizer().tokenize
    assert tokenize(unicodedata.normalize("NFD", text)) == tokenize(unicodedata.normalize("NFC", text))


SOCIAL = [
    ("The dam BROKE at night.", "the dam broke at night ."),
    ("RT @BBCNews: look http://t.co/aB1, now", "rt <user> : look <url> , now"),
    ("(see https://x.org/a_(b)?c=d#e).", "( see <url> ) ."),
    ("pic.twitter.com/0eJt www.x.org cut http…", "<url> <url> cut <url>"),
    ("读https://t.co/abc你好", "读 <url> 你 好"),
    ("mail me: jane.doe@x.org!", "mail me : jane . <email> !"),
    ("#BostonMarathon #NYTimes #iPhone", "boston marathon ny times iphone"),
    ("#election2014 #COVID19 #G20 #AlJazeeraEnglish", "election 2014 covid 19 g20 al jazeera english"),
    ("#climate_change #BjörkÜber #МоскваСити #1", "climate change björk über москва сити 1"),
    ("Obama's #Obama's @obama's 1990’s", "obama 's obama 's <user> 's 1990 's"),
    ("don't Don’t can't won't they're I'd", "do n't do n't can n't will n't they 're i 'd"),
    ("O'Brien rock'n'roll teachers'", "o'brien rock'n'roll teachers '"),
    ("soooo goooal!!! WOW??? hmm.... www", "soo gooal ! wow ? hmm ... www"),
    ("World War III, kkk 1000000", "world war iii , kkk 1000000"),
    ("1,000,000 3.5% $5 10:30 1st 4chan 1,2", "1000000 3.5 % $ 5 10:30 1st 4chan 1,2"),
    ("U.S. U.S troops at 5 p.m. today.", "u.s. u.s. troops at 5 p.m. today ."),
    ("well-known COVID-19 snake_case – a—b", "well known covid 19 snake case - a - b"),
    (":-) :) ;D :( <3 </3 ^_^ -_- (: =/", ":) :) ;D :( <3 </3 ^_^ -_- (: =/"),
    ("note:(sub) foo:bar 3:0", "note : ( sub ) foo : bar 3:0"),
    ("👩🏽‍💻👍🏿❤️❤🇺🇸🇬🇧🏴󠁧󠁢󠁥󠁮󠁧󠁿1️⃣👨‍👩‍👧", "👩🏽‍💻 👍🏿 ❤ ❤ 🇺🇸 🇬🇧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1⃣ 👨‍👩‍👧"),
    ("fire🔥fire", "fire 🔥 fire"),
    ("नमस्ते दुनिया। தமிழ் สวัสดี می‌خواهم", "नमस्ते दुनिया । தமிழ் สวัสดี می‌خواهم"),
    ("Привет, мир! مرحبا، עולם", "привет , мир ! مرحبا ، עולם"),
    ("東京タワーへ行きました", "東 京 タワー へ 行 きました"),
    ("cafe\u0301 ｗｉｄｅ 𝗕𝗼𝗹𝗱", "café wide bold"),
    ("“q” ‘s’ «t»", '" q " \' s \' " t "'),
    ("AT&amp;T &lt;3 a\x00b\u200b", "at & t <3 a b"),
    (" \t\n", ""),
]


@pytest.mark.parametrize(("text", "tokens"), SOCIAL)
def test_social(text: str, tokens: str) -> None:
    assert SocialTokenizer(punctuation=True).tokenize(text) == tokens.split()


@pytest.mark.parametrize(
    ("options", "tokens"),
    [
        ({"lowercase": False}, "<user> says Obama 's Boston Marathon WOW :D 1000 <url>"),
        ({"hashtags": "keep"}, "<user> says obama 's #bostonmarathon wow :D 1000 <url>"),
        ({"hashtags": "both"}, "<user> says obama 's boston marathon #bostonmarathon wow :D 1000 <url>"),
        ({"mentions": "keep"}, "@bob says obama 's boston marathon wow :D 1000 <url>"),
        ({"numbers": "mask"}, "<user> says obama 's boston marathon wow :D <number> <url>"),
        ({"contractions": "keep"}, "<user> says obama's boston marathon wow :D 1000 <url>"),
        ({"punctuation": True}, "<user> says obama 's boston marathon wow ! :D 1000 <url>"),
    ],
)
def test_social_options(options: dict, tokens: str) -> None:
    text = "@Bob says Obama's #BostonMarathon WOW!! :D 1,000 http://t.co/x"
    assert SocialTokenizer(**options).tokenize(text) == tokens.split()


def test_social_forgets_nothing_when_its_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    random.seed(1)
    words = [f"Word{random.randrange(60)}" for _ in range(500)]
    expected = [word.lower() for word in words]
    monkeypatch.setattr("linker.data.tokenizers.social._REMEMBERED", 8)
    assert SocialTokenizer().tokenize(" ".join(words)) == expected


def test_whitespace() -> None:
    assert WhitespaceTokenizer().tokenize(" A b\u00a0c\n") == ["A", "b", "c"]
    assert WhitespaceTokenizer(lowercase=True).tokenize("A b") == ["a", "b"]
