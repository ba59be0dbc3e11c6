#!/usr/bin/env bash
# Run the tests with torchtext 0.18, and so with torch 2.3 (the oldest supported) and numpy 1.
#
#   scripts/test_torchtext.sh                      everything but the slow tests
#   scripts/test_torchtext.sh tests/data -x        only what these arguments to pytest select
#
# Needs Python 3.10 to 3.12 (PYTHON=python3.11 chooses one). The first run installs the packages into .venv-torchtext
# (TORCHTEXT_VENV=FOLDER puts them elsewhere), 6 GB from the package index; later runs download nothing until
# setup.cfg changes.
set -euo pipefail
cd "$(dirname "$0")/.."

venv="${TORCHTEXT_VENV:-.venv-torchtext}"
stamp="$venv/.installed"
if [ ! -e "$stamp" ] || [ setup.cfg -nt "$stamp" ]; then
    [ -e "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
    # shellcheck disable=SC2086  # several flags
    "$venv/bin/python" -m pip --disable-pip-version-check install -q --no-cache-dir ${PIP_FLAGS:-} -e ".[torchtext,test-tools]"
    touch "$stamp"
fi
PATH="$(cd "$venv/bin" && pwd):$PATH"
export PATH
python -c 'import numpy, torch, torchtext, transformers
print("torch", torch.__version__, "torchtext", torchtext.__version__, "numpy", numpy.__version__, "transformers", transformers.__version__)'
if [ $# -eq 0 ]; then set -- -m "not slow"; fi
python -m pytest "$@"
