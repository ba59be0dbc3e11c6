from pathlib import Path

import pytest

from linker.common.errors import DataError
from linker.data.io.records import read_posts

QUOTED = [("1", 'He said "x" today'), ("2", "two\nlines")]


@pytest.mark.parametrize(
    ("name", "content", "posts"),
    [
        # Excel's line for the delimiter, as LibreOffice writes it.
        ("p.csv", '"sep=;"\nid;text\n1;a, b\n', [("1", "a, b")]),
        # Lines above the header, padded by Excel.
        ("p.csv", "Ferry,,\nDate:,2024-01-01,\n,,\nid,text,created_at\na,x,2024-01-19\n", [("a", "x")]),
        # pandas, R's write_tsv and Excel quote cells between tabs; others do not.
        ("p.tsv", 'id\ttext\n1\t"He said ""x"" today"\n2\t"two\nlines"\n', QUOTED),
        ("p.tsv", 'id\ttext\n1\t"hi" he said\n2\t"open\n', [("1", '"hi" he said'), ("2", '"open')]),
        # R's write.table: no name above the row names, and `\"` in quotes.
        (
            "p.tsv",
            '"id"\t"text"\n"1"\t"a"\t"He said \\"x\\""\n"2"\t"b"\t"y"\n',
            [("a", 'He said "x"'), ("b", "y")],
        ),
        ("p.csv", ",id,text\n0,a,x\n1,b,y\n", [("a", "x"), ("b", "y")]),
        # Delimiters at the end of lines, empty lines, a repeated byte order mark.
        ("p.csv", "id;text;\n1;x;\n\n2;y;\n", [("1", "x"), ("2", "y")]),
        ("p.csv", "id,text\n1,x,,\n2,y,,\n", [("1", "x"), ("2", "y")]),
        ("p.csv", "\ufeff\ufeffid,text\n1,x\n\ufeff2,y\n", [("1", "x"), ("2", "y")]),
    ],
)
def test_posts_of_delimited_files(
    tmp_path: Path, name: str, content: str, posts: list[tuple[str, str]]
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert [(post.id, post.text) for post in read_posts(str(path))] == posts


def test_lines_above_the_header_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.csv"
    path.write_text("Report:,Ferry\nFrom:,2024-01-01\n\nid,text,created_at\na,x,2024-01-19\n")
    read_posts(str(path))
    said = capsys.readouterr().err
    assert "p.csv: header in line 4" in said
    assert "p.csv: 1 post of 4 rows; 2 lines above the header, 1 blank line left out" in said


def test_a_quote_that_is_never_closed_costs_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.csv"
    path.write_text('id,text\n1,x\n2,"open\n3,"y"\n4,z\n')
    with pytest.raises(DataError, match=r"1 bad line.*\n.*line 3: broken CSV: .*in a record up to line 4"):
        read_posts(str(path))
    assert [post.id for post in read_posts(str(path), on_error="skip")] == ["1", "3", "4"]
