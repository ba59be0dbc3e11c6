"""Plain text from posts in HTML, such as those of Mastodon."""

from __future__ import annotations

import html
import re

_BLOCKS = "p|div|ul|ol|li|blockquote|pre|h[1-6]|table|tr|section|article|figure|figcaption"
_INLINE = (
    "a|span|b|i|u|s|em|strong|del|ins|code|small|sub|sup|mark|abbr|q|cite|img|td|th|tbody|thead|font|wbr"
)
_ATTRIBUTES = r"(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>=]+))?)*\s*"
# Evidence that a text is HTML; an opening <b> alone may be typed by a person.
_PROOF = re.compile(
    rf"<br\s*/?>|<p(?:{_ATTRIBUTES})>|<a\s+[^<>]*href\s*=|</(?:{_BLOCKS}|{_INLINE})\s*>", re.IGNORECASE
)
_BREAK = re.compile(rf"<br{_ATTRIBUTES}/?>", re.IGNORECASE)
_BLOCK = re.compile(rf"</?(?:{_BLOCKS})(?:{_ATTRIBUTES})/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_INLINE})(?:{_ATTRIBUTES})/?>", re.IGNORECASE)
_SCRIPT = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>|<!--.*?-->", re.IGNORECASE | re.DOTALL)
# Mastodon marks the hidden ends of long links by classes.
_ELLIPSIS = re.compile(r'<span class="ellipsis">([^<]*)</span><span class="invisible">[^<]*</span>')
_INVISIBLE = re.compile(r'<span class="invisible">[^<]*</span>')
_SPACES, _LINES = re.compile(r"[ \t\xa0]+"), re.compile(r" ?\n ?")
_BLOCKS_APART = re.compile(r"(?: *\v)+ *")
_MANY_LINES = re.compile(r"\n{3,}")


def plain_text(text: str) -> str:
    """Remove tags and entities from a post in HTML; return any other text unchanged.

    A text counts as HTML if it has a `<br>`, a `<p>`, a link, or a closing tag of a common element. `I <3 you`,
    `a < b > c` and `use <b> here` do not. Links keep their visible text; line breaks and ends of paragraphs become line
    breaks.
    """
    if "<" not in text or not _PROOF.search(text):
        return text
    text = _SCRIPT.sub("", text)
    text = _INVISIBLE.sub("", _ELLIPSIS.sub(r"\1…", text)) if "invisible" in text else text
    # White space of the source has no meaning in HTML.
    text = _SPACES.sub(" ", text.replace("\r", "").replace("\n", " "))
    text = _BLOCK.sub(_end_of_block, _BREAK.sub("\n", text))
    text = _BLOCKS_APART.sub("\n", text)
    text = html.unescape(_TAG.sub("", text)).replace("\xa0", " ")
    return _MANY_LINES.sub("\n\n", _LINES.sub("\n", text)).strip()


def _end_of_block(match: re.Match[str]) -> str:
    return "\n\n" if match.group()[:3].lower() in ("</p", "<p>", "<p ") else "\v"
