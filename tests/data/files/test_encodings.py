from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linker.common.errors import DataError
from linker.data.files.encodings import codec_of
from linker.data.files.line_errors import BadLines
from linker.data.files.tables import open_table
from linker.data.io.column_detection import sniffed_names
from linker.data.io.columns import PostColumns
from linker.data.io.records import read_posts

TEXTS = [
    ("Die Fähre fährt heute nicht, sagt der Bürgermeister von Köln", "cp1252 mac_roman"),
    ("Wir müssen „so nicht“ – größte Störung seit Jahren", "cp1252 mac_roman"),
    ("L’équipage réclame des congés où ça, c'est très gênant", "cp1252 mac_roman"),
    ("La huelga comenzó mañana. ¿Cuándo volverá el niño?", "cp1252 mac_roman"),
    ("A greve das balsas não começou; voltarão à estação", "cp1252"),
    ("Færjestrejken på søen", "cp1252"),
    ("Das ist schön und größer. Très bien été", "cp1252"),
    ("Ég held að ferjan sé ekki þar, góðan dag", "cp1252"),
    ("Załoga żąda wyższych płac i więcej urlopów", "cp1250"),
    ("Příští týden pojedou lodě znovu, říká starosta", "cp1250"),
    ("Több fizetést követelnek az őrök, a kompsztrájk kedden kezdődött", "cp1250"),
    ("Mürettebat daha çok izin istiyor, değil mi? Işıklar söndü", "cp1254"),
    ("Prāmju streiks sākās otrdien, šķiet", "cp1257"),
    ("Экипаж требует больше отпусков, Забастовка началась", "cp1251"),
    ("Η απεργία των πλοίων άρχισε την Τρίτη", "cp1253"),
    ("שביתת המעבורות החלה ביום שלישי בנמל", "cp1255"),
    ("بدأ إضراب العبارات يوم الثلاثاء في الميناء", "cp1256"),
    ("การนัดหยุดงานของเรือเฟอร์รี่เริ่มวันอังคาร", "cp874"),
    ("渡轮罢工于周二在港口开始，船员要求更多假期", "gb18030"),
    ("渡輪罷工於週二在港口開始，船員要求更多假期", "big5"),
    ("フェリーのストライキが火曜日に始まった", "cp932"),
    ("페리 파업이 화요일에 시작되었다", "cp949"),
]
CASES = [(text, codec) for text, codecs in TEXTS for codec in codecs.split()]


@pytest.mark.parametrize(("text", "codec"), CASES)
def test_posts_are_read_in_their_encoding(
    tmp_path: Path, text: str, codec: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(f'id,text\n1,"{text}"\n2,plain words\n'.encode(codec))
    assert [post.text for post in read_posts(str(path))] == [text, "plain words"]
    assert "read as " in capsys.readouterr().err


def test_german_excel_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    # The first umlaut is far down.
    path.write_bytes(b"id;text\r\n" + b"".join(b"%d;words\r\n" % n for n in range(90_000)) + b"x;f\xfcr\r\n")
    assert read_posts(str(path))[-1].text == "für"
    assert "p.csv: read as windows-1252\n" in capsys.readouterr().err


def test_few_broken_bytes_stay_utf_8_and_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes("id,text\n1,für\n2,schön\n3,gr".encode() + b"\xfc" + "ße, 😀\n4,\0dam\n".encode())
    with pytest.raises(DataError, match="line 4: wrong number of fields"):
        read_posts(str(path))
    path.write_bytes(path.read_bytes().replace(b", ", b" "))
    assert [post.text for post in read_posts(str(path))] == ["für", "schön", "gr\ufffdße 😀", "dam"]
    said = capsys.readouterr().err
    assert "p.csv: 1 bytes that are not UTF-8 read as \ufffd" in said
    assert "p.csv: 1 NUL characters dropped" in said


def test_encoding_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_bytes(b"id,text\n1,\xe4\xf6\xfc\n")
    with BadLines() as bad_lines, open_table(bad_lines.file(str(path)), {"id"}, "windows-1251") as table:
        assert [row.values["text"] for row in table.rows] == ["дць"]
    assert codec_of("latin1") == codec_of("ascii") == "cp1252"  # as browsers read them
    with pytest.raises(DataError, match="--encoding klingon: unknown; use a name such as windows-1252"):
        codec_of("klingon")


ROWS = [
    ("id", "text", "note"),
    ("1", 'He said "ferry", today', "1,5"),
    ("2", "two; of | them", ""),
    ("3", "größte Fähre für Köln", "x"),
]


def table(delimiter: str, quoting: str, end: str) -> str:
    def cell(value: str) -> str:
        if quoting == "all" or any(sign in value for sign in (delimiter, '"', "\n")):
            return '"' + value.replace('"', '""') + '"'
        return value

    return "".join(delimiter.join(map(cell, row)) + end for row in ROWS)


@settings(max_examples=60)
@given(
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "mac_roman"]),
    st.sampled_from(["\n", "\r\n", "\r\r\n"]),
    st.sampled_from(["all", "needed"]),
    st.sampled_from(["", "sep=D\n", "Report:D Ferry strike\nFromD2024\n\n", "Ferry strike\n"]),
    st.sampled_from(["p.csv", "p.tsv", "p"]),
)
def test_same_posts_from_every_form_of_a_table(
    tmp_path: Path, delimiter: str, encoding: str, end: str, quoting: str, above: str, name: str
) -> None:
    text = above.replace("D", delimiter).replace("\n", end) + table(delimiter, quoting, end)
    path = tmp_path / name
    path.write_bytes(text.encode(encoding))
    with (
        BadLines() as bad_lines,
        open_table(bad_lines.file(str(path)), sniffed_names(PostColumns())) as opened,
    ):
        rows = [tuple(row.values.values()) for row in opened.rows]
    assert [tuple(opened.columns or ()), *rows] == ROWS
