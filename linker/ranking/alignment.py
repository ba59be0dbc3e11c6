"""Where the tokens of a text stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

WordWeights = list[tuple[str, float]]
Span = tuple[int, int]

_AHEAD = 80
"""Characters that are searched for the next token; links and invisible characters may lie between."""


def align(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """The place of each token in the text it was made from; None where it is not there as it is (`<user>`).

    Tokens stand in the order of the text, in other case perhaps. Only the parts of a hashtag may stand within
    the token before them.
    """
    text = text.replace("’", "'")
    lowered = text.lower()
    if len(lowered) != len(text):  # some letters are longer in lower case: leave those as they are
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return list(_places(lowered, tokens))


def _places(text: str, tokens: Sequence[str]) -> Iterator[Span | None]:
    position, tag = 0, (0, 0)
    for token in tokens:
        token = token.lower()
        within = text.find(token, *tag) if len(token) < tag[1] - tag[0] else -1
        if within >= 0:
            yield within, within + len(token)
            continue
        start = text.find(token, position, position + _AHEAD + len(token))
        if start < 0:
            yield None
            continue
        position = start + len(token)
        tag = (start, position) if "#" in (text[start], text[start - 1 : start]) else (0, 0)
        yield start, position
