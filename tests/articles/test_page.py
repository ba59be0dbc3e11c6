"""Encodings of pages, as browsers read them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.articles.page import decode

TEXT = "Fähre – Streik, sagte Zoë über die Küste"


def page(text: str, charset: str = "", codec: str = "utf-8") -> bytes:
    """A page with a text and the charset that it declares."""
    return f"<html><head>{charset and f'<meta charset={charset}>'}</head><p>{text}</p>".encode(codec)


@pytest.mark.parametrize("charset", ["utf-8", "UTF8", "", "iso-8859-1", "utf-16"])
def test_a_broken_byte_costs_one_character(charset: str) -> None:
    body = page(TEXT, charset) + b"<!-- \xff -->"
    assert decode(body).count("\ufffd") == 1
    assert TEXT in decode(body)
    cut = page(TEXT, charset).replace("ß".encode(), b"\xc3").replace("ü".encode(), b"\xc3", 1)
    assert decode(cut).count("\ufffd") == 1


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("iso-8859-1", "cp1252", "“né” – 5 €"),
        ("latin1", "cp1252", "“né” – 5 €"),
        ("us-ascii", "cp1252", "“né” – 5 €"),
        ("windows-1250", "cp1250", "żółć"),
        ("iso-8859-9", "cp1254", "“ğış”"),
        ("x-cp1251", "cp1251", "Правда"),
        ("gb2312", "gb18030", "朱镕基 € 鎔"),
        ("x-gbk", "gb18030", "朱镕基"),
        ("x-sjis", "cp932", "①㈱～髙"),
        ("shift_jis", "cp932", "①㈱～髙"),
        ("x-euc-jp", "euc_jis_2004", "①新聞"),
        ("ks_c_5601-1987", "cp949", "똠방각하"),
        ("big5", "big5hkscs", "新聞啲"),
        ("tis-620", "cp874", "ข่าว…"),
        ("iso-2022-jp", "iso2022_jp", "新聞"),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, codec: str, text: str) -> None:
    assert text in decode(page(text, label, codec))
    assert text in decode(page(text, "", codec), label)
    http = f"<meta http-equiv='Content-Type' content='text/html; charset={label}'>"
    assert text in decode(f"{http}<p>{text}".encode(codec))


@pytest.mark.parametrize("label", ["base64", "idna", "punycode", "undefined", "x-user-defined", "no-such"])
def test_labels_that_decode_no_page_are_ignored(label: str) -> None:
    assert "né – “x”" in decode(page("né – “x”", label, "cp1252"), label)


def test_a_mark_comes_before_a_header_and_a_header_before_a_tag() -> None:
    assert TEXT in decode(b"\xef\xbb\xbf" + page(TEXT, "windows-1251"), "koi8-r")
    assert "Правда" in decode(page("Правда", "koi8-r", "cp1251"), "windows-1251")


def test_only_tags_declare_an_encoding() -> None:
    decoy = "<!-- <meta charset=koi8-r> --><meta name=a content='charset=koi8-r'><meta charset=windows-1251>"
    assert "Правда" in decode(f"{decoy}<p>Правда".encode("cp1251"))


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1252", "Die Fähre fährt übermorgen nicht mehr, sagte der Bürgermeister"),
        ("cp1251", "Паром больше не ходит на остров, сказал мэр во вторник"),
        ("cp1250", "Załoga promów głosowała we wtorek za strajkiem, powiedział burmistrz"),
        ("cp932", "フェリーの乗組員は火曜日にストライキを決議したと市長が述べた"),
        ("gb18030", "渡轮船员星期二投票决定罢工，市长说，岛上的居民将没有船"),
    ],
)
def test_an_undeclared_encoding_is_recognized(codec: str, text: str) -> None:
    assert text in decode(page(f"{text}. " * 3, "", codec))
    assert text in decode(page(f"{text}. " * 3, "utf-8", codec))


@given(st.text(st.characters(min_codepoint=0xC0, max_codepoint=0x17F), min_size=2), st.data())
@settings(max_examples=40)
def test_one_byte_lost_anywhere_costs_one_character(text: str, data: st.DataObject) -> None:
    body = f"<p>{TEXT} {text} ".encode()
    start = len(f"<p>{TEXT} ".encode())
    at = data.draw(st.integers(start, len(body) - 2))
    assert decode(body[:at] + body[at + 1 :]).count("\ufffd") <= 1
