"""Names of the columns of posts in tables that no platform wrote, in order of preference."""

import re

_JOINT = re.compile(r"[\W_]+")


def normal(name: str) -> str:
    """Normalize a column's name: without case, spaces and punctuation (`Tweet Text`, `tweet_text` → `tweettext`)."""
    return _JOINT.sub("", name).casefold()


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text."""
    return tuple(text.split())


#: Normalized names by our column, in order of preference: hand-made tables in several languages, and tables made of the
#: exports of platforms, which `linker.data.platforms` reads themselves.
KNOWN_NAMES: dict[str, tuple[str, ...]] = {
    "text": words(
        "text fulltext tweettext posttext messagetext commenttext rawcontent textoriginal tweet body message content "
        "comment selftext caption tweetcontent postcontent commentbody posttextcontent textdisplay "
        "post status desc videodescription description "
        "texto texte testo tekst nachricht beitrag inhalt kommentar mensaje contenido comentario publicación "
        "publicacion contenu commentaire publication messaggio contenuto commento mensagem conteúdo conteudo "
        "comentário bericht inhoud wiadomość treść komentarz текст сообщение комментарий 正文 内容 文本 本文 テキスト "
        "النص metin yorum abstract title"
    ),
    "id": words(
        "idstr id postid tweetid statusid messageid msgid commentid itemid videoid contentid restid rkey uri guid "
        "uuid cid shortcode pk"
    ),
    "created_at": words(
        "createdat created createdon createdutc createtime createdtime creationtime creationdate dateunixtime "
        "unixtimestamp datetime date timestamp time tweetcreatedat postcreated postcreatedat postcreateddate "
        "postdate posttime postcreationtime postcreationdate posttimestamp postedat postedon posted "
        "posteddate postedtime dateposted datecreated tweetdate tweettime tweettimestamp commentdate "
        "commenttime publishedat publishedon published publisheddate publishedtime pubdate publishdate "
        "publicationdate publicationtime publishtime takenat takenattimestamp takentimestamp timestampms "
        "timestamputc timems timeus datum zeit uhrzeit erstellt fecha hora fechahora heure data dataora dato "
        "tid tarih дата время 日期 时间 日時"
    ),
    "lang": words(
        "lang language languageguess tweetlang postlang tweetlanguage postlanguage commentlanguage langs languages "
        "sprache idioma langue lingua taal język язык 语言 言語"
    ),
}

#: Titles that are read together with a text in another column than `text`, as on Reddit.
TITLES = frozenset(words("title subject posttitle titel titre titulo título titolo tytuł заголовок 标题"))
