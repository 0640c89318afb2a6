# `make run` and `make test` are all a newcomer needs; the slow lanes are named in the README.
SHELL := /bin/sh
PY := .venv/bin/python
export PIP_CACHE_DIR := $(CURDIR)/.local/pip-cache
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run demo test check browser bench shots reliability

.venv/bin/python:
	@python3 -c 'import sys; sys.exit("Python 3.11 or later is needed; this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@echo "Creating .venv …"
	@python3 -m venv .venv

.venv/.run: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing dependencies (some minutes the first time) …"
	@.venv/bin/pip install --quiet -c constraints.txt -e .
	@touch $@

.venv/.dev: .venv/.run
	@echo "Installing what tests and checks need …"
	@.venv/bin/pip install --quiet -c constraints.txt -e '.[dev]'
	@touch $@

run: .venv/.run
	@.venv/bin/rag4c up

demo: .venv/.run
	@.venv/bin/rag4c demo

test: .venv/.dev
	@$(PY) -m pytest -q -n 2 --dist loadfile

check: .venv/.dev
	@.ci/check

bench: .venv/.dev
	@$(PY) -m benchmarks.bm25
	@$(PY) -m benchmarks.ingest
	@$(PY) -m benchmarks.handbook
	@$(PY) -m benchmarks.access
	@$(PY) -m benchmarks.ledger

.venv/.browser: .venv/.dev
	@.venv/bin/pip install --quiet -c constraints.txt -e '.[browser]'
	@touch $@

shots: .venv/.browser
	@$(PY) -m tests.browser.shots
	@$(PY) -m tests.browser.governance

reliability: .venv/.dev
	@$(PY) -m pytest -q -m slow

browser: .venv/.browser
	@$(PY) -m pytest -q -m browser tests/browser
