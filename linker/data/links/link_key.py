"""The key of a link: one short text for all addresses of one article."""

import re
import unicodedata
from functools import lru_cache
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from linker.common.files import read_word_lists
from linker.data.links.wrappers import unwrapped

LISTS = {
    name: frozenset(list_) for name, list_ in read_word_lists(Path(__file__).with_name("lists.ini")).items()
}
"""Lists of hosts, parameters and folders by their names; see the file."""
_TRACKERS = LISTS["trackers"]
_TRACKER_PREFIX = re.compile(
    "(?:at|cm|cx|fb|ga|gad|guce|hsa|int|itm|matomo|mkt|ml|mtm|ns|oly|piwik|pk|sfmc|trk|utm|vero|wt|_x_tr)[_.-]|__hs"
)
# Labels of hosts under which sites repeat themselves.
_COPIES = frozenset({"www", "m", "mobile", "amp"})
_NUMBERED_WWW = re.compile(r"www\d{1,2}")
_SUFFIXES = frozenset(["co", "com", "org", "net", "ac", "gov", "edu", "gob", "gouv", "nom", "or", "ne", "go"])
_INDEX = re.compile(r"/(index|default)\.(html?|php\d?|aspx?|jsp|shtml|cgi)$", re.IGNORECASE)
_SESSION = re.compile(r";jsessionid=[^/?#]*", re.IGNORECASE)
_AMP_END = re.compile(r"(/amp|\.amp|/amp\.html?|\.amp(?=\.html?$)|/amphtml)$", re.IGNORECASE)
_AMP_BEFORE_SUFFIX = re.compile(r"\.amp(?=\.html?$)|(?<=/)amp\.html?$", re.IGNORECASE)
_AMP_START = re.compile(r"^/amp(html)?(?=/.)", re.IGNORECASE)
_SLASHES = re.compile(r"/{2,}")
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_OTHER_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:(?!\d)", re.IGNORECASE)
_UNUSABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd]")
_SAFE = "/:@!$'()*+,;=~-._"
_LONGEST = 2_000


@lru_cache(maxsize=1 << 16)
def link_key(url: str) -> str | None:
    """Return the key of a link, the same for all addresses of one article as far as they show it.

    Wrappers are removed (see `unwrapped`); then the scheme, `www.`, `m.`, `amp.`, AMP endings, `index.html`, trailing
    slashes, the fragment, and parameters that only say where a click came from. All other parameters stay, sorted. The
    key of `https://` and a key is the key.

    Args:
        url: an address, with or without its scheme.

    Returns:
        `host/path?query`; None if it is not an http address.
    """
    parts = _parts(url)
    if parts is None:
        return None
    host = _host(parts)
    if host is None:
        return None
    path, query = _path(parts.path), _query(parts.query)
    fragment = f"#{parts.fragment}" if parts.fragment.startswith("!/") else ""
    return f"{host}{path}{'?' * bool(query)}{query}{quote(fragment, safe='#%' + _SAFE)}"


def host_of(key: str) -> str:
    """Return the host of a key."""
    return key.partition("/")[0].partition("?")[0].partition("#")[0]


def _parts(url: str) -> SplitResult | None:
    url = url.strip()
    if not url or len(url) > _LONGEST or _UNUSABLE.search(url):
        return None
    if not _ADDRESS.match(url):
        if url.startswith("//"):
            url = f"https:{url}"
        elif _OTHER_SCHEME.match(url):
            return None
        else:
            url = f"https://{url}"
    try:
        return urlsplit(unwrapped(url))
    except ValueError:
        return None


def _host(parts: SplitResult) -> str | None:
    try:
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    labels = host.split(".")
    for label in labels[:-1]:
        rest = [*labels]
        rest.remove(label)
        # Below a suffix like `co.uk`, others register.
        is_suffix = len(rest) == 2 and rest[0] in _SUFFIXES and len(rest[1]) == 2
        if (label in _COPIES or _NUMBERED_WWW.fullmatch(label)) and len(rest) > 1 and not is_suffix:
            labels = rest
    host = ".".join(labels)
    if not _HOST.fullmatch(host) or labels[-1].isdigit():
        return None
    return host if port in (None, 80, 443) else f"{host}:{port}"


def _path(path: str) -> str:
    path = unicodedata.normalize("NFC", _SESSION.sub("", unquote(path, errors="surrogateescape")))
    path = _SLASHES.sub("/", path)
    before = None
    while path != before:  # `/amp/index.html/` has several of them
        before = path
        path = _AMP_BEFORE_SUFFIX.sub("", _AMP_START.sub("", path))
        path = _AMP_END.sub("", _INDEX.sub("", path.rstrip("/")))
    return quote(path, safe=_SAFE, errors="surrogateescape")


def _query(query: str) -> str:
    if not query:
        return ""
    fields = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    named = [
        field
        for field in fields
        if not _TRACKER_PREFIX.match(name := field[0].lower()) and name not in _TRACKERS
    ]
    return urlencode(sorted(named), errors="surrogateescape")
