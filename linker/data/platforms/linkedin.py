"""LinkedIn: posts of the feed, of searches and of profiles, as Zeeschuimer saves them.

Sources: datasources/linkedin of 4CAT; modules/linkedin.js of Zeeschuimer.
"""

import re

from linker.data.platforms.paths import getter
from linker.data.platforms.platform import Platform, Record, table

_URN = getter("updateMetadata.urn|preDashEntityUrn|entityUrn|id")
_PROFILE = getter("actor.navigationContext.actionTarget")
_ACTIVITY = re.compile(r"urn:li:activity:(\d+)")
_TIME_BITS = 22  # below them: a number in the millisecond


def _id(record: Record) -> str | None:
    """The number of the activity; of several that were put together, the first."""
    match = _ACTIVITY.search(str(_URN(record)))
    return match[1] if match else None


def _created_at(record: Record) -> int | None:
    """The time with which the post's number begins: a record has only the interface's words, such as `3w`."""
    number = _id(record)
    return (int(number) >> _TIME_BITS) or None if number else None


def _author(record: Record) -> str | None:
    profile = _PROFILE(record)
    return profile.split("linkedin.com/")[-1].split("?")[0] if isinstance(profile, str) else None


def _url(record: Record) -> str | None:
    number = _id(record)
    return f"https://www.linkedin.com/feed/update/urn:li:activity:{number}" if number else None


@Platform.register("linkedin")
class LinkedIn(Platform):
    """LinkedIn, posts (Zeeschuimer, 4CAT)."""

    title = "LinkedIn"
    signs = ("actor + commentary + *socialDetail", "actor + commentary + updateMetadata")
    envelope = "data"
    fields = table(
        id=_id,
        text="commentary.text.text",
        created_at=_created_at,
        author=_author,
        author_name="actor.name.text",
        url=_url,
        card_url="content.articleComponent.navigationContext.actionTarget|content.navigationContext.actionTarget",
        card_title="content.articleComponent.title.text|content.title.text",
        card_description="content.articleComponent.description.text",
    )
    context = (
        "*socialDetail.*totalSocialActivityCounts.numLikes "
        "*socialDetail.*totalSocialActivityCounts.numComments "
        "*socialDetail.*totalSocialActivityCounts.numShares"
    )
