"""YouTube: comments of the Data API, the YouTube Data Tools (YTDT), minet and yt-dlp."""

from typing_extensions import override

from linker.data.platforms.platform import Platform, Record, html_links, html_text, table


@Platform.register("youtube")
class Api(Platform):
    """YouTube, comments and threads of comments of the Data API 3."""

    title = "YouTube comments"
    signs = ("snippet.topLevelComment", "snippet.textDisplay + snippet.publishedAt", "snippet.textOriginal")
    posts = ("snippet.topLevelComment", "replies.comments[]")
    fields = table(
        id="id",
        text=("snippet.textOriginal", html_text("snippet.textDisplay")),
        created_at="snippet.publishedAt",
        author="snippet.authorChannelId.value|snippet.authorDisplayName",
        author_name="snippet.authorDisplayName",
        reply_to="snippet.parentId",
        thread="snippet.videoId",
        url="https://www.youtube.com/watch?v={snippet.videoId}&lc={id}",
    )
    context = "snippet.likeCount"
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
    is_table = True
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
    is_table = True


@Platform.register("youtube_ytdlp")
class YtDlp(Platform):
    """YouTube and other sites, comments in the info.json of yt-dlp."""

    title = "YouTube comments (yt-dlp)"
    signs = ("comments + webpage_url + extractor", "id + parent + text + author_is_uploader")
    posts = ("comments[]",)
    fields = table(
        id="id",
        text="text",
        created_at="timestamp",
        author="author_id|author",
        author_name="author",
        reply_to="parent",
        thread="video",
        url="https://www.youtube.com/watch?v={video}&lc={id}",
    )
    context = "like_count is_pinned is_favorited"
    left_out = (lambda record: "videos without comments" if "extractor" in record else None,)

    @override
    def posts_of(self, record: Record) -> list[Record]:
        video = record.get("id") if "extractor" in record else None
        return [{**post, "video": video} if post is not record else post for post in super().posts_of(record)]
