"""The key of a link: one short text for all addresses of one article."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

from linker.articles.links.wrappers import unwrapped

# Parameters that say where a click came from. All others stay: many sites name an article by `id`, `p` or `cid`.
_TRACKERS = frozenset(
    """
    __s __tn__ __twitter_impression _bhlid _branch_match_id _branch_referrer _ga _gl _hsenc _hsmi _ke _kx _openstat
    accesstoken action_object_map action_ref_map action_type_map amp amp_gsa amp_js_v amp_lite amp_markup ampshare
    aoh asc_campaign asc_refurl asc_source awc bhlid bxid campaign_id ceid chcid cjevent ck_subscriber_id clickid
    cmp cmp_src cmpid cmpref cndid csref cvid cxrecs_s dclid dicbo dlbk dm_i echobox ecid ef_id efg_lid elq elqaid
    elqat elqcampaignid elqtrack elqtrackid embedded_checkout embeds_referring_euri embeds_referring_origin emci
    emdi epik esource esrc et_cid et_mid et_rid ex_cid fbadid fbc fbclid feedtype freebie from_source ftag gaa_at
    gaa_n gaa_sig gaa_ts gbraid gcl_au gclid gclsrc gift giftcopy gifttoken gs_lcp guccounter hootpostid hpid
    hsctatracking hss_channel icid ig_mid ig_rid igsh igshid in_reply_to_status_id intcid irclickid irgwc itid ito
    lctg leadsource li_fat_id li_source linkid lipi ls_source mbid mc_cid mc_eid mc_tc mcubz mibextid mkcid mktg mod
    msclkid n_cid ncid ncl_amp nl nlid nocache noredirect nsukey oborigurl ocid outputamp outputtype partner pcmp
    pgtype post_id_source postshare ppid pwapi_token raneaid ranmid ransiteid rb_clickid rdt rdt_cid recirc ref ref_
    ref_campaign ref_content ref_medium ref_src ref_term ref_url referer referrer referringsource reflink refsrc
    region_ref reshareid rss rss_id s_cid s_kwcid sa_campaign sc_channel sc_cid sccid scm sfnsn share share_from
    share_id share_medium share_source shareadraft shared_by sharedby shareid sharesource sharetoken sharetype
    showcomments si smh smid smprod smtyp soc_src soc_trk source_ref spm spm_id_from spref sr sr_share sref sref_src
    srnd srsltid ss_email_id sscid syclid taid tblci tduid tgclid tpcc trackingid traffic_source trk trkcampaign
    tsrc ttclid twclid twitter_impression twsrc unlocked_article_code usp usqp utm utmsource vd_source ved vgo_ee
    via wbraid wickedid wpisrc wpmm wprov wtmc xd_co_f xfrom xid_source xnpe xrs xtatc xtcr xtdate xtnp xtor xtref
    yclid ym_uid ysclid zanpid
    """.split()  # noqa: SIM905
)
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
    i = 0
    while i < len(labels) - 1:
        rest = labels[:i] + labels[i + 1 :]
        if _is_copy(labels[i]) and len(rest) > 1 and not (len(rest) == 2 and _is_suffix(*rest)):
            labels = rest
        else:
            i += 1
    host = ".".join(labels)
    if not _HOST.fullmatch(host) or labels[-1].isdigit():
        return None
    return host if port in (None, 80, 443) else f"{host}:{port}"


def _is_copy(label: str) -> bool:
    return label in _COPIES or _NUMBERED_WWW.fullmatch(label) is not None


def _is_suffix(first: str, second: str) -> bool:
    """Whether two labels are a suffix like `co.uk`, below which others register."""
    return first in _SUFFIXES and len(second) == 2


def _path(path: str) -> str:
    path = unicodedata.normalize("NFC", _SESSION.sub("", unquote(path, errors="surrogateescape")))
    path = _SLASHES.sub("/", path)
    lower = path.lower()
    if not ("amp" in lower or "index." in lower or "default." in lower):
        return quote(path.rstrip("/"), safe=_SAFE, errors="surrogateescape")
    before = None
    while path != before:  # `/amp/index.html/` has several of them
        before = path
        path = _AMP_BEFORE_SUFFIX.sub("", _AMP_START.sub("", path))
        path = _AMP_END.sub("", _INDEX.sub("", path.rstrip("/")))
    return quote(path, safe=_SAFE, errors="surrogateescape")


def _query(query: str) -> str:
    if not query:
        return ""
    kept = [
        (name, value)
        for name, value in parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
        if not _is_tracker(name.lower())
    ]
    return urlencode(sorted(kept), errors="surrogateescape")


def _is_tracker(name: str) -> bool:
    return name in _TRACKERS or _TRACKER_PREFIX.match(name) is not None
