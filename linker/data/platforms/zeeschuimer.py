"""Zeeschuimer: records of several platforms, as the browser received them, in one file."""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from linker.data.platforms.linkedin import LinkedIn
from linker.data.platforms.mastodon import Gab, Mastodon
from linker.data.platforms.meta import Facebook, Instagram, InstagramComments, Threads
from linker.data.platforms.platform import Platform, Record, UnknownShapeError
from linker.data.platforms.tiktok import Comments, Videos
from linker.data.platforms.x import GraphQL

_INSIDE: dict[str, type[Platform]] = {
    "x_graphql": GraphQL,
    "tiktok": Videos,
    "tiktok_comments": Comments,
    "threads": Threads,
    "instagram": Instagram,
    "instagram_comments": InstagramComments,
    "facebook": Facebook,
    "linkedin": LinkedIn,
    "truth_social": Mastodon,
    "gab": Gab,
}


@Platform.register("zeeschuimer")
class Zeeschuimer(Platform):
    """Zeeschuimer, NDJSON of any platform that has a table."""

    title = "Zeeschuimer"
    signs = ("source_platform + item_id + data",)
    fields: ClassVar[Any] = {"id": "item_id", "text": "data.text"}

    def __init__(self) -> None:
        super().__init__()
        self._inside = {name: table() for name, table in _INSIDE.items()}

    @override
    def row(self, record: Record) -> dict[str, Any] | str:
        inside, source = record.get("data"), record.get("source_platform")
        if not isinstance(inside, dict) or not isinstance(source, str):
            raise UnknownShapeError("no source_platform and data")
        for name, table in self._inside.items():
            if table.recognizes(inside):
                row = table.row(table.opened(inside))
                return {**row, "platform": name} if isinstance(row, dict) else row
        return f"records of {source}"
