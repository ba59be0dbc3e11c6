"""Extract title, text and date from HTML, in the process that `extraction_process` starts for it.

Imports little, so that the process starts fast.
"""

from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple

from linker.articles.html.blocks import key_of, text_of
from linker.articles.html.dates import date_of, heading_with
from linker.articles.html.incomplete_pages import Fault, fault_of, list_fault
from linker.articles.html.metadata import Metadata
from linker.articles.html.story_lists import stories_of, stories_of_feed

# A paragraph of prose, as opposed to a name, a button or a caption.
_PROSE_WORDS = 8
_NO_LIMIT = datetime(9999, 12, 31)


class HtmlText(NamedTuple):
    """The article of a page.

    Attributes:
        title: empty if missing.
        text: empty if missing.
        date: date of publication in ISO 8601, or as the page has it, if known.
        address: canonical address, if known.
        fault: why the text cannot be the whole article, if it cannot.
        notes: what is uncertain, as clauses after "page.html: ".
    """

    title: str
    text: str
    date: str | None
    address: str | None
    fault: Fault | None
    notes: list[str]


def text_of_html(html: str, url: str | None) -> HtmlText:
    """Extract the article of a page. Time and memory are unbounded: may take a minute for 1 MB of attributes."""
    from trafilatura import bare_extraction, load_html

    if (entries := stories_of_feed(html)) is not None:
        return HtmlText("", "", None, None, list_fault(entries, "a feed"), [])
    dates = _date_search(_NO_LIMIT)
    result = bare_extraction(
        parts if (parts := load_html(html)) is None else _with_parts_joined(parts),
        url=url,
        with_metadata=True,
        include_comments=False,
        favor_recall=True,  # lists of an article are part of it
        date_extraction_params=dates,
    )
    values = {} if result is None else result if isinstance(result, dict) else result.as_dict()
    title, text = values.get("title") or "", _once((values.get("text") or "").strip())
    date, address = values.get("date"), values.get("url")
    tree = load_html(html)
    if tree is None:
        return HtmlText(title, text, date, address, fault_of(html, title, text), [])
    about = Metadata(tree, url)
    if not about.is_article:
        is_article = about.meta("og:type").lower() in ("article", "news")
        if stories := stories_of(tree, text, about.host, is_article):
            return HtmlText(title, text, date, address, list_fault(stories), [])
    extracted, title = title, about.title(title)
    if title != extracted and key_of(text.partition("\n")[0]) == key_of(title):
        text = text.partition("\n")[2].strip()  # it was taken for a subtitle
    heading = heading_with(tree, title)
    notes = []
    if text and (further := about.further_page()):
        notes.append(f"the article continues on {further}, which is not read")
    declared = date_of(about, heading)
    date = declared or (_guessed_date(tree, url) if text else None)
    if text and date and not declared:
        notes.append(f"the date {date} is a guess; give --published if it is wrong")
    return HtmlText(title, text, date, address, fault_of(html, title, text), notes)


def _with_parts_joined(tree: Any) -> Any:
    """Move parts of a body behind the first of them: of several containers the extraction takes one.

    Parts are siblings with the same tag and classes, with prose, and without a title of their own.
    """
    for parent in list(tree.iter("body", "main", "article", "section", "div")):
        firsts: dict[tuple[str, str], Any] = {}
        for part in parent.xpath("./div | ./section | ./article"):
            headings = part.iter("h1", "h2", "h3", "h4", "h5")
            if any(h.tag == "h1" or h.find(".//a") is not None or h.getparent().tag == "a" for h in headings):
                continue
            if not any(len(text_of(p).split()) >= _PROSE_WORDS for p in part.iter("p")):
                continue
            first = firsts.setdefault((part.tag, part.get("class") or ""), part)
            if first is not part:
                first[-1].tail = (first[-1].tail or "") + (part.text or "")
                first.extend(part)
                part.drop_tree()
    return tree


def _once(text: str) -> str:
    """Return a text without paragraphs that are there again, as on pages with one version for each kind of screen."""
    seen: set[str] = set()
    lines = []
    for line in text.split("\n"):
        key = key_of(line)
        if key not in seen or len(line.split()) < _PROSE_WORDS:
            lines.append(line)
        seen.add(key)
    return "\n".join(lines)


def _guessed_date(tree: Any, url: str | None) -> str | None:
    """Return a date that a page without its other stories shows; one to come if there is no other."""
    from htmldate import find_date

    for latest in (datetime.now(timezone.utc) + timedelta(days=1), _NO_LIMIT):
        date: str | None = find_date(tree, url=url, **_date_search(latest))
        if date:
            return date
    return None


def _date_search(latest: datetime) -> dict[str, Any]:
    """Return settings of htmldate: the date of publication, from markup and the address.

    Its extensive search tries every number in the text: 4 s instead of 10 ms (decision 140).
    """
    return {"original_date": True, "extensive_search": False, "max_date": latest.strftime("%Y-%m-%d")}
