"""Tell JSON objects around a list of posts, such as the pages of an API response, from posts."""

from collections.abc import Callable, Container
from typing import Any

from linker.data.files.formats.json_lines import json_object
from linker.data.files.line_errors import LineError

#: Lists that API responses have beside their list of posts.
_BESIDE = frozenset(("accounts", "errors", "hashtags", "matching_rules"))
# Keys of a response beside its list.
_ABOUT = frozenset(
    ("cursor", "data", "error", "errors", "etag", "kind", "meta", "pageInfo", "paging", "result")
)
# Lists beside the chats of an account in Telegram Desktop.
_OF_AN_ACCOUNT = frozenset(("other_data", "profile_pictures", "stories"))
#: Objects around a list of objects with one list of posts each: the chats of Telegram Desktop.
NESTED = frozenset(("chats", "left_chats"))
#: Objects in which API responses have their list.
DATA = ("data", "result")
#: The object of a page with records, such as pictures, that those of its list name by id.
INCLUDES = "includes"
# Lists of posts in objects that have an id themselves: Telegram Desktop, ActivityPub.
_NAMED = frozenset(("messages", "orderedItems"))


def is_list_around_posts(value: dict[str, Any]) -> bool:
    """Return whether an object has an id, but its list is known to be one of posts."""
    return any(isinstance(value.get(key), dict) for key in NESTED) or bool(
        _NAMED.intersection(_lists_of_objects(value))
    )


def opened_data(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the values of the objects in which API responses have their list or post."""
    opened = value
    for key in DATA:
        if isinstance(inside := value.get(key), dict):
            opened = opened | inside
    return opened


def is_page(line: bytes, is_post: Callable[[dict[str, Any]], bool]) -> bool:
    """Return whether a line is an object with one list of posts, not a post itself.

    Args:
        line: the line.
        is_post: whether an object is a post.
    """
    try:
        value = json_object(line.decode("utf-8", "surrogateescape"))
    except LineError:
        return False
    is_list = len(_lists_of_objects(opened_data(value))) == 1 and not is_post(value)
    return is_list_around_posts(value) or is_list


def _lists_of_objects(value: dict[str, Any]) -> list[str]:
    """Return the keys whose values are lists with at least one object, without those that are beside another list."""
    return [
        key
        for key, items in value.items()
        if not is_beside(key, value)
        and isinstance(items, list)
        and any(isinstance(item, dict) for item in items)
    ]


def is_beside(key: str, keys: Container[str]) -> bool:
    """Return whether a list is beside one of posts, by its key and all keys (so far) of its object."""
    return key in _BESIDE or (key in _OF_AN_ACCOUNT and "personal_information" in keys)


def is_empty_page(page: dict[str, Any]) -> bool:
    """Return whether a page has no post: an empty list, or nothing but what a response says about itself."""
    values = opened_data(page)
    return any(items == [] for items in values.values()) or _ABOUT.issuperset(values)


def items_of(page: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects in the only list of objects of a page; none if it has none or several.

    Where the page has records beside its list that the objects name by id, each object has them beside it, too.
    """
    values = opened_data(page)
    keys = _lists_of_objects(values)
    items = [item for item in values[keys[0]] if isinstance(item, dict)] if len(keys) == 1 else []
    if isinstance(beside := page.get(INCLUDES), dict):
        return [{"data": item, INCLUDES: beside} for item in items]
    return items
