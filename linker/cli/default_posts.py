"""Posts of `linker rank` without `--posts`: a file called `posts` in this folder or in `data`."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from linker.common.errors import LinkerError

_NAME = re.compile(r"posts\.[a-z]+(\.(gz|bz2|xz|zst))?", re.IGNORECASE)


def default_posts(articles: list[str]) -> str:
    """Find the file that `linker rank` ranks without --posts.

    It is called `posts`, with an ending of a format that is read (`posts.jsonl`, `posts.csv.gz`, ...), and is in this
    folder, else in `data`.

    Args:
        articles: values of --article, for the message.

    Raises:
        LinkerError: if there are several, or none; the message lists what to type.
    """
    from linker.config.recipes import shared_folder
    from linker.data.files.tables import format_of_name

    command = f"linker rank --article {shlex.join(articles) or '...'} --posts"
    for folder in (Path(), Path("data")):
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
        files = [str(path) for path in paths if _NAME.fullmatch(path.name) and format_of_name(path.name)]
        if len(files) > 1:
            commands = [f"{command} {shlex.quote(file)}" for file in files]
            raise LinkerError(
                "\n  ".join([f"{len(files)} files of posts in this folder; type one of", *commands])
            )
        if files:
            return files[0]
    raise LinkerError(
        "no posts to rank: --posts is missing, and there is no posts.jsonl, posts.csv or the like in this folder or in "
        f"data/; type\n  {command} FILE\n"
        f"or, with linker's sample of posts,\n  {command} {shlex.quote(str(shared_folder() / 'data/posts.jsonl'))}"
    )
