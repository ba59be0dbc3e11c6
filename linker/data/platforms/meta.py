"""Threads, Instagram and Facebook: captures of Zeeschuimer, exports of CrowdTangle.

Sources: datasources/threads, instagram and facebook and datasources/custom/import_formats.py of 4CAT.
"""

from collections.abc import Callable

from linker.data.links.wrappers import unwrapped
from linker.data.platforms.paths import getter
from linker.data.platforms.platform import Platform, Record, table


def _unwrapped(path: str) -> Callable[[Record], str | None]:
    """An address, without the page of Meta that counts clicks on it."""
    value_of = getter(path)
    return lambda record: unwrapped(value) if isinstance(value := value_of(record), str) else None


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
        quoted_text="text_post_app_info.share_info.quoted_post.caption.text",
    )
    context = (
        "like_count text_post_app_info.direct_reply_count text_post_app_info.repost_count "
        "text_post_app_info.quote_count"
    )
    left_out = (("text_post_app_info.share_info.reposted_post", "reposts"),)


@Platform.register("instagram")
class Instagram(Platform):
    """Instagram, posts (Zeeschuimer, 4CAT, instaloader)."""

    title = "Instagram"
    signs = ("code + caption + user + !text_post_app_info", "shortcode + edge_media_to_caption")
    envelope = "data|node"  # instaloader's is node
    fields = table(
        id="pk|id|code|shortcode",
        text="caption.text|edge_media_to_caption.edges[0].node.text",
        created_at="taken_at|taken_at_timestamp",
        author="user.pk|user.id|user.username|owner.id|owner.username",
        author_name="user.username|owner.username",
        url="https://www.instagram.com/p/{code}/|https://www.instagram.com/p/{shortcode}/",
    )
    context = (
        "like_count|edge_media_preview_like.count|edge_liked_by.count "
        "comment_count|edge_media_to_comment.count play_count|view_count|video_view_count product_type"
    )


_STORY = "comet_sections.content.story"
_METADATA = "comet_sections.context_layout.story.comet_sections.metadata[]"
_ATTACHED = f"{_STORY}.attachments[].styles.attachment.story_attachment_link_renderer.attachment"


@Platform.register("facebook")
class Facebook(Platform):
    """Facebook, posts (Zeeschuimer, 4CAT)."""

    title = "Facebook"
    signs = (f"{_STORY}.post_id",)
    envelope = "data"
    fields = table(
        id=f"{_STORY}.post_id",
        text=f"{_STORY}.message.text|{_STORY}.comet_sections.message.story.message.text",
        created_at=f"{_METADATA}.story.creation_time",
        author=f"{_STORY}.actors[0].id|{_STORY}.actors[0].url",
        author_name=f"{_STORY}.actors[0].name",
        url=f"{_STORY}.wwwURL",
        card_url=_unwrapped(f"{_ATTACHED}.web_link.url"),
        card_title=f"{_ATTACHED}.title_with_entities.text",
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
    is_table = True
    links = ("Link",)
