# make paper | quick | test | nightly | check | bench | docs | serve: each sets up .venv when it is missing or out of date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --no-compile  # what is used is compiled when it is first imported, which most is not
# in one process more than there are cores, since tests wait for the disk and for processes that they start
PYTEST := $(BIN)/pytest --dist=worksteal --numprocesses=$$($(BIN)/python -c 'import os; print(min(os.cpu_count(), 4) + 1)')
INPUTS := pyproject.toml constraints.txt

unexport PYTHONDONTWRITEBYTECODE

.PHONY: paper serve quick test nightly check bench docs clean

paper: $(VENV)/.paper
	$(BIN)/cutline paper

serve: $(VENV)/.serve
	test -e example.db || $(BIN)/cutline campaign create --db example.db --campaign 'can it fly' --arms examples/animals.txt \
	  --threshold 0.5 --budget 400 --target-errors 3 --question 'Can it fly?'
	$(BIN)/cutline serve --db example.db

quick: $(VENV)/.dev
	$(PYTEST) -m "not (process or postgres or docs or compile or slow)" --hypothesis-profile=quick

test: $(VENV)/.dev
	$(PYTEST)

nightly: $(VENV)/.dev
	$(PYTEST) -m hypothesis --hypothesis-profile=nightly

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.dev
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning docs docs/_build
	@echo "open docs/_build/index.html"

clean:
	rm -rf $(VENV) paper-results docs/_build

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Cutline needs Python 3.11 or newer; set PYTHON=python3.12, say") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "cannot make $(VENV); on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(INSTALL) --upgrade "pip>=25.1"

$(VENV)/.paper: $(INPUTS) | $(BIN)/python
	$(INSTALL) --constraint constraints.txt --editable '.[plot]'
	@echo "compiling the kernels, once"
	$(BIN)/cutline paper --runs 1 --out $(VENV)/compiled >/dev/null
	touch $@

$(VENV)/.serve: $(INPUTS) | $(BIN)/python
	$(INSTALL) --constraint constraints.txt --editable '.[plot,server]'
	touch $@

$(VENV)/.dev: $(INPUTS) | $(BIN)/python
	$(INSTALL) --constraint constraints.txt --editable '.[all]' --group dev
	touch $@
