"""Detect pages without a complete article: paywalls, consent walls, script-only pages, error pages."""

from __future__ import annotations

import re
from typing import Any, Literal


def _any(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


def _named(**groups: tuple[str, ...]) -> re.Pattern[str]:
    return _any(*(f"(?P<{name}>{'|'.join(phrases)})" for name, phrases in groups.items()))


PAYWALL = _any(
    # English
    r"subscribe (?:now )?to (?:read|continue|keep reading|unlock|access)",
    r"subscribers?[ -]only",
    r"(?:only|exclusively) (?:available )?(?:to|for) (?:our )?(?:subscribers|members)",
    r"(?:reserved )?for (?:(?:our|paying|digital) )?subscribers\b",
    r"already (?:a|an) (?:\w+ )?(?:subscriber|member)\b|already subscribed\?",
    r"(?:sign|log) ?in to (?:read|continue|keep|unlock)",
    r"(?:sign up|register) to (?:read|continue|keep reading)",
    r"to (?:continue|keep) reading|(?:continue|keep) reading (?:with|by|for)|to read the (?:full|rest)",
    r"unlock (?:this|the) (?:article|story|content)",
    r"you(?:'ve| have) (?:reached|used|read) (?:your|all).{0,40} free",
    r"start your (?:free )?trial|create a free account to",
    # German
    r"jetzt weiterlesen|um weiterzulesen|weiterlesen mit|artikel freischalten",
    r"(?:vollständigen|ganzen) artikel lesen mit|mit .{0,30}(?:abo|plus\b|\+) (?:weiter)?lesen",
    r"(?:sie sind|du bist|schon|bereits) (?:bereits |schon )?(?:abonnent|registriert)",
    r"(?:sie haben|du hast|schon|bereits) (?:bereits |schon )?(?:ein )?(?:\w+-?)?abo\b",
    r"(?:nur|exklusiv) für (?:\S+ )?(?:abonnent|mitglieder)|dieser artikel ist .{0,30}abonnent",
    # French
    r"réservée? (?:aux|à nos) abonné|déjà abonné|pour lire la suite|la suite est réservée",
    r"abonnez-vous pour (?:lire|continuer|accéder)|il (?:vous )?reste \d+ ?% ",
    # Spanish
    r"(?:solo|sólo|exclusiv[oa]|únicamente) para (?:\w+ )?(?:suscriptores|socios|abonados)",
    r"suscríbete (?:para|y sigue)|¿?ya (?:eres|es|soy) suscriptor|para seguir leyendo",
    r"inicia sesión para (?:leer|seguir)",
    # Italian
    r"per gli abbonati|riservat[oa] agli abbonati|sei già abbonato|abbonati per (?:leggere|continuare)",
    r"per continuare (?:a leggere|la lettura)",
    # Portuguese
    r"(?:exclusivo|só|apenas|restrito) (?:para|a) (?:\w+ )?assinantes|já é assinante",
    r"assine (?:para|e) (?:ler|continu)|para continuar (?:a ler|lendo)",
    # Dutch
    r"(?:alleen|exclusief|enkel) voor abonnees|al (?:een )?abonnee\b|om verder te lezen",
    # Danish, Norwegian, Swedish
    r"(?:kun|forbeholdt|eksklusivt) (?:for )?abonnent|(?:endast|bara) för prenumeranter",
    r"(?:allerede|redan) (?:abonnent|prenumerant)|(?:læs|les|läs) (?:videre|vidare) med|för att läsa vidare",
    # Polish
    r"(?:tylko|wyłącznie) dla (?:subskrybentów|prenumeratorów|abonentów)",
    r"(?:aby|żeby) (?:czytać dalej|przeczytać całość)|masz już (?:subskrypcję|prenumeratę)",
    # Russian
    r"только (?:для|по) подписк|только для подписчик|чтобы (?:читать|прочитать) (?:дальше|полностью|статью)",
    # Chinese and Japanese
    r"(?:订阅|訂閱|登录|登入|付费|付費)(?:后|後|以)?(?:阅读|閱讀|继续|繼續|查看)|会员专享|會員專享",
    r"会員限定|有料会員|有料記事|続きを読むには|この記事は有料|残り ?\d+ ?文字",
)

METERED = _any(
    r"subscri|log ?in\b|sign ?in\b|abonn|\babo\b|suscr[ií]|abbonat|assin(?:e|ante)|prenum|subskry|подпис",
    r"订阅|訂閱|会員|購読",
)

# Named groups, so that two phrases with the same meaning count once.
CONSENT = _named(
    partners=(
        r"our (?:\d+ )?(?:\w+ )?partners",
        r"unsere(?:n)? (?:\d+ )?partner",
        r"nos (?:\d+ )?partenaires",
        r"nuestros (?:\d+ )?socios",
        r"nostri (?:\d+ )?partner",
        r"nossos (?:\d+ )?parceiros",
        r"onze (?:\d+ )?partners",
        r"nas(?:i|zych|zymi) partner",
    ),
    accept=(
        r"(?:accept|reject|allow) all|accept and continue",
        r"alles? akzeptieren|akzeptieren und weiter|alle ablehnen",
        r"tout accepter|tout refuser|continuer sans accepter|accepter et continuer",
        r"(?:aceptar|rechazar) tod[oa]s?|aceptar y continuar",
        r"(?:accetta|rifiuta) tutt[oi]|accetta e continua",
        r"(?:aceitar|rejeitar) tudo",
        r"alles (?:accepteren|weigeren)",
        r"zaakceptuj wszystkie|akceptuję",
    ),
    cookies=(
        r"(?:we|this (?:web)?site) uses? cookies|store and/or access information|cookie (?:settings|policy)",
        r"wir (?:verwenden|nutzen|setzen) .{0,30}cookies",
        r"nous utilisons (?:des )?cookies|gestion des cookies",
        r"(?:utilizamos|usamos) .{0,20}cookies|configurar cookies",
        r"utilizziamo (?:i )?cookie",
        r"(?:we|wij) gebruiken cookies",
        r"używamy (?:plików )?cookie",
    ),
    consent=(
        r"(?:your|give|withdraw) consent",
        r"ihrer? (?:einwilligung|zustimmung)|mit werbung (?:lesen|weiter)",
        r"votre consentement",
        r"(?:su|tu) consentimiento",
        r"(?:il tuo|il) consenso",
        r"seu consentimento",
        r"toestemming",
        r"wyrażam zgodę",
    ),
    privacy=(
        r"(?:we value|about) your privacy|privacy (?:settings|center|centre|manager)",
        r"datenschutzeinstellungen|respect(?:er|ons) votre vie privée",
        r"(?:tu|su) privacidad|(?:la tua|la vostra) privacy|sua privacidade|(?:jouw|uw) privacy",
    ),
    advertising=(
        r"personali[sz]ed (?:ads|advertising|content)",
        r"personalisierte (?:werbung|anzeigen)",
        r"publicités? personnalisée",
        r"publicidade? personali[zs]ada",
        r"annunci personalizzati|pubblicità personalizzata",
        r"gepersonaliseerde advertenties",
    ),
)

SCRIPTS = _any(
    r"(?:enable|turn on|activate|requires?|needs?|without|allow) (?:\w+ )?java ?script",
    r"java ?script (?:\w+ ){0,3}(?:not |nicht )?(?:disabled|enabled|required|off|deaktiviert|aktiviert)",
    r"java ?script (?:est |está |è )?(?:désactivé|activé|desactivado|activado|disabilitato|vereist)",
    r"java ?script (?:in .{0,30})?(?:aktivieren|einschalten|erlauben|inschakelen)",
    r"(?:aktivieren|schalten) sie (?:\w+ )?java ?script",
    r"(?:activer|activez|habilitar?|habilite|activar?|active|ativar?|ative|abilita(?:re)?|attiva(?:re)?) "
    r"(?:\w+ )?java ?script",
    r"(?:schakel|włącz|włączyć) (?:\w+ )?java ?script",
    r"включите (?:\w+ )?java ?script|启用 ?java ?script|啟用 ?java ?script|java ?scriptを有効",
)

ROBOT_CHECK = _any(
    r"are you (?:a (?:robot|human)|human\?)|not a robot|verif(?:y|ying) (?:that )?you are (?:a )?human",
    r"unusual (?:traffic|activity) from|checking (?:your browser|if the site connection)",
    r"pardon our interruption|complete the (?:captcha|security check)|^just a moment\b",
    r"attention required! \| cloudflare|ddos protection by|your request (?:was|has been) blocked",
    r"kein roboter|pas un robot|no (?:eres|soy) un robot|non (?:sei|sono) un robot|geen robot|не робот",
)

ERROR = _any(
    r"(?:error )?40[0-9](?: ?[-–:|]| error| not| page|$)|(?:error )?50[0-9](?: ?[-–:|]| error|$)",
    r"(?:.{0,40} )?page (?:not|cannot be|could not be|can't be|no longer) (?:found|available)",
    r"(?:.{0,40} )?page (?:does not|doesn't) exist|.{0,40}[-–|:] 404\b",
    r"(?:access denied|forbidden|not found|service unavailable|something went wrong|internal server error)\b",
    r"(?:.{0,20} )?(?:seite|artikel) (?:wurde )?nicht gefunden|zugriff verweigert",
    r"(?:.{0,20} )?page (?:introuvable|non trouvée)|accès refusé",
    r"página no encontrada|acceso denegado|pagina non trovata|accesso negato|página não encontrada",
    r"pagina niet gevonden|siden (?:ble |blev |finnes )?ikke (?:funnet|fundet)?|sidan (?:kunde inte|finns inte)",
    r"strona nie (?:została znaleziona|istnieje)|страница не найдена|页面不存在|頁面不存在|ページが見つかりません",
)


NEARLY_EMPTY = 20
"""Number of words; shorter texts are a button, a name or a caption."""
TEASER = 150
"""Number of words; a shorter text on a page that asks for a subscription is most likely a teaser."""
CONSENT_TEXT = 300
"""Number of words; consent walls list purposes and partners at length."""
NOTICE = 100
"""Number of words; error pages and robot checks are shorter."""

_LOCKED = re.compile(
    r'"isAccessibleForFree"\s*:\s*"?false|article:content_tier"\s+content="(?:locked|metered)', re.IGNORECASE
)
# Chinese, Japanese and Thai have no spaces between words; a word has about two characters.
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_NOT_SHOWN = ("script", "style", "template", "nav", "footer", "head", "select", "svg")
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


FaultKind = Literal[
    "consent page", "robot check", "soft 404", "needs JavaScript", "paywall", "short text", "list of stories"
]


class Fault(str):
    """Why a page is not a whole article, as a clause after "page.html: ".

    Attributes:
        kind: what the page is.
    """

    kind: FaultKind

    def __new__(cls, kind: FaultKind, clause: str) -> Fault:
        """Return the fault of this kind with this clause."""
        fault = super().__new__(cls, clause)
        fault.kind = kind
        return fault


def list_fault(stories: int, what: str = "a list") -> Fault:
    """Return the fault of a page that lists stories."""
    return Fault("list of stories", f"the page is {what} of {stories:,} stories, not an article")


def word_count(text: str) -> int:
    """Count words; in scripts without spaces, two characters count as one."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def fault_of(html: str, title: str, text: str) -> Fault | None:
    """Return why the extracted text cannot be the whole article, as a clause after "page.html: "; None if it can.

    Only visible text counts, besides two declarations for search engines (schema.org `isAccessibleForFree`,
    `article:content_tier`); menus and footers do not, since most of them offer subscriptions.

    Args:
        html: the page.
        title: as extracted.
        text: as extracted; may be empty.
    """
    words = word_count(text)
    if words >= CONSENT_TEXT:
        return None
    found = f"only {words} {'word was' if words == 1 else 'words were'} found"
    if len(set(_matches(CONSENT, text))) > 1:
        return Fault("consent page", "the page asks for consent to cookies and shows no article")
    if words >= TEASER:
        return None
    seen = _plain(_visible(html))
    if words < NOTICE:
        head = _plain(f"{title}\n{text[:400]}") if text else seen[:400]
        if ROBOT_CHECK.search(head):
            return Fault("robot check", "the site checks for robots and shows no article")
        if ERROR.match(_plain(title)) or ERROR.match(_plain(text)) or (not text and ERROR.match(head)):
            shown = " ".join((title or text).split())[:60]
            return Fault("soft 404", f"an error page ({shown!r}), not an article")
        if words < 60 and SCRIPTS.search(_plain(text) if words >= NEARLY_EMPTY else seen):
            return Fault("needs JavaScript", "the page needs JavaScript to show its article")
    if not text:
        asks = Fault("paywall", "the page asks for a subscription or a login")
        return asks if PAYWALL.search(seen) else None
    if PAYWALL.search(seen):
        return Fault(
            "paywall", f"{found}, and the page asks for a subscription or a login: the rest is missing"
        )
    if _LOCKED.search(html):
        return Fault(
            "paywall", f"{found}, and the page declares that the article is not free: the rest is missing"
        )
    if re.search(r"(?:…|\.\.\.|\[…\])\s*$", text) and METERED.search(seen):
        return Fault(
            "paywall", f"{found}, they break off, and the page offers a subscription: the rest is missing"
        )
    if words < NEARLY_EMPTY:
        return Fault("short text", f"{found} ({' '.join(text.split())[:60]!r}), too few for an article")
    return None


def _matches(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the names of the alternatives that match."""
    return [match.lastgroup or match[0].casefold() for match in pattern.finditer(_plain(text))]


def _plain(text: str) -> str:
    """Normalize spaces and apostrophes."""
    return " ".join(text.replace("’", "'").replace("\u00ad", "").split())


def _visible(html: str) -> str:
    """Return the visible text of a page without menus, headers and footers."""
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True)
    try:
        root = etree.fromstring(html.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError):
        return ""
    if root is None:
        return ""
    pieces: list[str] = []
    left_out: set[object] = set()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if element.getparent() in left_out or _is_left_out(element):
                left_out.add(element)
            elif element.text:
                pieces.append(element.text)
        else:
            parent = element.getparent()
            if element.tail and parent is not None and parent not in left_out:
                pieces.append(element.tail)
    return " ".join(pieces)


def _is_left_out(element: Any) -> bool:
    if not isinstance(element.tag, str) or element.tag in _NOT_SHOWN or element.get("hidden") is not None:
        return True
    if element.tag == "header":  # of the site, not of the article
        return not any(above.tag in ("article", "main") for above in element.iterancestors())
    return bool(_HIDDEN.search(element.get("style") or ""))
