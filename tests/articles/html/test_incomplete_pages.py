"""Pages that show something else in place of an article are refused; short articles are not."""

import pytest

from linker.articles.extraction import extract_article
from linker.articles.html.incomplete_pages import fault_of
from linker.articles.page import Page
from linker.common.errors import FetchError, StubError
from linker.data.characters import word_count

TITLE = "Otters return to the Brell"
START = (
    "Two otters were filmed on Tuesday below the weir at Marrow, the first seen on the river Brell since the paper "
    "mill opened there four decades ago, the county's river keepers said. The animals, a mother and a nearly grown "
    "cub, were caught by a camera that the keepers had put up to count salmon. Their warden watched it six times."
)
HEADER = (
    "<header><a href='/'>Marrow Gazette</a> <a href='/login'>Already a subscriber? Log in</a> "
    "<a href='/offer'>Subscribe now to keep reading</a></header><nav>Home Sport Subscribers only</nav>"
)
FOOTER = (
    "<footer>Subscribe to read more. We use cookies. Accept all. Page not found? Enable JavaScript.</footer>"
)
LONG = " ".join(
    f"Sentence number {n} tells of the river, its keepers and the old mill by the weir." for n in range(20)
)


URL = "http://news.test/a"


def page(*paragraphs: str, head: str = "", extra: str = "", title: str = TITLE) -> str:
    body = "".join(f"<p>{one}</p>" for one in paragraphs)
    return (
        f"<!DOCTYPE html><html><head><meta charset='utf-8'><title>{title}</title>{head}</head><body>{HEADER}"
        f"<main><article><h1>{title}</h1>{body}</article>{extra}</main>{FOOTER}</body></html>"
    )


def read(html: str, force: bool = False) -> str:
    return extract_article(Page("a", URL, html.encode(), URL, "text/html"), force).text


def refusal(html: str) -> str:
    with pytest.raises(StubError) as caught:
        read(html)
    message = str(caught.value)
    assert message.startswith("http://news.test/a: ")
    assert "save it as HTML" in message
    assert ".txt file" in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (TITLE, START),
        (
            "A case of cookies",
            "The court in Marrow ruled that a publisher may not use cookies unless readers gave their consent. The "
            "county's privacy office had sued the publisher of two weeklies after forty readers had complained of it.",
        ),
        (
            "Robot passes otters, website down with error 404",
            f"{START} A robot drove by. Visitors of the county's website found an error 404 where the film was before.",
        ),
    ],
)
def test_a_short_article_without_a_wall_is_read(title: str, text: str) -> None:
    # The site offers subscriptions above and below it, as all do.
    assert text in read(page(text, title=title))


@pytest.mark.parametrize(
    "wall",
    [
        "Subscribe to continue reading.", "Already a subscriber? Log in",
        "This article is for subscribers only.", "Sign in to read the whole story.",
        "You’ve reached your limit of free articles.", "Jetzt weiterlesen mit G+",
        "Sie haben bereits ein Abo? Hier anmelden", "Dieser Artikel ist exklusiv für Abonnenten.",
        "Cet article est réservé aux abonnés.", "Il vous reste 80 % de cet article à lire.",
        "Suscríbete para seguir leyendo", "Contenido exclusivo para suscriptores",
        "Contenuto riservato agli abbonati", "Conteúdo exclusivo para assinantes",
        "Dit artikel is alleen voor abonnees", "Artikeln är endast för prenumeranter",
        "Artiklen er kun for abonnenter", "Artykuł tylko dla prenumeratorów",
        "Статья доступна только для подписчиков", "この記事は有料会員限定です。", "订阅后继续阅读",
    ],
)  # fmt: skip
def test_teasers_before_a_paywall_are_refused(wall: str) -> None:
    html = page(START, extra=f"<div class='offer'><p>{wall}</p></div>")
    message = refusal(html)
    assert "subscription" in message
    assert "words were found" in message
    assert "salmon" in read(html, force=True)


def test_a_paywall_under_a_whole_article_does_no_harm() -> None:
    assert word_count(LONG) > 250
    assert "number 19" in read(page(LONG, extra="<p>Already a subscriber? Sign in to continue reading.</p>"))


@pytest.mark.parametrize(
    "hidden",
    [
        "<div hidden><p>Subscribe to continue reading.</p></div>",
        "<div style='display: none'><p>Subscribe to continue reading.</p></div>",
        "<template><p>Subscribe to continue reading.</p></template>",
        "<script>const wall = 'Subscribe to continue reading.'</script>",
    ],
)
def test_walls_that_nobody_sees_do_not_count(hidden: str) -> None:
    assert "salmon" in read(page(START, extra=hidden))


@pytest.mark.parametrize("value", ["false", '"False"'])
def test_articles_declared_as_not_free(value: str) -> None:
    head = f'<script type="application/ld+json">{{"@type": "NewsArticle", "isAccessibleForFree": {value}}}</script>'
    assert "not free" in refusal(page(START, head=head))
    assert "number 19" in read(page(LONG, head=head))
    assert "salmon" in read(page(START, head=head.replace(value, "true")))


def test_a_text_that_breaks_off_beside_an_offer() -> None:
    offer = "<p>All of the Gazette for 4 crowns a month. Subscribe</p>"
    assert "break off" in refusal(page(START + " Since then …", extra=offer))
    assert "salmon" in read(page(START, extra=offer))
    assert "salmon" in read(page(START + " Since then …"))


@pytest.mark.parametrize(
    "wall",
    [
        "We and our 812 partners store and/or access information on a device. You can accept all.",
        "Wir und unsere 200 Partner nutzen Cookies für personalisierte Anzeigen. Alle akzeptieren",
        "Avec nos partenaires, nous utilisons des cookies. Continuer sans accepter. Tout accepter.",
        "Nosotros y nuestros socios utilizamos cookies. Aceptar y continuar. Rechazar todo.",
        "Noi e i nostri partner utilizziamo i cookie con il tuo consenso. Accetta e continua",
        "Wij en onze partners vragen uw toestemming. Alles accepteren of alles weigeren.",
    ],
)
def test_consent_walls_are_no_articles(wall: str) -> None:
    assert "consent to cookies" in refusal(page(wall, "They are kept for thirteen months. " * 5))


@pytest.mark.parametrize(
    "notice",
    [
        "Please enable JavaScript to view this page.",
        "You need to enable JavaScript to run this app.",
        "JavaScript is disabled in your browser.",
        "Bitte aktivieren Sie JavaScript, um die Seite zu sehen.",
        "Veuillez activer JavaScript pour continuer.",
        "Debes activar JavaScript en tu navegador.",
        "Schakel JavaScript in om verder te gaan.",
        "Пожалуйста, включите JavaScript.",
    ],
)
def test_pages_that_need_javascript(notice: str) -> None:
    html = f"<html><head><title>News</title></head><body><noscript>{notice}</noscript><div id='r'></div></body></html>"
    with pytest.raises(FetchError, match="needs JavaScript"):
        read(html)
    assert "needs JavaScript" in refusal(page(notice, title="News"))


@pytest.mark.parametrize(
    ("title", "start"),
    [
        ("404 - Marrow Gazette", ""),
        ("Page not found", ""),
        ("Oops", "Page not found. "),
        ("Access Denied", ""),
        ("Seite nicht gefunden", ""),
        ("Page introuvable", ""),
        ("Página no encontrada", ""),
    ],
)
def test_error_pages_that_come_with_status_200(title: str, start: str) -> None:
    text = (
        f"{start}We are sorry, we have moved things around and this is not where it was before. Try a search."
    )
    assert "error page" in refusal(page(text, title=title))


@pytest.mark.parametrize(
    "text",
    [
        "Just a moment... We are checking your browser before you go on to the Gazette. This takes five seconds.",
        "Please verify you are human by completing the action below. The Gazette needs to review this first.",
        "Our systems have detected unusual traffic from your network. Please come back later today.",
    ],
)
def test_checks_for_robots(text: str) -> None:
    assert "checks for robots" in refusal(page(text, title="Gazette"))


def test_words_of_languages_without_spaces_are_counted_by_characters() -> None:
    assert word_count("two words") == 2
    assert word_count("") == 0
    assert word_count("川獺が四十年ぶりに川へ戻った") == 7  # 14 characters
    assert word_count("水獭 returned to 布雷尔河") == 5  # (2 + 4) / 2 and two
    chinese = "周二,河流管理员的摄像机拍到了两只水獭,这是四十年前造纸厂开工以来首次在这条河上见到水獭。" * 2
    assert fault_of(page(chinese), TITLE, chinese) is None


@pytest.mark.parametrize(
    "text", ["our " * 60 + "1" * 2000, "javascript " * 50, "you have read all" + " a" * 100, "- " * 99]
)
def test_expressions_take_no_time_on_repetitive_text(text: str) -> None:
    assert fault_of(page(text), text, text) is None  # an expression that backtracks would not return
