"""Threads, Instagram and Facebook: captures of Zeeschuimer, exports of CrowdTangle.

Source: datasources/threads, instagram and facebook of 4CAT.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from linker.data.platforms.paths import getter
from linker.data.platforms.platform import Platform, Record, table, without


def _unwrapped(path: str) -> Callable[[Record], str | None]:
    """An address, without the page of Meta that counts clicks on it."""
    value_of = getter(path)

    def address(record: Record) -> str | None:
        found = value_of(record)
        if not isinstance(found, str):
            return None
        try:
            return parse_qs(urlsplit(found).query).get("u", [found])[0]
        except ValueError:  # not an address
            return found

    return address


@Platform.register("threads")
class Threads(Platform):
    """Threads, posts (Zeeschuimer, 4CAT)."""

    title = "Threads"
    signs = ("code + caption + text_post_app_info",)
    envelope = "data"
    fields = table(
        id="pk|id|code",
        text="caption.text",
        created_at="taken_at",
        author="user.pk|user.id|user.username",
        author_name="user.username",
        quote_of="text_post_app_info.share_info.quoted_post.pk",
        url="https://www.threads.com/t/{code}",
        card_url=_unwrapped("text_post_app_info.link_preview_attachment.url"),
        card_title="text_post_app_info.link_preview_attachment.title",
    )
    left_out = (without("text_post_app_info.share_info.reposted_post", "reposts"),)


@Platform.register("instagram")
class Instagram(Platform):
    """Instagram, posts (Zeeschuimer, 4CAT)."""

    title = "Instagram"
    signs = ("code + caption + user + !text_post_app_info", "shortcode + edge_media_to_caption")
    envelope = "data"
    fields = table(
        id="pk|id|code|shortcode",
        text="caption.text|edge_media_to_caption.edges[0].node.text",
        created_at="taken_at|taken_at_timestamp",
        author="user.pk|user.id|user.username|owner.id|owner.username",
        author_name="user.username|owner.username",
        url="https://www.instagram.com/p/{code}/|https://www.instagram.com/p/{shortcode}/",
    )


@Platform.register("crowdtangle")
class CrowdTangle(Platform):
    """Facebook and Instagram, exports of CrowdTangle, CSV."""

    title = "CrowdTangle"
    signs = ("Message + Post Created + URL", "Description + Post Created + URL")
    fields = table(
        id="URL",
        # On Facebook, Description is that of the link, on Instagram the post's caption.
        text="Message|Description|Link Text|Title|Image Text",
        created_at="Post Created",
        author="Facebook Id|User Name|Page Name|Account",
        author_name="Page Name|User Name|Account",
        url="URL",
        card_url="Final Link|Link",
        card_title="Link Text",
        card_description=lambda record: record.get("Description") if "Link Text" in record else None,
    )
    links = ("Link",)
