"""Exports of every format, as programs write them, and the posts in them: the files in the folder `exports`.

`exports/FORMAT/NUMBER-NAME` is a file, by the documented schema of its platform; `NUMBER-NAME.expected.json` has the
line on standard error (`report`), id, text and the columns that are worth a look of each post, in order, with authors
in the clear (`posts`), and the compression in which programs write the file (`packing`).
"""

import bz2
import gzip
import json
import lzma
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

URL = "https://news.example/dam"
DID = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"
_PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


class Export(NamedTuple):
    """A file of a format.

    Attributes:
        format: name of the format.
        name: name of the file.
        content: its text.
        report: the part of the line on standard error about its records.
        posts: its posts.
        packing: its compression; empty: none.
        is_paged: whether its lines are pages of posts, which are read only where the format is not named.
        title: titles of the formats of its records; empty: that of its format.
    """

    format: str
    name: str
    content: str
    report: str
    posts: list[dict[str, Any]]
    packing: str = ""
    is_paged: bool = False
    title: str = ""

    def write(self, folder: Path) -> Path:
        """Write the file into a folder and return its path."""
        data, path = self.content.encode(), folder / f"{self.name}.{self.packing}".removesuffix(".")
        path.write_bytes(_PACKED[self.packing](data) if self.packing else data)
        return path


def _exports_in(folder: Path) -> list[Export]:
    expected = sorted(folder.glob("*.expected.json"), key=lambda path: int(path.name.partition("-")[0]))
    exports = []
    for path in expected:
        file = path.with_name(path.name.removesuffix(".expected.json"))
        name = file.name.partition("-")[2]
        known = json.loads(path.read_text(encoding="utf-8"))
        exports.append(Export(folder.name, name, file.read_bytes().decode(), **known))
    return exports


#: Exports by format.
EXPORTS = {
    folder.name: _exports_in(folder) for folder in sorted(Path(__file__).with_name("exports").iterdir())
}
