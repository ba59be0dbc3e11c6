"""Addresses that wrap another one: redirects of platforms, AMP caches, archives, readers, mail filters."""

from __future__ import annotations

import base64
import re
from urllib.parse import parse_qsl, unquote, urlsplit

_MOST = 5
# A host (without its www.) and the beginning of a path, and the parameters that hold the address.
_IN_PARAMETER: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (r"(l|lm)\.facebook\.com", "/l.php", ("u",)),
    (r"(m\.|mobile\.)?facebook\.com", "/(sharer(/sharer)?.php|share.php|l.php|flx/warn)", ("u",)),
    (r"l\.(instagram\.com|threads\.(net|com)|messenger\.com|wl\.co)", "/", ("u",)),
    (r"google\.[a-z.]{2,6}", "/(url|imgres)", ("url", "q", "imgrefurl")),
    (r"translate\.google\.[a-z.]{2,6}", "/", ("u",)),
    (r"(m\.)?youtube\.com", "/redirect", ("q",)),
    (r"(duckduckgo\.com)", "/l/", ("uddg",)),
    (r"([a-z]+\.)?bing\.com", "/(ck/a|news/apiclick|fd/ls)", ("u", "url")),
    (r"(out\.reddit\.com)", "/", ("url",)),
    (r"(go\.bsky\.app)", "/redirect", ("u",)),
    (r"(t\.me|telegram\.me)", "/(iv|share/url)", ("url",)),
    (r"(link\.zhihu\.com)", "/", ("target",)),
    (r"((passport\.)?weibo\.(cn|com)|t\.cn)", "/sinaurl", ("u", "toasturl")),
    (r"yandex\.[a-z.]{2,6}", "/(clck|turbo|search/redir)", ("url", "text")),
    (r"translate\.yandex\.[a-z.]{2,6}", "/", ("url",)),
    (r"flipboard\.com", "/(redirect|link)", ("url",)),
    (r"(disq\.us|pinterest\.[a-z.]{2,6})", "/(url|offsite|pin/create)", ("url",)),
    (r"(via\.hypothes\.is|statics\.teams\.cdn\.office\.net|urlsand\.esvalabs\.com)", "/", ("url", "u")),
    (r"(linkprotect\.cudasvc\.com)", "/url", ("a",)),
    (r"(clicktime\.symantec\.com|urldefense\.(com|proofpoint\.com))", "/", ("u",)),
    (r"(archive\.(is|today|ph|li|vn|fo|md)|removepaywalls?\.com|freedium\.cfd)", "/", ("url",)),
    (r"(archive\.wikiwix\.com|webcitation\.org)", "/", ("url",)),
    (r"linkedin\.com", "/(redir/redirect|safety/go|sharing/share-offsite|sharearticle)", ("url",)),
    (r"(twitter|x)\.com", "/(intent/(tweet|post)|share)", ("url",)),
    (r"((m|away)\.)?vk\.(com|ru)", "/(away|share)", ("to", "url")),
    (r"t\.umblr\.com", "/redirect", ("z",)),
    (r"(slack-redir\.net|steamcommunity\.com)", "/link(filter)?", ("url", "u")),
    (r"(exit\.sc|getpocket\.com|go\.skimresources\.com|go\.redirectingat\.com|12ft\.io)", "/", ("url", "q")),
    (r"([a-z0-9]+\.)?safelinks\.protection\.outlook\.com", "/", ("url",)),
)
_PARAMETERS = [
    (re.compile(host), re.compile(path, re.IGNORECASE), names) for host, path, names in _IN_PARAMETER
]
# A host and the beginning of a path, after which the address follows, with or without its scheme.
_IN_PATH = [
    (re.compile(host), re.compile(path, re.IGNORECASE))
    for host, path in (
        (r"google\.[a-z.]{2,6}", r"/amp/(?:s/)?"),
        (r"([a-z0-9-]+\.)?cdn\.ampproject\.(org|net)", r"/(?:[acviwr]/)?(?:s/)?"),
        (r"(web\.)?archive\.org", r"/(?:(?:web|wayback)/(?:(?:\d{1,14}|\*)(?:[a-z]{2}_)?/)?|save/)(?=\D)"),
        (
            r"(wayback\.archive-it\.org|arquivo\.pt|webarchive\.nationalarchives\.gov\.uk)",
            r"/(?:\w+/){0,2}(?=https?:)",
        ),
        (r"bing-amp\.com", r"/c/(?:s/)?"),
        (r"yandex\.[a-z.]{2,6}", r"/turbo/(?:s/)?"),
        (r"(r\.search\.yahoo\.com)", r"/(?:[^/]+/)*?RU="),
        (r"(click\.redditmail\.com)", r"/CL0/"),
        (r"(secure-web\.cisco\.com)", r"/[^/]+/"),
        (r"(via\.hypothes\.is)", r"/(?=https?:)"),
        (r"(deviantart\.com)", r"/users/outgoing\?"),
        (
            r"archive\.(is|today|ph|li|vn|fo|md)",
            r"/(?:\d{4}[\d.-]+/|newest/|oldest/|o/\w+/|\d{14}/)?(?=https?:)",
        ),
        (r"(webcache\.googleusercontent\.com)", r"/search\?(?:[^#]*&)?q=cache:(?:[\w-]+:)?"),
        (
            r"(12?ft\.io|outline\.com|removepaywalls?\.com|r\.jina\.ai|txtify\.it|freedium\.cfd|smry\.ai)",
            r"/(?:search\?url=)?(?=https?:)",
        ),
        (r"(href\.li|anonym\.to|anon\.to)", r"/?\?"),
        (r"urldefense\.(com|proofpoint\.com)", r"/v3/__"),
    )
]
# Most addresses are of other hosts, which one match shows.
_WRAPPERS = re.compile(
    "|".join(f"(?:{host.pattern})" for host in [*(p[0] for p in _PARAMETERS), *(p[0] for p in _IN_PATH)])
)
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)
_SCHEME = re.compile(r"https?:/{0,2}(?=[^/])", re.IGNORECASE)
_WWW = re.compile(r"www\d?\.")
_TRANSLATED = ".translate.goog"
# Proofpoint's version 2 writes `-` for `%`, and `_` for `/`; its version 3 writes `*` for what follows in Base64.
_SECOND_VERSION = str.maketrans("-_", "%/")
_REPLACED = re.compile(r"__;([\w+/=-]*)!")
# Markdown editors write `\_` for `_`; exports write `&amp;`, perhaps twice, for `&`.
_ESCAPED = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_QUERY = re.compile(r"%3f(?=[\w.]+=)", re.IGNORECASE)
_AMPERSAND = re.compile(r"&(?:amp|#0*38|#x0*26);", re.IGNORECASE)


def repaired(url: str) -> str:
    """Return an address without the escapes of Markdown and HTML."""
    if "\\" in url:
        url = _ESCAPED.sub("", url)
    while "&" in url and url != (shorter := _AMPERSAND.sub("&", url)):
        url = shorter
    return url


def unwrapped(url: str) -> str:
    """Return the address that a redirect, AMP cache, archive or mail filter wraps; others as they are, but repaired.

    Nothing is fetched: only addresses that are written inside the wrapper are found. A chain of up to five wrappers is
    followed.
    """
    url = repaired(url)
    for _ in range(_MOST):
        inner = _inner(url)
        if inner is None or inner == url:
            break
        url = inner
    return url


def _inner(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        host = _WWW.sub("", (parts.hostname or "").rstrip("."), count=1)
    except ValueError:
        return None
    if host.endswith(_TRANSLATED):
        return f"https://{_untranslated(host)}{parts.path}{'?' * bool(parts.query)}{parts.query}"
    if not _WRAPPERS.fullmatch(host):
        return None
    for of_host, of_path, names in _PARAMETERS:
        if of_host.fullmatch(host) and of_path.match(parts.path or "/"):
            values = dict(reversed(parse_qsl(parts.query)))
            values = {name: _decoded(host, parts.path, values.get(name, "")) for name in names}
            found = [inner for name in names if (inner := _address(values[name]))]
            if found:
                return found[0]
    rest = (parts.path or "/") + "?" * bool(parts.query) + parts.query
    for of_host, of_path in _IN_PATH:
        if of_host.fullmatch(host) and (match := of_path.match(rest)):
            inner = _filled(rest[match.end() :]).partition("/RK=")[0]
            return _address(inner if "?" in inner else _QUERY.sub("?", inner, count=1))
    return None


def _decoded(host: str, path: str, value: str) -> str:
    """The address in a parameter, as Bing and Proofpoint write it."""
    if host.endswith("bing.com") and value.startswith("a1"):
        return _of_base64(value[2:])
    if host.startswith("urldefense.") and "/v2/" in path:
        return unquote(value.translate(_SECOND_VERSION))
    return value


def _filled(rest: str) -> str:
    """An address that Proofpoint wrote, with the characters that it replaced by `*`."""
    url, _, _ = rest.partition("__;")
    found = _REPLACED.search(rest)
    for character in _of_base64(found[1]) if found else "":
        url = url.replace("*", character, 1)
    return url


def _of_base64(text: str) -> str:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return ""


def _address(text: str) -> str | None:
    """The text as an address with its scheme; archives and proxies may have lost a slash, or the scheme."""
    text = text.strip()
    if "://" not in text[:10] and ("%3a" in text[:10].lower() or "%2f" in text[:10].lower()):
        text = unquote(text)
    if match := _SCHEME.match(text):
        return f"{'https' if text[:5].lower() == 'https' else 'http'}://{text[match.end() :]}"
    host = re.split("[/?#]", text, maxsplit=1)[0]
    return f"https://{text}" if _HOST.fullmatch(host) and len(text) > len(host) else None


def _untranslated(host: str) -> str:
    """`www-example-com` → `www.example.com`; a hyphen of the host itself is doubled."""
    return host.removesuffix(_TRANSLATED).replace("--", "\0").replace("-", ".").replace("\0", "-")
