"""Corpora that were damaged, cannot be written to, or are used by several at once."""

import errno
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from linker.cli.commands.corpus import verify
from linker.common.errors import DataError, LinkerError
from linker.corpus import builder
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.info import summary_lines
from linker.corpus.storage.array_files import ArrayFiles, Arrays
from linker.corpus.storage.checksums import (
    CHECKSUMS,
    FACTS,
    POSTS,
    forget_checksums,
    manifests,
    read_checksums,
)
from linker.corpus.storage.shards import SHARDS
from linker.corpus.storage.store import Store
from linker.data.io.columns import PostColumns
from tests.corpus.conftest import add, arrays_in, build_of, ids_in, no_room, some_posts, write_posts

ARTICLE = "harbour0 harbour1 harbour2 harbour3 w1 w2"
#: Files of arrays, which are computed again from the posts.
ARRAYS = ("embeddings", "copy-signatures", "plain-words.english", "copy-groups")


def words_of(corpus: Path) -> list[float]:
    """Rank, then read the words."""
    opened = Corpus.open(corpus)
    opened.rank(ARTICLE)
    return opened.table.postings("english").squares.tolist()


@pytest.fixture
def corpus(tmp_path, model_folder, monkeypatch) -> Path:
    monkeypatch.setattr(builder, "POSTS_AT_ONCE", 40)
    folder = build_of(tmp_path / "corpus", some_posts(150), model_folder)
    Corpus.open(folder).rank(ARTICLE)  # groups near-duplicates, reads words
    return folder


def kinds(folder: Path) -> dict[str, list[Path]]:
    """The files that matter, by what they are for."""
    posts = folder / POSTS
    # The later, the smaller the number.
    *others, oldest = sorted((posts / "_versions").glob("*.manifest"))
    found = {
        "facts": [folder / FACTS],
        "checksums": [folder / CHECKSUMS],
        "posts": sorted((posts / "data").iterdir()),
        "newest version": others[:1],
        "oldest version": [oldest],
        "transactions": sorted((posts / "_transactions").iterdir()),
        **{name: sorted((folder / SHARDS).rglob(f"{name}-*")) for name in ARRAYS},
    }
    assert all(found.values())
    return found


def kinds_of_arrays(folder: Path, kind: str) -> list[Path]:
    return sorted((folder / SHARDS).rglob(f"{kind}-*"))


def ranked(folder: Path) -> list[tuple[str, float, int]]:
    return [(r.post.id, r.score, r.copies) for r in Corpus.open(folder).rank(ARTICLE, top=None)]


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def problem_of(folder: Path) -> str:
    """What `linker corpus verify` says is wrong; empty where nothing is."""
    try:
        verify(folder)
    except DataError as error:
        return str(error)
    return ""


def test_all_files_of_a_corpus_are_known_here(corpus):
    there = {path for path in corpus.rglob("*") if path.is_file()}
    known = {path for paths in kinds(corpus).values() for path in paths}
    assert {path.name for path in there - known} == {
        "writer.lock",
        "latest_version_hint.json",
        *(path.name for path in sorted((corpus / POSTS / "_versions").glob("*.manifest"))[1:-1]),
    }


@pytest.mark.parametrize("harm", ["flipped", "half", "empty", "missing"])
def test_every_damaged_file_is_named(corpus, harm):
    chance = random.Random(5)
    assert problem_of(corpus) == ""
    for kind, paths in kinds(corpus).items():
        path = chance.choice(paths)
        whole = path.read_bytes()
        if harm == "flipped":
            flip(path, chance)
        elif harm == "missing":
            path.unlink()
        else:
            path.write_bytes(whole[: len(whole) // 2 if harm == "half" else 0])
        if kind in ARRAYS and harm == "missing":
            assert problem_of(corpus) == "", kind
        elif kind == "facts" and harm == "missing":
            assert re.search(r"corpus\.json: is missing; restore it", problem_of(corpus))
        else:
            assert problem_of(corpus).startswith(str(path)), (kind, problem_of(corpus))
            assert len(problem_of(corpus).splitlines()) == 1
        path.write_bytes(whole)
    assert problem_of(corpus) == ""


@pytest.mark.parametrize("kind", ARRAYS)
def test_what_is_computed_from_the_posts_is_computed_again(corpus, kind):
    expected = ranked(corpus)
    for path in kinds(corpus)["copy-groups"]:
        path.unlink()  # while they are there, nobody needs signatures
    paths = kinds_of_arrays(corpus, kind)
    whole = {path: path.read_bytes() for path in paths}
    for path in paths:
        path.unlink()
    assert ranked(corpus) == expected
    words_of(corpus)
    assert {path: path.read_bytes() for path in whole} == whole


@pytest.mark.parametrize("kind", ARRAYS)
@pytest.mark.parametrize("left", [0, 5, 100])
def test_cut_files_of_arrays_are_refused(corpus, kind, left):
    if kind != "copy-groups":
        for path in kinds(corpus)["copy-groups"]:
            path.unlink()
    for path in kinds_of_arrays(corpus, kind):
        path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(DataError, match=rf"{kind}-.*damaged .*delete it, and it is created again"):
        words_of(corpus)


@pytest.mark.parametrize("harm", ["half", "missing"])
@pytest.mark.parametrize("kind", ["newest version", "posts"])
def test_damage_is_reported_without_verifying(corpus, kind, harm):
    for path in kinds(corpus)[kind]:
        whole = path.read_bytes()
        path.unlink()
        if harm == "half":
            path.write_bytes(whole[: len(whole) // 2])
    match = "is missing|was changed" if kind == "newest version" else "cannot be read .*linker corpus verify"
    with pytest.raises(DataError, match=match):
        ranked(corpus)
    with pytest.raises(DataError, match=match):
        add(corpus, some_posts(3, start=900))
    with pytest.raises(DataError, match=match):
        summary_lines(Store.open(corpus))


def lose(corpus: Path, lost: Callable[[str], bool]) -> None:
    """Have the corpus know no checksum of some files, as after a kill before it was written."""
    forget_checksums(corpus, [name for name in read_checksums(corpus) if lost(name)])


@pytest.mark.parametrize("leftover", ["{}#1", ".tmp9dJJbA"])
def test_what_a_kill_left_beside_a_version_is_no_fault(corpus, leftover):
    """Lance links the file of a version from another name, and replaces its hint; a kill between leaves both."""
    newest = manifests(corpus)[0]
    lose(corpus, lambda name: name == newest)
    assert problem_of(corpus) == ""
    path = corpus / newest
    (path.parent / leftover.format(path.name)).write_bytes(path.read_bytes())
    assert problem_of(corpus) == ""


def test_an_append_that_was_not_sealed_is_sealed_by_the_next(corpus):
    files, newest = read_checksums(corpus), manifests(corpus)[0]
    lose(corpus, lambda name: name == newest)
    (corpus / f".{CHECKSUMS}.abc").write_text("{")  # cut off by a kill
    assert problem_of(corpus) == ""
    add(corpus, some_posts(3, start=900))
    assert problem_of(corpus) == ""
    assert {*files, newest} - set(read_checksums(corpus)) == {
        name for name in files if "_transactions" in name
    }
    assert not list(corpus.glob(f".{CHECKSUMS}.*"))


def test_what_a_killed_append_left_goes(corpus):
    left = corpus / POSTS / "data" / "0101.lance"
    left.write_bytes(b"half an append")
    add(corpus, some_posts(3, start=900))
    assert not left.exists()
    assert problem_of(corpus) == ""


@pytest.mark.parametrize("left", [".corpus.json.abc", "writer.lock"])
def test_a_build_killed_while_it_began(tmp_path, model_folder, left):
    (tmp_path / "corpus" / POSTS / "_versions").mkdir(parents=True)
    (tmp_path / "corpus" / left).touch()
    with pytest.raises(LinkerError, match="is not empty"):
        build_of(tmp_path / "corpus", some_posts(10), model_folder)
    for path in (POSTS + "/_versions", POSTS):
        (tmp_path / "corpus" / path).rmdir()
    assert len(ids_in(build_of(tmp_path / "corpus", some_posts(10), model_folder))) == 10
    assert problem_of(tmp_path / "corpus") == ""


def test_versions_without_a_version(tmp_path, model_folder):
    folder = build_of(tmp_path / "corpus", [], model_folder)
    (folder / POSTS / "_versions").mkdir(parents=True)  # killed within the first append
    with pytest.raises(DataError, match="the corpus is empty"):
        Corpus.open(folder)
    assert problem_of(folder) == ""
    assert len(ids_in(build_of(folder, some_posts(10), model_folder))) == 10
    assert problem_of(folder) == ""


@pytest.mark.parametrize("full", ["posts", "checksums", "embeddings", "copy-signatures"])
def test_a_full_disk_stops_cleanly(corpus, monkeypatch, full):
    more = some_posts(100, start=900)
    with monkeypatch.context() as patched:
        if full == "posts":
            import lance.fragment

            patched.setattr(lance.fragment, "write_fragments", no_room)
        elif full == "checksums":
            replace = os.replace

            def replaced(source: str, target: Path) -> None:
                if Path(target).name == CHECKSUMS:
                    _raise_no_space()
                replace(source, target)

            patched.setattr(os, "replace", replaced)
        else:
            real = ArrayFiles.write

            def write(self: ArrayFiles, name: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
                if name == full:
                    _raise_no_space()
                return real(self, name, arrays)

            patched.setattr(ArrayFiles, "write", write)
        with pytest.raises(
            LinkerError, match=r"No space left on device\); what was added before is safe: free disk space"
        ):
            add(corpus, more)
    there = Store.open(corpus).count()
    assert there == (190 if full == "checksums" else 150)
    assert problem_of(corpus) == ""
    assert len(Corpus.open(corpus)) == there
    assert add(corpus, more).new == 250 - there
    assert problem_of(corpus) == ""
    ids = {post["id"] for post in [*some_posts(150), *more]}
    assert sorted(r.post.id for r in Corpus.open(corpus).rank(ARTICLE, None, copies=True)) == sorted(ids)


def _raise_no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_corpus_that_cannot_be_written_to_is_asked(corpus, tmp_path, monkeypatch):
    expected = ranked(corpus)
    words = words_of(corpus)
    (groups,) = kinds_of_arrays(corpus, "copy-groups")
    state = groups.name.split("-")[2]
    groups.rename(groups.with_name(groups.name.replace(state, 16 * "0")))  # of other posts
    for path in sorted((corpus / SHARDS).glob("*/*.safetensors"))[::2]:
        path.unlink()

    def refuse(*_: object, **__: object):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    before = {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()}
    assert ranked(corpus) == expected
    assert words_of(corpus) == words
    assert problem_of(corpus) == ""
    assert {path: path.read_bytes() for path in corpus.rglob("*") if path.is_file()} == before


def test_a_second_writer_is_refused_and_readers_are_not(corpus, tmp_path):
    more = write_posts(tmp_path / "more.jsonl", some_posts(3, start=900))
    program = "from linker.cli.main import main; main()"
    with Store.open(corpus).writing():
        second = subprocess.run(
            [sys.executable, "-c", program, "corpus", "add", str(corpus), more],
            capture_output=True,
            text=True,
        )
        assert len(Corpus.open(corpus).rank(ARTICLE, top=5)) == 5
        assert problem_of(corpus) == ""
    assert (second.returncode, second.stdout) == (2, "")
    assert second.stderr == (
        f"error: {corpus}: another process is writing to this corpus; wait until it has ended\n"
    )
    assert add_to_corpus(corpus, [more], None, PostColumns()).new == 3


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path, model_folder, monkeypatch):
    monkeypatch.setattr(builder, "POSTS_AT_ONCE", 25)
    posts = write_posts(tmp_path / "posts.jsonl", some_posts(3_000))
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    build_corpus(whole, [posts], str(model_folder), PostColumns())
    command = [
        sys.executable, "-m", "tests.helpers.corpus_kills", str(folder), posts, str(model_folder), "30",
    ]  # fmt: skip
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    assert int(done.stdout) > 15, "most had ended before they were killed"
    there = Store.open(folder).count()
    assert there > 0
    added = build_corpus(folder, [posts], str(model_folder), PostColumns())
    assert (added.new, added.known, added.conflicting) == (3_000 - there, there, 0)
    assert problem_of(folder) == ""
    one, other = (Store.open(path).dataset() for path in (whole, folder))
    assert one is not None
    assert other is not None
    assert one.to_table().equals(other.to_table())
    assert arrays_in(folder) == arrays_in(whole)
