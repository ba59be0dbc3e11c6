"""The program of the process that evaluates Jsonnet (decision 010): it imports nothing of linker.

The first argument is the module search path, as JSON. Standard input has one line of JSON with `name` and `snippet`,
and standard output one with `json` or `error`. For each import, `import` is asked, and a line with `path`
and `text` (bytes as Latin-1), or `error`, is read.
"""

from __future__ import annotations

import json
import signal
import sys


def _main() -> None:
    # Ctrl-C reaches all processes; the main one ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = json.loads(sys.argv[1])
    import _jsonnet

    def answer(**message: object) -> None:
        sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
        sys.stdout.buffer.flush()

    def load(importer: str, name: str) -> tuple[str, bytes]:
        answer(**{"import": [importer, name]})
        reply = json.loads(sys.stdin.buffer.readline())
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["path"], reply["text"].encode("latin-1")

    question = json.loads(sys.stdin.buffer.readline())
    try:
        answer(json=_jsonnet.evaluate_snippet(question["name"], question["snippet"], import_callback=load))
    except (RuntimeError, ValueError, RecursionError) as error:
        answer(error=str(error))
    except MemoryError:
        answer(limit="memory")


if __name__ == "__main__":
    _main()
