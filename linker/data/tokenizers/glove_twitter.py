"""The preprocessing of GloVe's Twitter vectors."""

from __future__ import annotations

import re

from typing_extensions import override

from linker.data.characters import plain
from linker.data.tokenizers.tokenizer import Tokenizer

_EYES, _NOSE = "[8:=;]", "['`-]?"
# Emoticons with letters must not touch words: "Android: yes" and "1080p" contain none.
_FACES = (
    (
        rf"{_EYES}{_NOSE}\)+|(?<!\()\(+{_NOSE}{_EYES}|(?<!\w){_EYES}{_NOSE}d+(?!\w)|(?<!\w)d+{_NOSE}{_EYES}(?!\w)",
        "<smile>",
    ),
    (rf"(?<!\w){_EYES}{_NOSE}p+(?!\w)", "<lolface>"),
    (rf"{_EYES}{_NOSE}\(+|(?<!\))\)+{_NOSE}{_EYES}", "<sadface>"),
    (rf"{_EYES}{_NOSE}(?:[/|*]|l(?!\w))", "<neutralface>"),
)
_STEPS = [
    (re.compile(pattern, flags), f" {tag} ")
    for pattern, tag, flags in (
        (r"https?://\S+\b/?|www\.(?:\w+\.)+\S*", "<url>", 0),
        (r"@\w+", "<user>", 0),
        *((pattern, tag, re.IGNORECASE) for pattern, tag in _FACES),
        (r"<3", "<heart>", 0),
        (r"(?:[-+]|(?<![.\d]))[.\d]*\d[:,.\d]*(?<![:,.])", "<number>", 0),
    )
]
_HASHTAG = re.compile(r"#(\w+)")
_REPEATED = re.compile(r"([!?.])[!?.]+")
_ELONGATED = re.compile(r"\b(\w*?)([^\W\d_])\2{2,}\b")
_CAPITALS = re.compile(r"\b[^\W\d_a-z]{2,}\b")
_TOKEN = re.compile(r"<[a-z]+>|\w+(?:['’`-]\w+)*|\S")


@Tokenizer.register("glove_twitter")
class GloveTwitterTokenizer(Tokenizer):
    """Tokenizes posts like the script of GloVe's Twitter vectors (`preprocess-twitter.rb`).

    Links, mentions, faces, `<3` and numbers become `<url> <user> <smile> <lolface> <sadface> <neutralface>
    <heart> <number>`; hashtags `<hashtag>` and their words; `!!!` `! <repeat>`; `wayyy` `way <elong>`;
    words in capitals are followed by `<allcaps>`. Everything is lower-cased, and punctuation marks are
    separated. Three errors of the script are corrected: emoticons inside words, mirrored emoticons with the
    opposite meaning, and runs of spaces or punctuation counted as capitals.
    """

    @override
    def tokenize(self, text: str) -> list[str]:
        text = plain(text)
        for pattern, tag in _STEPS:
            text = pattern.sub(tag, text)
        text = _HASHTAG.sub(_hashtag, text)
        text = _REPEATED.sub(r"\1 <repeat> ", text)
        text = _ELONGATED.sub(r"\1\2 <elong> ", text)
        text = _CAPITALS.sub(_capitals, text)
        return " ".join(_TOKEN.findall(text.lower())).split()


def _hashtag(match: re.Match[str]) -> str:
    tag = match[1]
    words = [tag] if tag.isupper() else re.split("(?=[A-Z])", tag)
    return f" <hashtag> {' '.join(words)} "


def _capitals(match: re.Match[str]) -> str:
    return f"{match[0]} <allcaps> " if match[0].isupper() else match[0]
