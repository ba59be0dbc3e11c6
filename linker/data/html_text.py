"""Plain text from posts in HTML, such as those of Mastodon."""

import re

from linker.data.characters import unescaped

_BLOCKS = "p|div|ul|ol|li|blockquote|pre|h[1-6]|table|tr|section|article|figure|figcaption"
_INLINE = (
    "a|span|b|i|u|s|em|strong|del|ins|code|small|sub|sup|mark|abbr|q|cite|img|td|th|tbody|thead|font|wbr"
)
_ATTRIBUTES = r"(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'<>=]+))?)*\s*"
# Evidence that a text is HTML; an opening <b> alone may be typed by a person.
_PROOF = re.compile(
    rf"<br\s*/?>|<p(?:{_ATTRIBUTES})>|<a\s[^<>]*href\s*=|</(?:{_BLOCKS}|{_INLINE})\s*>", re.IGNORECASE
)
_BREAK = re.compile(rf"<br{_ATTRIBUTES}/?>", re.IGNORECASE)
_BLOCK = re.compile(rf"</?(?:{_BLOCKS})(?:{_ATTRIBUTES})/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_INLINE})(?:{_ATTRIBUTES})/?>", re.IGNORECASE)
# What is not text: its beginning, and by the beginning its end.
_UNSEEN = re.compile(r"<(script|style)\b[^<>]*>|<!--", re.IGNORECASE)
_UNSEEN_END = {
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
    "": re.compile("-->"),
}
# Mastodon marks the hidden ends of long links by classes.
_ELLIPSIS = re.compile(r'<span class="ellipsis">([^<]*)</span><span class="invisible">[^<]*</span>')
_INVISIBLE = re.compile(r'<span class="invisible">[^<]*</span>')
_ANCHOR = re.compile(rf"<a({_ATTRIBUTES})>", re.IGNORECASE)
_HREF = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=]+))", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*[\"']?([^\"'<>]*)", re.IGNORECASE)
_SPACES, _LINES = re.compile(r"[ \t\xa0]+"), re.compile(r" ?\n ?")
_BLOCKS_APART = re.compile(r"(?: *\v)+ *")
_MANY_LINES = re.compile(r"\n{3,}")


def plain_text(text: str) -> str:
    """Remove tags and entities from a post in HTML; return any other text unchanged.

    A text counts as HTML if it has a `<br>`, a `<p>`, a link, or a closing tag of a common element. `I <3 you`,
    `a < b > c` and `use <b> here` do not. Links keep their visible text; line breaks and ends of paragraphs become line
    breaks.
    """
    return text_of_html(text) if "<" in text and _PROOF.search(text) else text


def text_of_html(text: str) -> str:
    """Remove tags and entities from a text that is known to be HTML; see `plain_text`."""
    text = _without_unseen(text)
    text = _INVISIBLE.sub("", _ELLIPSIS.sub(r"\1…", text)) if "invisible" in text else text
    # White space of the source has no meaning in HTML.
    text = _SPACES.sub(" ", text.replace("\r", "").replace("\n", " "))
    text = _BLOCK.sub(
        lambda tag: "\n\n" if tag[0][:3].lower() in ("</p", "<p>", "<p ") else "\v", _BREAK.sub("\n", text)
    )
    text = _BLOCKS_APART.sub("\n", text)
    text = unescaped(_TAG.sub("", text)).replace("\xa0", " ")
    return _MANY_LINES.sub("\n\n", _LINES.sub("\n", text)).strip()


def anchors(text: str) -> list[str]:
    """Return the addresses that a post in HTML links to, in order, without those of mentions and hashtags."""
    urls = []
    for attributes in _ANCHOR.findall(text) if "<a" in text or "<A" in text else ():
        address, classes = _HREF.search(attributes), _CLASS.search(attributes)
        if address and not {"mention", "hashtag"} & set((classes[1] if classes else "").split()):
            urls.append(unescaped(address[1] or address[2] or address[3] or ""))
    return [address for address in urls if address.lower().startswith(("http://", "https://"))]


def _without_unseen(text: str) -> str:
    """Remove scripts, styles and comments that end; in linear time, however many begin."""
    texts, seen, place = [], 0, 0
    unended = set()
    while begin := _UNSEEN.search(text, place):
        kind, place = (begin[1] or "").lower(), begin.end()
        end = None if kind in unended else _UNSEEN_END[kind].search(text, place)
        if end is None:
            unended.add(kind)
        else:
            texts.append(text[seen : begin.start()])
            seen = place = end.end()
    return "".join([*texts, text[seen:]])
