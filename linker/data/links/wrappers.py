"""Addresses that wrap another one: redirects of platforms, AMP caches, archives, readers."""

import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from linker.common.files import read_sections

_MOST = 5
_LISTS = read_sections(Path(__file__).with_name("wrappers.ini"))
# Hosts (without their www.) whose links hold the address in a parameter, and these parameters, the likelier first.
_IN_PARAMETER = re.compile("|".join(_LISTS["in a parameter"]))
_PARAMETERS = ("url", "u", "q", "uddg", "target", "to", "z", "a", "text", "toasturl", "imgrefurl")
# A host and the beginning of a path, after which the address follows, perhaps without its scheme.
_AFTER = [
    (re.compile(host), re.compile(path, re.IGNORECASE))
    for host, path in map(str.split, _LISTS["after a path"])
]
# Most addresses are of other hosts, which one match shows.
_WRAPPERS = re.compile("|".join([_IN_PARAMETER.pattern, *(host.pattern for host, _ in _AFTER)]))
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+(?=[/?#])", re.IGNORECASE)
_SCHEME = re.compile(r"(https?):/{0,2}(?=[^/])", re.IGNORECASE)
_ENCODED = re.compile(r"(?!https?://).{0,8}%(3a|2f)", re.IGNORECASE)
_WWW = re.compile(r"www\d?\.")
_TRANSLATED = ".translate.goog"
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
    """Return the address that a redirect, AMP cache or archive wraps; others as they are, but repaired.

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
    query = "?" * bool(parts.query) + parts.query
    if host.endswith(_TRANSLATED):
        # `www-example-com` → `www.example.com`; a hyphen of the host itself is doubled.
        original = host.removesuffix(_TRANSLATED).replace("--", "\0").replace("-", ".").replace("\0", "-")
        return f"https://{original}{parts.path}{query}"
    if not _WRAPPERS.fullmatch(host):
        return None
    if _IN_PARAMETER.fullmatch(host):
        values = dict(reversed(parse_qsl(parts.query)))
        if inner := next(filter(None, (_address(values.get(name, "")) for name in _PARAMETERS)), None):
            return inner
    rest = (parts.path or "/") + query
    for of_host, before in _AFTER:
        if of_host.fullmatch(host) and (match := before.match(rest)):
            found = rest[match.end() :]
            found = found if "?" in found else _QUERY.sub("?", found, count=1)
            return _address(found) or (f"https://{found}" if _HOST.match(found) else None)
    return None


def _address(text: str) -> str | None:
    """The text as an address if it has a scheme; archives and proxies may have lost a slash of it."""
    text = text.strip()
    match = _SCHEME.match(unquote(text) if _ENCODED.match(text) else text)
    return f"{match[1].lower()}://{match.string[match.end() :]}" if match else None
