"""Done once, in the process from which the tests' trainings are forked: what each would begin with."""

import tempfile
from pathlib import Path

import pydantic
import rich.progress
import typer.main

from linker.cli.main import app
from linker.config import EXPERIMENT, load_config, resolve
from tests.helpers.training_runs import CONFIG

# Reads the sources of all components that the config names.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "config.jsonnet"
    path.write_text(CONFIG)
    resolve(EXPERIMENT, load_config(path))
typer.main.get_command(app)
rich.progress.Progress()
pydantic.TypeAdapter(int)
