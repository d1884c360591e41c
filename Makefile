# Everything works in a fresh clone: each target creates .venv and installs what it needs, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The older of the two scikit-learn minor releases that the library supports.
OLDER_SKLEARN := 1.8
OLDER_VENV := .venv-sklearn-$(OLDER_SKLEARN)
# What the tests of nets are run with: the extra itself takes any newer torch. Wheels that the index
# has for this machine; PIP_TORCH=... for others.
PIP_TORCH ?= 'torch==2.13.0' 'skorch==1.4.0'
WORKERS ?= auto
# Neighboring tests on one worker, so that what a file of tests prepares is prepared once.
PYTEST := -m pytest -n $(WORKERS) --dist worksteal
# How long `make fuzz` looks for cases that go wrong; REPLAY='SUBJECT NUMBER' shows one again.
FUZZ_SECONDS ?= 300
# One thread per test worker, of BLAS and of OpenMP: more would wait for each other.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Compiled modules are kept: else every worker, and every command that tests run, compiles them again.
unexport PYTHONDONTWRITEBYTECODE
# Where `make results` keeps its records; AGAIN= goes on with a run that was stopped.
RESULTS ?= build/results
AGAIN ?= --again

.PHONY: demo test torch test-torch test-all test-older-sklearn test-older-quick coverage nightly dist \
	fuzz lint format bench bench-quick results docs clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      train a classifier from similar pairs and draw it"
	@echo "make test      run the tests (a few minutes at most)"
	@echo "make test-torch  the same with torch installed, so that the tests of nets run too"
	@echo "make test-all  slow tests too, on both supported scikit-learn releases"
	@echo "make coverage  the tests with the share of lines that they run, into coverage.json and a badge"
	@echo "make nightly   all of that: slow tests on both releases, torch, generated cases"
	@echo "make dist      wheel and sdist, built and tried in clean environments"
	@echo "make fuzz      generated cases for FUZZ_SECONDS (300), with seeds to see one again"
	@echo "make lint      ruff, mypy, the layers of the package, spelling and words"
	@echo "make bench     speed against named competitors, into benchmarks/RESULTS.md"
	@echo "make bench-quick  the same at reduced sizes, under three minutes, only shown"
	@echo "make results   the table in the README from scratch (Table 4)"
	@echo "make docs      the site in site/: pages, tutorials, gallery and API reference (a few minutes)"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "likewise needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[cli,plots]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.demo

$(VENV)/.torch: Makefile | $(VENV)/.dev
	$(BIN)/python -m pip install --quiet $(PIP_TORCH)
	@touch $@

$(OLDER_VENV)/.dev: pyproject.toml
	$(PYTHON) -m venv $(OLDER_VENV)
	$(OLDER_VENV)/bin/python -m pip install --quiet --editable '.[dev]' 'scikit-learn==$(OLDER_SKLEARN).*'
	@touch $@

demo: $(VENV)/.demo
	$(BIN)/likewise demo

test: $(VENV)/.dev
	$(BIN)/python $(PYTEST) -m 'not slow'

# Without torch the tests of nets skip; with it, `make test` runs them too.
torch: $(VENV)/.dev $(VENV)/.torch
	$(BIN)/python -c 'import torch, skorch'

test-torch: torch
	$(MAKE) test

test-all: $(VENV)/.dev
	$(BIN)/python $(PYTEST)
	$(MAKE) test-older-sklearn

test-older-sklearn: $(OLDER_VENV)/.dev
	$(OLDER_VENV)/bin/python $(PYTEST)

test-older-quick: $(OLDER_VENV)/.dev
	$(OLDER_VENV)/bin/python $(PYTEST) -m 'not slow'

# At least 95 % of lines; the slow tests are not needed for it.
coverage: $(VENV)/.dev
	rm -f .coverage .coverage.*
	$(BIN)/python -m coverage run $(PYTEST) -m 'not slow'
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage json --quiet
	$(BIN)/python .ci/badge.py coverage.json .github/coverage.svg
	$(BIN)/python -m coverage report --fail-under=95

nightly: torch
	$(MAKE) test-all
	$(MAKE) fuzz

dist: $(VENV)/.dev
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python .ci/check_dist.py dist

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz $(if $(REPLAY),--replay $(REPLAY),--seconds $(FUZZ_SECONDS) $(FUZZ_ARGS))

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell -D docs/_style/words.txt -D - README.md CHANGELOG.md CONTRIBUTING.md ARCHITECTURE.md SECURITY.md docs examples

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.dev
	env -u OPENBLAS_NUM_THREADS -u OMP_NUM_THREADS $(BIN)/python -m benchmarks

bench-quick: $(VENV)/.dev
	env -u OPENBLAS_NUM_THREADS -u OMP_NUM_THREADS $(BIN)/python -m benchmarks --quick

# Needs the paper's datasets, see README.md. Seeds are those of the experiment's plan.
results: $(VENV)/.dev
	$(BIN)/likewise reproduce benchmark --out $(RESULTS) $(AGAIN)
	$(BIN)/python docs/results/make.py --pack $(RESULTS) --declare

# Tutorials and gallery are run; a warning is an error. The reference of nets needs torch.
docs: $(VENV)/.docs $(VENV)/.torch
	$(BIN)/sphinx-build -W --keep-going -q -b html docs site

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

clean:
	rm -rf $(VENV) $(OLDER_VENV) .pytest_cache .mypy_cache .ruff_cache .coverage* coverage.json dist
