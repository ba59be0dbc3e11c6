# Two commands on a fresh machine: `make demo` and `make test`. Everything lives in .venv.
# On Linux without a GPU, spare yourself the CUDA build of torch: `make demo` prints how.
PYTHON ?= python3
VENV ?= .venv
PIP_FLAGS ?=
RUN ?= runs/quickstart
NOTEBOOK ?=
CAMPAIGNS ?=
OUT ?=
# Processes of the tests, one more than cores, since tests also wait; how tests are given to them: tests/conftest.py.
PROCESSES ?= 3
PARALLEL := -n $(PROCESSES) --dist loadgroup
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
PIP := $(BIN)/python -m pip --disable-pip-version-check install $(PIP_FLAGS) -c constraints.txt
CPU := --extra-index-url https://download.pytorch.org/whl/cpu
SIZE := about 550 MB to download, some minutes
ifeq ($(shell uname)$(PIP_FLAGS),Linux)
SIZE := 2 GB or more to download, with CUDA; without a GPU, stop and type: make $(MAKECMDGOALS) PIP_FLAGS='$(CPU)' (550 MB)
endif

# The native CPU kernels, compiled again when their sources change. Without a C++ compiler a line says so, and all else works.
LIBRARY := linker/modules/kernels/liblinker.so

.PHONY: demo test test-slow reliability test-torchtext test-minimum test-newest coverage lint format docs notebook gpu wheels clean

# With what the commands in the README need: serve (web), corpus.
$(VENV)/.installed: setup.cfg pyproject.toml constraints.txt
	@echo "Installing linker into $(VENV): $(SIZE)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[web,corpus]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) -q -e '.[dev]'
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(PIP) -q -e '.[docs]'
	touch $@

$(LIBRARY): setup.py $(wildcard linker/modules/kernels/cpp/*) | $(VENV)/.installed
	$(BIN)/python setup.py -q build_ext --inplace

demo: $(VENV)/.installed $(LIBRARY)
	$(BIN)/linker train configs/quickstart.jsonnet --out $(RUN) --overwrite
	$(BIN)/linker evaluate --model best $(RUN) --articles data/articles.jsonl --posts data/posts.jsonl --split dev
	$(BIN)/linker rank --article data/wolf.html --posts data/posts.jsonl --top 5
	@printf '%s\n' '' "next: source $(BIN)/activate" \
	  '      linker rank --article URL --posts YOUR_POSTS.csv --out ranking.html --explain' \
	  '      linker serve                                  # label posts in the browser, alone or with others' \
	  '      linker train configs/minilm/finetune.jsonnet  # fine-tune the model on links, here those of the sample'

test: lint $(LIBRARY)
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow or notebook"

test-slow: $(VENV)/.installed-dev $(LIBRARY)
	$(BIN)/python -m pytest -m "slow and not notebook"

# Campaigns that try to make linker lose, hang or leak, the short form; Linux only.
reliability: $(VENV)/.installed-dev $(LIBRARY)
	$(BIN)/python -m tests.reliability $(CAMPAIGNS)

# The tests with torchtext 0.18, and so with torch 2.3, in .venv-torchtext; TESTS="tests/data -x" runs only these.
test-torchtext:
	PYTHON="$(PYTHON)" PIP_FLAGS="$(PIP_FLAGS)" scripts/test_torchtext.sh $(TESTS)

# The oldest versions that setup.cfg allows, and the newest that exist; without the corpus, which needs numpy 2.
test-minimum:
	$(PYTHON) -m venv .venv-minimum
	$(PYTHON) scripts/minimum_versions.py setup.cfg > .venv-minimum/constraints.txt
	.venv-minimum/bin/python -m pip --disable-pip-version-check install -q $(PIP_FLAGS) -c .venv-minimum/constraints.txt -e '.[test-tools]'
	.venv-minimum/bin/python -m pytest $(PARALLEL) -m "not slow" $(TESTS)

test-newest:
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip --disable-pip-version-check install -q $(PIP_FLAGS) --upgrade --upgrade-strategy eager -e '.[test]'
	.venv-newest/bin/python -m pytest $(PARALLEL) -m "not slow" $(TESTS)

# Fails below the floor in pyproject.toml; htmlcov/index.html shows which lines no test runs.
coverage: $(VENV)/.installed-dev $(LIBRARY)
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow" --cov --cov-report=term:skip-covered --cov-report=html

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -n auto
ifeq ($(OS),Windows_NT)
	$(BIN)/mypy --platform win32 linker
endif
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m scripts.components --check
	$(BIN)/python scripts/option_tables.py --check
	$(BIN)/python -m scripts.lint
	$(BIN)/python scripts/budgets.py

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The documentation site, in build/site; warnings are errors. Needs Python 3.11 or newer, and no network.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -E -q -W --keep-going -b html -c docs . build/site

# Runs all notebooks and stores their outputs; NOTEBOOK=FILE: one of them, OUT=FILE: into another file.
notebook: $(VENV)/.installed-dev $(LIBRARY)
	$(BIN)/python scripts/run_notebook.py $(NOTEBOOK) $(OUT)

# Checks and measures on a GPU, in ten minutes; without one: make gpu GPU_FLAGS=--rehearse
gpu: $(VENV)/.installed-dev $(LIBRARY)
	$(BIN)/python -m benchmarks.gpu $(GPU_FLAGS)

# For Linux, macOS and Windows, on one machine; see the script.
wheels:
	$(PYTHON) scripts/build_wheels.py

clean:
	rm -rf $(VENV) .venv-torchtext .venv-minimum .venv-newest htmlcov .coverage $(LIBRARY) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
