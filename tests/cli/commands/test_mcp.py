"""`linker mcp` as a client of the protocol sees it: a process that speaks over its standard streams."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.forked import run_linker

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
ARTICLE = "Otters return to the river\n\nTwo otters were filmed below the weir at Marrow."


def test_mistakes_end_the_command_before_it_serves(tmp_path: Path) -> None:
    pytest.importorskip("mcp.server.mcpserver", reason="the extra mcp is not installed")
    for arguments, message in (
        (("--allow", "nowhere"), "error: --allow nowhere: folder not found\n"),
        (("--model", "nothing"), "error: nothing: "),
    ):
        done = run_linker(tmp_path, "mcp", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(message)


def test_a_client_ranks_and_searches_and_reads_errors(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed")
    pytest.importorskip("mcp.server.mcpserver", reason="mcp 1 is installed, not 2")
    pytest.importorskip("lance")
    from linker.corpus.builder import build_corpus
    from linker.data.io.columns import PostColumns

    texts = ["two otters below the weir!", "the bus is late again", "soup"]
    lines = [json.dumps({"id": f"p{n}", "text": text}) + "\n" for n, text in enumerate(texts)]
    (tmp_path / "posts.jsonl").write_text("".join(lines))
    build_corpus(tmp_path / "corpus", [str(tmp_path / "posts.jsonl")], "distilled", PostColumns())

    async def talk() -> dict[str, Any]:
        server = mcp.StdioServerParameters(
            command=sys.executable,
            args=["-m", "linker", "mcp", "--model", "bm25"],
            cwd=tmp_path,
            env=ENVIRONMENT,
        )
        found: dict[str, Any] = {}
        async with mcp.Client(mcp.stdio_client(server)) as client:
            found["tools"] = (await client.list_tools()).tools
            for name, tool, arguments in (
                ("ranked", "rank", {"article": ARTICLE, "posts": "posts.jsonl", "top": 2}),
                ("private", "rank", {"article": "http://127.0.0.1:9/", "posts": "posts.jsonl"}),
                ("elsewhere", "rank", {"article": ARTICLE, "posts": "/etc/passwd"}),
                ("too many", "rank", {"article": ARTICLE, "posts": "posts.jsonl", "top": 1000}),
                ("searched", "search", {"corpus": "corpus", "article": "otters", "top": 1}),
                ("described", "corpus_info", {"corpus": "corpus"}),
            ):
                found[name] = await client.call_tool(tool, arguments)
        return found

    found = asyncio.run(talk())
    assert [tool.name for tool in found["tools"]] == ["rank", "search", "corpus_info"]
    assert all(tool.annotations.read_only_hint and tool.output_schema for tool in found["tools"])
    ranked = found["ranked"].structured_content
    assert (ranked["posts"][0]["id"], ranked["total"], len(ranked["posts"])) == ("p0", 3, 2)
    assert json.loads(found["ranked"].content[0].text) == ranked
    assert found["searched"].structured_content["posts"][0]["id"] == "p0"
    assert found["described"].structured_content["posts"] == 3
    messages = {
        "private": "http://127.0.0.1:9/: 127.0.0.1 is 127.0.0.1, not an address of the public internet: refused",
        "elsewhere": f"/etc/passwd: not found below {tmp_path.resolve()}; --allow names the folders of this server",
        "too many": "top is 1000; give 1 to 200",
    }
    for name, message in messages.items():
        assert found[name].is_error
        assert found[name].content[0].text == f"Error executing tool rank: {message}"


def test_closed_standard_input_is_one_message() -> None:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    words = f"{sys.executable} -m linker mcp <&-"
    done = subprocess.run(words, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        2,
        "error: standard input is closed, on which the assistant's program sends its requests\n",
    )
