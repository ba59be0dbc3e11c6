"""Telegram: exports of Telegram Desktop, messages of Telethon (as 4CAT and its users save them), and of minet.

Sources: export_output_json.cpp of telegramdesktop/tdesktop; datasources/telegram of 4CAT; the columns of minet.
"""

from typing import Any

from linker.data.platforms.paths import lister
from linker.data.platforms.platform import Platform, Record, table

_ENTITIES = lister("text_entities[].text")


def _text(record: Record) -> Any:
    """The text, which is a string, or a list of strings and objects; in newer exports also a list of entities."""
    pieces = _ENTITIES(record) or record.get("text")
    if not isinstance(pieces, list):
        return pieces
    texts = [piece.get("text") if isinstance(piece, dict) else piece for piece in pieces]
    return "".join(text for text in texts if isinstance(text, str))


@Platform.register("telegram_desktop")
class Desktop(Platform):
    """Telegram Desktop, result.json: one chat or all."""

    title = "Telegram Desktop"
    signs = (
        "type=message + text + date",
        "type=service + date + actor",
        "type + date_unixtime + text_entities",
    )
    fields = table(
        # A number is unique in its chat only.
        id="{^.id}/{id}|id",
        text=_text,
        created_at="date_unixtime|date",
        author="from_id|from",
        author_name="from",
        reply_to="{^.id}/{reply_to_message_id}|reply_to_message_id",
    )
    below = "poll.question poll.question.text poll.answers[].text poll.answers[].text.text"
    context = "media_type"
    links = (
        "text_entities[type=text_link].href|text_entities[type=link].text",
        "text[type=text_link].href|text[type=link].text",
    )
    left_out = (("type", {"message": "", "service": "service messages", "*": "other records"}),)


@Platform.register("telegram")
class Telethon(Platform):
    """Telegram, messages of Telethon (4CAT and others), one a line."""

    title = "Telegram (Telethon)"
    signs = (
        "id + date + message + _chat",
        "id + date + message + peer_id",
        "id + date + message + fwd_from",
        "id + date + _=MessageService",
    )
    fields = table(
        id="{_chat.username}/{id}|{peer_id.channel_id}/{id}|{peer_id.chat_id}/{id}|id",
        text="message",
        created_at="date",
        author="_sender.id|from_id.user_id|_sender.username|post_author",
        author_name="_sender.username",
        reply_to="{_chat.username}/{reply_to.reply_to_msg_id}|{peer_id.channel_id}/{reply_to.reply_to_msg_id}"
        "|reply_to.reply_to_msg_id",
        thread="{_chat.username}/{reply_to.reply_to_top_id}|{peer_id.channel_id}/{reply_to.reply_to_top_id}",
        url="https://t.me/{_chat.username}/{id}",
        card_url="media.webpage.url",
        card_title="media.webpage.title",
        card_description="media.webpage.description",
    )
    below = (
        "media.poll.question media.poll.question.text media.poll.poll.question "
        "media.poll.poll.question.text media.poll.answers[].text media.poll.answers[].text.text "
        "media.poll.poll.answers[].text media.poll.poll.answers[].text.text"
    )
    context = "views forwards replies=replies.replies"
    links = ("entities[].url",)
    left_out = (("_", {"MessageService": "service messages"}),)


@Platform.register("telegram_minet")
class Minet(Platform):
    """Telegram, channel messages of minet, CSV."""

    title = "Telegram (minet)"
    signs = ("link_to_message + text + datetime + user",)
    fields = table(
        id="link_to_message",
        text="text",
        created_at="datetime",
        author="user",
        url="link_to_message",
        card_url="link",
        card_title="link_title",
        card_description="link_description",
    )
    is_table = True
    links = (lambda record: str(record.get("links") or "").split("|") if record.get("links") else [],)
