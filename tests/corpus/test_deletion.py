"""Deleting posts: what is left ranks as if the others had never been there."""

import json
import subprocess
from pathlib import Path

import pytest

from linker.common.errors import LinkerError
from linker.corpus import deletion
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.deletion import delete_posts, read_ids
from linker.corpus.filters import is_in
from linker.corpus.storage.shards import Shard
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from tests.conftest import toy_posts
from tests.corpus.conftest import add, build_of, interrupted, no_room, some_posts, write_posts
from tests.helpers.forked import run_linker

ARTICLE = toy_posts().articles[0]
GONE = {"p00000", "p00007", "p00008", "p00119", "p00120", "p00250"}


def build(folder: Path, model: Path, *parts: list[dict]) -> Store:
    build_of(folder, parts[0], model)
    for posts in parts[1:]:
        add(folder, posts)
    return Store.open(folder)


def left(posts: list[dict]) -> list[dict]:
    return [post for post in posts if post["id"] not in GONE]


def answers(corpus: Corpus) -> list[list[tuple[str, float, int]]]:
    kinds: list[dict] = [
        {},
        {"explain": True},
        {"copies": True, "lang": "de"},
        {"where": "json_get_int(extra, 'likes') > 100"},
    ]
    return [
        [(row.post.id, row.score, row.copies) for row in corpus.rank(ARTICLE, top=None, **kind)]
        for kind in kinds
    ]


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run_linker(folder, "corpus", "delete", "corpus", *arguments)


@pytest.fixture
def parts() -> tuple[list[dict], list[dict], list[dict]]:
    return some_posts(120), some_posts(100, start=120), some_posts(60, start=220)


def test_the_rest_ranks_as_if_the_deleted_had_never_been_there(tmp_path, model_folder, parts) -> None:
    store = build(tmp_path / "corpus", model_folder, *parts)
    before = Corpus.open(tmp_path / "corpus")
    assert delete_posts(store, is_in("id", GONE)) == len(GONE)
    corpus = before.refreshed()
    assert (len(before), len(corpus)) == (280, 274)
    build(tmp_path / "other", model_folder, *map(left, parts))
    assert answers(corpus) == answers(Corpus.open(tmp_path / "other"))
    assert not list(faults(store))


def test_texts_are_not_read_again(tmp_path, model_folder, parts, monkeypatch) -> None:
    store = build(tmp_path / "corpus", model_folder, *parts)

    def no_texts(*given: object) -> None:
        raise AssertionError("reads the posts")

    monkeypatch.setattr(Shard, "texts", no_texts)
    assert delete_posts(store, "lang = 'fr'") == 93
    assert len(Corpus.open(tmp_path / "corpus").rank(ARTICLE, top=None, copies=True, explain=True)) == 187
    assert sorted(path.name for path in store.folder.iterdir()) == [
        "checksums.json", "corpus.json", "posts.lance", "shards", "writer.lock",
    ]  # fmt: skip


@pytest.mark.parametrize("whole", [False, True], ids=["some posts", "all of an append"])
def test_posts_are_added_after_a_deletion(tmp_path, model_folder, parts, whole) -> None:
    first, second, third = parts
    gone = [post["id"] for post in second] if whole else sorted(GONE - {"p00250"})
    store = build(tmp_path / "corpus", model_folder, first, second)
    delete_posts(store, is_in("id", gone))
    add(tmp_path / "corpus", third)
    stays = [post for post in [*first, *second, *third] if post["id"] not in gone]
    build(tmp_path / "other", model_folder, stays)
    assert answers(Corpus.open(tmp_path / "corpus")) == answers(Corpus.open(tmp_path / "other"))
    assert not list(faults(store))
    # A deleted post may come back, with another text.
    changed = first[0] | {"text": "another text"}
    delete_posts(store, is_in("id", [changed["id"]]))
    added = add(tmp_path / "corpus", [changed])
    assert (added.new, added.conflicting) == (1, 0)


def test_deleting_all_posts_and_beginning_again(tmp_path, model_folder, parts) -> None:
    store = build(tmp_path / "corpus", model_folder, parts[0])
    assert delete_posts(store, "true") == 120
    assert store.count() == 0
    assert not list(faults(store))
    add(tmp_path / "corpus", parts[1])
    build(tmp_path / "other", model_folder, parts[1])
    assert answers(Corpus.open(tmp_path / "corpus")) == answers(Corpus.open(tmp_path / "other"))


def test_a_deletion_that_was_interrupted(tmp_path, model_folder, parts, monkeypatch) -> None:
    store = build(tmp_path / "corpus", model_folder, *parts)
    with monkeypatch.context() as patch:
        patch.setattr(deletion, "stored_groups", interrupted)
        with pytest.raises(KeyboardInterrupt):
            delete_posts(store, is_in("id", GONE))
    build(tmp_path / "other", model_folder, *map(left, parts))
    assert answers(Corpus.open(tmp_path / "corpus")) == answers(Corpus.open(tmp_path / "other"))


def test_what_is_missing_is_made_for_the_posts_that_are_left(tmp_path, parts) -> None:
    posts = parts[0][80:]
    store = build(tmp_path / "corpus", Path("best"), posts)
    gone = {"p00083", "p00100"}
    assert delete_posts(store, is_in("id", gone)) == 2
    for path in (tmp_path / "corpus" / "shards").rglob("*.safetensors"):
        path.unlink()
    build(tmp_path / "other", Path("best"), [post for post in posts if post["id"] not in gone])
    found, expected = (answers(Corpus.open(tmp_path / name)) for name in ("corpus", "other"))
    for one, other in zip(found, expected):
        assert [(id_, copies) for id_, _, copies in one] == [(id_, copies) for id_, _, copies in other]
        assert [score for _, score, _ in one] == pytest.approx([score for _, score, _ in other], abs=1e-3)
    assert not list(faults(store))


def test_a_full_disk_is_named(tmp_path, model_folder, parts, monkeypatch) -> None:
    lance = pytest.importorskip("lance")
    store = build(tmp_path / "corpus", model_folder, parts[0])
    monkeypatch.setattr(lance.LanceDataset, "delete", no_room)
    with pytest.raises(LinkerError, match=r"No space left on device.*free disk space"):
        delete_posts(store, "true")
    assert store.count() == 120


@pytest.mark.parametrize("name", ["ids.txt", "ids.csv", "ids.jsonl"])
def test_ids_of_any_table(tmp_path, name) -> None:
    ids = ["p1", "at://did:plc:a/app.bsky.feed.post/3k", "it's", "p1"]
    write = {
        "ids.txt": "\n".join(ids),
        "ids.csv": "id,why\n" + "\n".join(f"{id_},spam" for id_ in ids),
        "ids.jsonl": "\n".join(json.dumps({"id": id_}) for id_ in ids),
    }
    (tmp_path / name).write_text(write[name] + "\n")
    assert read_ids([str(tmp_path / name)]) == ids[:3]


def test_many_ids_at_once(tmp_path, model_folder) -> None:
    store = build(tmp_path / "corpus", model_folder, some_posts(300))
    assert delete_posts(store, is_in("id", [f"p{i:05d}" for i in range(1, 50_000)])) == 299
    assert Corpus.open(tmp_path / "corpus").rank(ARTICLE)[0].post.id == "p00000"


@pytest.mark.parametrize("authors", ["hashed", "plain"])
def test_files_of_a_platform_delete_posts_that_were_added_before(tmp_path, model_folder, authors) -> None:
    def record(rkey: str, did: str, operation: str) -> dict:
        commit: dict = {"operation": operation, "collection": "app.bsky.feed.post", "rkey": rkey}
        if operation == "create":
            commit["record"] = {"text": f"harbour1 {rkey}", "createdAt": "2031-05-01T12:00:00Z"}
        return {"kind": "commit", "did": did, "time_us": 1, "commit": commit}

    people = [f"did:plc:{name}" for name in ("ann", "bob", "cy")]
    first = [record(f"r{number}", did, "create") for did in people for number in range(3)]
    taken_down = {"active": False, "did": people[2], "status": "takendown"}
    second = [
        record("r9", people[0], "create"),
        record("r1", people[0], "delete"),
        record("unknown", people[0], "delete"),
        {"kind": "account", "did": people[2], "time_us": 2, "account": taken_down},
    ]
    folder, columns = tmp_path / "corpus", PostColumns(authors=authors)
    build_corpus(folder, [write_posts(tmp_path / "1.jsonl", first)], str(model_folder), columns)
    added = add_to_corpus(folder, [write_posts(tmp_path / "2.jsonl", second)], None, columns)
    assert (added.new, added.deleted) == (1, 4)
    ids = sorted(row.post.id[9:] for row in Corpus.open(folder).rank(ARTICLE, top=None, copies=True))
    record_of = "/app.bsky.feed.post/"
    assert ids == [
        *(f"plc:ann{record_of}r{number}" for number in (0, 2, 9)),
        *(f"plc:bob{record_of}r{number}" for number in range(3)),
    ]


def test_the_command(tmp_path, model_folder) -> None:
    build(tmp_path / "corpus", model_folder, some_posts(30))
    (tmp_path / "ids.txt").write_text("p00003\np00004\nunknown\n")
    done = command(tmp_path, "ids.txt")
    assert done.stdout == "corpus: 2 posts deleted; 1 id is not there; 28 left\n"
    (tmp_path / "ids.txt").write_text("p00006\np00003\np00004\n")
    done = command(tmp_path, "ids.txt")
    assert done.stdout == "corpus: 1 post deleted; 2 ids are not there; 27 left\n"
    done = command(tmp_path, "--where", "lang = 'de'")
    assert done.stdout == "corpus: 9 posts deleted; 18 left\n"
    for arguments, message in [
        ((), "give either files with ids or --where"),
        (("ids.txt", "--where", "true"), "give either files with ids or --where"),
        (("--where", "nope = 1"), "--where nope = 1: cannot be understood"),
        (("none.txt",), "none.txt"),
    ]:
        done = command(tmp_path, *arguments)
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert Store.open(tmp_path / "corpus").count() == 18
