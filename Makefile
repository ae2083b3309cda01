# Every target sets up what it needs and is quick when nothing changed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
export OMP_WAIT_POLICY ?= passive

.PHONY: env env-dev browser database run test lint bench experiments screenshots demo clean

env: $(VENV)/.installed
env-dev: $(VENV)/.installed-dev

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Ringfence needs Python 3.11 or newer, found " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11.")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt pyproject.toml | $(BIN)/python
	$(PIP) install -r requirements.txt
	$(PIP) install --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.installed | $(BIN)/python
	$(PIP) install -r requirements-dev.txt
	$(BIN)/python -m pip check
	touch $@

browser:
	@sh .ci/chromium

database:
	@sh .ci/postgres

run: env
	@$(BIN)/ringfence run

lint: env-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

test: env-dev browser database lint
	$(BIN)/python -m pytest -n logical --maxprocesses 4

bench: env-dev browser
	$(BIN)/ringfence bench all

experiments: env
	$(BIN)/ringfence experiments all

screenshots: env-dev browser
	$(BIN)/python -m benchmarks.screenshots

demo: env
	$(BIN)/python data/make_demo.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
