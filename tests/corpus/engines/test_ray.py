"""A Ray cluster gives what one process gives, bit by bit, also where workers are killed in the middle."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from linker.common.errors import DataError, LinkerError
from linker.corpus import builder as building
from linker.corpus.builder import add_to_corpus, build_corpus
from linker.corpus.corpus import Corpus
from linker.corpus.engines import ray as ray_engine
from linker.corpus.engines.engine import Engine
from linker.corpus.engines.ray import RayEngine
from linker.corpus.storage.store import Store
from linker.corpus.verify import faults
from linker.data.io.columns import PostColumns
from linker.models.model import EncoderModel, Model
from tests.corpus.conftest import arrays_in, rows_in, some_posts, write_posts
from tests.helpers.encoders import encoder

ARTICLE = "harbour0 harbour1 harbour2 harbour3 w1 w2"
with_ray = pytest.mark.skipif(
    not __import__("importlib.util").util.find_spec("ray"), reason="the package ray is not installed"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayEngine]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with RayEngine(cpus=2) as engine:
        # Workers cannot import the tests.
        from ray import cloudpickle

        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        yield engine
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(building, "POSTS_AT_ONCE", 30)


def built(folder: Path, paths: list[str], model: Path, engine: Engine | None = None) -> Path:
    build_corpus(folder, paths, str(model), PostColumns(), engine=engine)
    return folder


def posts_in(folder: Path) -> list[dict]:
    return rows_in(folder, "id", "text", "created_at", "lang", "extra")


@with_ray
@pytest.mark.slow
def test_a_cluster_gives_the_same(tmp_path, model_folder, cluster):
    posts = some_posts(140)
    posts += [{"id": f"same{i}", "text": f"RT {posts[i]['text']}"} for i in range(10)]
    posts += [{"id": f"tie{i}", "text": "harbour1 harbour2"} for i in range(20)]
    first, second = (
        write_posts(tmp_path / "1.jsonl", posts),
        write_posts(tmp_path / "2.jsonl", some_posts(80, start=120)),
    )
    here = built(tmp_path / "here", [first], model_folder)
    there = built(tmp_path / "there", [first], model_folder, cluster)
    for folder, engine in ((here, None), (there, cluster)):
        added = add_to_corpus(folder, [second], None, PostColumns(), engine=engine)
        assert (added.new, added.known, added.conflicting) == (60, 20, 0)
    assert posts_in(here) == posts_in(there)
    assert arrays_in(here) == arrays_in(there)
    assert not list(faults(Store.open(there)))
    assert list(Corpus.open(there).rank(ARTICLE, None)) == list(Corpus.open(here).rank(ARTICLE, None))


class Deadly(EncoderModel):
    """Kills the first process, in whichever it is, that encodes a certain post."""

    def __init__(self, model: Model, post: str, marker: Path, always: bool = False) -> None:
        self.model, self.post, self.marker, self.always = model, post, marker, always

    def post_vectors(self, posts):
        if any(post.id == self.post for post in posts) and (self.always or not self.marker.exists()):
            self.marker.write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        return encoder(self.model).post_vectors(posts)


@with_ray
@pytest.mark.slow
def test_a_worker_killed_in_the_middle(tmp_path, model_folder, cluster):
    path = write_posts(tmp_path / "posts.jsonl", some_posts(300))
    here = built(tmp_path / "here", [path], model_folder)
    corpus = Corpus.open(here)
    there = Store.create(tmp_path / "there", corpus.store.facts)
    deadly = Deadly(corpus.model, "p00100", tmp_path / "killed")
    added = building.add_posts(there, deadly, [path], PostColumns(), "strict", cluster)
    assert int((tmp_path / "killed").read_text()) != os.getpid()
    assert added.new == 300
    assert posts_in(here) == posts_in(there.folder)
    assert arrays_in(here) == arrays_in(there.folder)
    assert not list(faults(there))


@with_ray
@pytest.mark.slow
def test_nobody_else_reaches_a_cluster_on_this_machine(cluster):
    import ray

    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}


@with_ray
@pytest.mark.slow
def test_what_goes_wrong_in_workers_is_reported_and_what_was_appended_stays(
    tmp_path, model_folder, cluster, monkeypatch
):
    monkeypatch.setattr(ray_engine, "RETRIES", 1)
    posts = some_posts(150)
    path = write_posts(tmp_path / "posts.jsonl", posts)
    model = Corpus.open(built(tmp_path / "here", [path], model_folder)).model
    store = Store.create(tmp_path / "there", Store.open(tmp_path / "here").facts)
    deadly = Deadly(model, "p00100", tmp_path / "killed", always=True)
    with pytest.raises(
        LinkerError, match=r"the Ray cluster could not do the work .*an interrupted build resumes"
    ):
        building.add_posts(store, deadly, [path], PostColumns(), "strict", cluster)
    assert [post["id"] for post in posts_in(store.folder)] == [post["id"] for post in posts[:90]]

    # A bad line ends the command as it does in one process: lines are checked in blocks, then added.
    good = Path(path).read_text()
    Path(path).write_text(good + "{\n")
    with pytest.raises(DataError, match="line 151: broken JSON"):
        building.add_posts(store, model, [path], PostColumns(), "strict", cluster)
    assert store.count() == 90
    Path(path).write_text(good)
    building.add_posts(store, model, [path], PostColumns(), "strict", cluster)
    assert [post["id"] for post in posts_in(store.folder)] == [post["id"] for post in posts]


@with_ray
@pytest.mark.slow
@pytest.mark.parametrize("who", ["driver", "everybody"])
def test_interrupted(tmp_path, model_folder, who):
    path = write_posts(tmp_path / "posts.jsonl", some_posts(40_000))
    code = (
        "from linker.corpus import builder; builder.POSTS_AT_ONCE = 200;"
        "from linker.cli.main import main; main()"
    )
    command = [sys.executable, "-c", code, "corpus", "build", path, "--engine", "ray"]
    command += ["--model", str(model_folder), "--out", str(tmp_path / "corpus")]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, start_new_session=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    versions = tmp_path / "corpus" / "posts.lance" / "_versions"
    while not (versions.is_dir() and len(list(versions.iterdir())) > 3):
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.05)
    (os.kill if who == "driver" else os.killpg)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    store = Store.open(tmp_path / "corpus")
    assert 0 < store.count() < 40_000
    assert not list(faults(store))


@with_ray
@pytest.mark.slow
def test_a_killed_driver_resumes_without_loss_or_doubling(tmp_path, model_folder):
    (tmp_path / "posts").mkdir()
    for number in range(4):
        write_posts(tmp_path / "posts" / f"{number}.jsonl", some_posts(1_000, start=900 * number))
    code = (
        "from linker.corpus import builder; builder.POSTS_AT_ONCE = 100;"
        "from linker.cli.main import main; main()"
    )
    command = [sys.executable, "-c", code, "corpus", "build", "posts", "--engine", "ray"]
    command += ["--model", str(model_folder), "--out", "corpus"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.getcwd()}
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, cwd=tmp_path, env=environment)
    versions = tmp_path / "corpus" / "posts.lance" / "_versions"
    while not (versions.is_dir() and len(list(versions.iterdir())) > 5):
        assert process.poll() is None
        time.sleep(0.05)
    process.kill()
    process.wait()
    store = Store.open(tmp_path / "corpus")
    assert 0 < store.count() < 3_700
    assert not list(faults(store))
    subprocess.run(command, check=True, cwd=tmp_path, env=environment)
    here = built(tmp_path / "here", [str(tmp_path / "posts")], model_folder)
    assert posts_in(store.folder) == posts_in(here)
    assert not list(faults(store))
    data = store.folder / "posts.lance" / "data"
    assert len(list(data.iterdir())) == len(list((store.folder / "shards").glob("*/embeddings-*")))
    assert list(Corpus.open(store.folder).rank(ARTICLE, None)) == list(Corpus.open(here).rank(ARTICLE, None))


@with_ray
def test_no_cluster_there():
    with pytest.raises(
        LinkerError, match=r"--address 127\.0\.0\.1:1: no connection to a Ray cluster \(.*refused"
    ):
        RayEngine("127.0.0.1:1").__enter__()


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(LinkerError, match=r"pip install 'article-linker\[ray\]'"):
        RayEngine().__enter__()


def test_one_process_gives_results_in_their_order_and_errors_in_their_turn():
    def items() -> Iterator[tuple[str, int]]:
        yield "a", 1
        yield "b", 2
        raise DataError("damaged")

    given = Engine().map(lambda text, times: text * times, items())
    assert [next(given), next(given)] == ["a", "bb"]
    with pytest.raises(DataError, match="damaged"):
        next(given)
