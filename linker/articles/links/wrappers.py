"""Addresses that wrap another one: redirects of platforms, AMP caches, archives, readers, mail filters."""

from __future__ import annotations

import base64
import re
from urllib.parse import parse_qsl, unquote, urlsplit

_MOST = 5
# Hosts (without their www.) whose links hold the address in a parameter, and these parameters, the likelier first.
_IN_PARAMETER = re.compile(
    r"((l|lm|m|mobile)\.)?facebook\.com|l\.(instagram\.com|threads\.(net|com)|messenger\.com|wl\.co)|"
    r"(translate\.)?(google|yandex)\.[a-z.]{2,6}|(m\.)?youtube\.com|duckduckgo\.com|([a-z]+\.)?bing\.com|"
    r"out\.reddit\.com|go\.bsky\.app|(t|telegram)\.me|link\.zhihu\.com|(passport\.)?weibo\.(cn|com)|t\.cn|"
    r"flipboard\.com|disq\.us|pinterest\.[a-z.]{2,6}|linkedin\.com|(twitter|x)\.com|((m|away)\.)?vk\.(com|ru)|"
    r"t\.umblr\.com|slack-redir\.net|steamcommunity\.com|exit\.sc|getpocket\.com|go\.skimresources\.com|"
    r"go\.redirectingat\.com|via\.hypothes\.is|statics\.teams\.cdn\.office\.net|urlsand\.esvalabs\.com|"
    r"linkprotect\.cudasvc\.com|clicktime\.symantec\.com|urldefense\.(com|proofpoint\.com)|"
    r"([a-z0-9]+\.)?safelinks\.protection\.outlook\.com|archive\.(is|today|ph|li|vn|fo|md)|archive\.wikiwix\.com|"
    r"webcitation\.org|removepaywalls?\.com|freedium\.cfd|12ft\.io"
)
_PARAMETERS = ("url", "u", "q", "uddg", "target", "to", "z", "a", "text", "toasturl", "imgrefurl")
# A host and the beginning of a path, after which the address follows, perhaps without its scheme.
_AFTER = [
    (re.compile(host), re.compile(path, re.IGNORECASE))
    for host, path in (
        (r"google\.[a-z.]{2,6}", r"/amp/(s/)?"),
        (r"([a-z0-9-]+\.)?cdn\.ampproject\.(org|net)", r"/([acviwr]/)?(s/)?"),
        (r"bing-amp\.com", r"/c/(s/)?"),
        (r"yandex\.[a-z.]{2,6}", r"/turbo/(s/)?"),
        (r"(web\.)?archive\.org", r"/((web|wayback)/((\d{1,14}|\*)([a-z]{2}_)?/)?|save/)(?=\D)"),
        (r"r\.search\.yahoo\.com", r"/([^/]+/)*?RU="),
        (r"urldefense\.(com|proofpoint\.com)", r"/v3/__"),
        (r"webcache\.googleusercontent\.com", r"/search\?([^#]*&)?q=cache:([\w-]+:)?"),
        # Others have it anywhere, with its scheme: archives, readers, mail filters.
        (
            r"wayback\.archive-it\.org|arquivo\.pt|webarchive\.nationalarchives\.gov\.uk|click\.redditmail\.com|"
            r"secure-web\.cisco\.com|via\.hypothes\.is|deviantart\.com|archive\.(is|today|ph|li|vn|fo|md)|12?ft\.io|"
            r"outline\.com|removepaywalls?\.com|r\.jina\.ai|txtify\.it|freedium\.cfd|smry\.ai|href\.li|anonym\.to|"
            r"anon\.to",
            r"/.*?(?=https?:)",
        ),
    )
]
# Most addresses are of other hosts, which one match shows.
_WRAPPERS = re.compile("|".join([_IN_PARAMETER.pattern, *(host.pattern for host, _ in _AFTER)]))
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+", re.IGNORECASE)
_SCHEME = re.compile(r"(https?):/{0,2}(?=[^/])", re.IGNORECASE)
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
    if _IN_PARAMETER.fullmatch(host):
        values = dict(reversed(parse_qsl(parts.query)))
        for name in _PARAMETERS:
            value = _decoded(host, parts.path, values.get(name, ""))
            # What a search looks for may look like an address without a scheme.
            if inner := _with_scheme(value) or (None if name in ("q", "text") else _without_scheme(value)):
                return inner
    rest = (parts.path or "/") + "?" * bool(parts.query) + parts.query
    for of_host, before in _AFTER:
        if of_host.fullmatch(host) and (match := before.match(rest)):
            inner = _filled(rest[match.end() :]).partition("/RK=")[0]
            inner = inner if "?" in inner else _QUERY.sub("?", inner, count=1)
            return _with_scheme(inner) or _without_scheme(inner)
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
    replaced = _REPLACED.search(rest)
    for character in _of_base64(replaced[1]) if replaced else "":
        url = url.replace("*", character, 1)
    return url


def _of_base64(text: str) -> str:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except ValueError:
        return ""


def _with_scheme(text: str) -> str | None:
    """The text as an address if it has a scheme; archives and proxies may have lost a slash of it."""
    text = text.strip()
    if "://" not in text[:10] and ("%3a" in text[:10].lower() or "%2f" in text[:10].lower()):
        text = unquote(text)
    match = _SCHEME.match(text)
    return f"{match[1].lower()}://{text[match.end() :]}" if match else None


def _without_scheme(text: str) -> str | None:
    """The text as an address if it begins with a host and has something behind it."""
    text = unquote(text) if "%2f" in text[:10].lower() else text
    host = re.split("[/?#]", text, maxsplit=1)[0]
    return f"https://{text}" if _HOST.fullmatch(host) and len(text) > len(host) else None


def _untranslated(host: str) -> str:
    """`www-example-com` → `www.example.com`; a hyphen of the host itself is doubled."""
    return host.removesuffix(_TRANSLATED).replace("--", "\0").replace("-", ".").replace("\0", "-")
