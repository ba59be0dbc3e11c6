"""States of an address in a crawl."""

from __future__ import annotations

from typing import Literal, get_args

State = Literal[
    "fetched",
    "robots.txt",
    "opt-out",
    "not found",
    "soft 404",
    "login or blocked",
    "robot check",
    "paywall",
    "short text",
    "consent page",
    "needs JavaScript",
    "list of stories",
    "no article",
    "not HTML",
    "too large",
    "too slow",
    "redirect loop",
    "refused address",
    "not an address",
    "host not found",
    "no connection",
    "rate limited",
    "server error",
    "other status",
    "redirected",
    "waiting",
]
#: All states, in the order of the report. `redirected` is a page that leads to another one, which has the outcome;
#: `waiting` is not final.
STATES: tuple[State, ...] = get_args(State)
#: States that may be others a little later.
RETRIED: frozenset[State] = frozenset({"too slow", "no connection", "rate limited", "server error"})


def state_of_status(status: int) -> State:
    """Return the state that an HTTP status other than success and redirects means."""
    if status in (404, 410):
        return "not found"
    if status in (401, 402, 403, 407, 451):
        return "login or blocked"
    if status == 429:
        return "rate limited"
    return "server error" if status >= 500 else "other status"
