"""Run a notebook and store its outputs: `python scripts/run_notebook.py NOTEBOOK [OUT]`.

Without OUT the notebook itself is updated. Execution times are left out, so that only changed outputs differ.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from linker.common.files import atomic_write


def run(notebook: Path, timeout: int = 3600) -> nbformat.NotebookNode:
    """Run a notebook in its own folder and return it with its outputs."""
    content = nbformat.read(notebook, as_version=4)
    NotebookClient(
        content,
        timeout=timeout,
        kernel_name="python3",
        resources={"metadata": {"path": str(notebook.parent)}},
        record_timing=False,
        coalesce_streams=True,
    ).execute()
    # The kernel's description differs between Python versions.
    content.metadata["language_info"] = {"name": "python"}
    for cell in content.cells:
        cell.metadata.pop("execution", None)
    return content


def main() -> None:
    """Run the notebook named on the command line."""
    notebook = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else notebook
    with atomic_write(out) as file:
        nbformat.write(run(notebook), file)
    print(out)


if __name__ == "__main__":
    main()
