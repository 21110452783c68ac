# Everything a contributor types. Nothing but git, make and Python 3.11+ is needed before.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up

.PHONY: help setup run serve test check bench lock clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

setup: $(STAMP) ## a .venv with everything from the lock file

$(STAMP): requirements/lock.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/lock.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $(STAMP)

run: setup ## the main job: load the example conversation and show what it became
	@$(BIN)/strandline tour

serve: setup ## the HTTP server on 127.0.0.1:8377
	$(BIN)/strandline serve

test: setup ## the whole suite
	$(BIN)/python -m pytest

check: setup ## lint, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: setup ## speed side by side with the raw driver
	$(BIN)/python -m bench

lock: setup ## compile requirements/lock.txt anew (hashes, no hosts)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra postgres pyproject.toml requirements/dev.in requirements/build.in -o requirements/lock.txt

clean: ## remove what the commands above made
	rm -rf $(VENV) .strandline .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
