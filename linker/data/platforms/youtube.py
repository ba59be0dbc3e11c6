"""YouTube: comments of the Data API, of the YouTube Data Tools (YTDT) and of minet."""

from __future__ import annotations

from linker.data.platforms.platform import Platform, first, html_links, html_text, table


@Platform.register("youtube")
class Api(Platform):
    """YouTube, comments and threads of comments of the Data API 3."""

    title = "YouTube comments"
    signs = ("snippet.topLevelComment", "snippet.textDisplay + snippet.publishedAt", "snippet.textOriginal")
    posts = ("snippet.topLevelComment", "replies.comments[]")
    fields = table(
        id="id",
        text=first("snippet.textOriginal", html_text("snippet.textDisplay")),
        created_at="snippet.publishedAt",
        author="snippet.authorChannelId.value|snippet.authorDisplayName",
        author_name="snippet.authorDisplayName",
        reply_to="snippet.parentId",
        thread="snippet.videoId",
        url="https://www.youtube.com/watch?v={snippet.videoId}&lc={id}",
    )
    links = (html_links("snippet.textDisplay"),)


@Platform.register("youtube_ytdt")
class DataTools(Platform):
    """YouTube, comments of the YouTube Data Tools, CSV."""

    title = "YouTube Data Tools"
    signs = ("id + isReplyTo + authorName + text + publishedAt",)
    fields = table(
        id="id",
        text=html_text("text"),
        created_at="publishedAt",
        author="authorChannelId|authorName",
        author_name="authorName",
        reply_to="isReplyTo",
    )
    links = (html_links("text"),)


@Platform.register("youtube_minet")
class Minet(Platform):
    """YouTube, comments of minet, CSV."""

    title = "YouTube comments (minet)"
    signs = ("comment_id + video_id + text + parent_comment_id",)
    fields = table(
        id="comment_id",
        text="text",
        created_at="published_at",
        author="author_channel_id|author_name",
        author_name="author_name",
        reply_to="parent_comment_id",
        thread="video_id",
        url="https://www.youtube.com/watch?v={video_id}&lc={comment_id}",
    )
