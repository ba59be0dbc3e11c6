"""TikTok: videos and comments, as Zeeschuimer saves them and of the Research API."""

from linker.data.platforms.platform import Platform, table


@Platform.register("tiktok")
class Videos(Platform):
    """TikTok, descriptions of videos (Zeeschuimer, 4CAT)."""

    title = "TikTok"
    signs = ("id + desc + createTime",)
    envelope = "data"
    fields = table(
        id="id",
        text="desc",
        created_at="createTime",
        lang="textLanguage",
        author="author.id|author.uniqueId|authorId|author",
        author_name="author.uniqueId|author",
    )
    above = "imagePost.title"
    below = "stickersOnItem[].stickerText[]"
    context = (
        "stats.diggCount|statsV2.diggCount stats.shareCount|statsV2.shareCount "
        "stats.commentCount|statsV2.commentCount stats.playCount|statsV2.playCount "
        "stats.collectCount|statsV2.collectCount locationCreated"
    )


@Platform.register("tiktok_comments")
class Comments(Platform):
    """TikTok, comments (Zeeschuimer, 4CAT)."""

    title = "TikTok comments"
    signs = ("cid + text + aweme_id",)
    envelope = "data"
    fields = table(
        id="cid",
        text="text",
        created_at="create_time",
        lang="comment_language",
        author="user.uid|user.unique_id",
        author_name="user.unique_id",
        reply_to="reply_id",
        thread="aweme_id",
    )
    context = "digg_count reply_comment_total"


@Platform.register("tiktok_research")
class Research(Platform):
    """TikTok, videos of the Research API."""

    title = "TikTok (Research API)"
    signs = ("id + video_description + create_time",)
    fields = table(
        id="id",
        text="video_description|voice_to_text",
        created_at="create_time",
        author="username",
        author_name="username",
    )
    context = "like_count comment_count share_count view_count region_code voice_to_text"


@Platform.register("tiktok_research_comments")
class ResearchComments(Platform):
    """TikTok, comments of the Research API."""

    title = "TikTok comments (Research API)"
    signs = ("id + video_id + text + parent_comment_id + create_time",)
    fields = table(
        id="id", text="text", created_at="create_time", reply_to="parent_comment_id", thread="video_id"
    )
    context = "like_count reply_count"
