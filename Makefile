# `make help` lists the targets. Everything runs in .venv, which is created on first use.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types imports tests test-slow campaign docs report clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The stamp is written last and removed first. Without it .venv is an interrupted
# install and is created again; with an outdated one only what changed is installed.
$(READY): pyproject.toml constraints.txt
	@echo "Installing into .venv (about 3 GB; 2 to 10 minutes the first time, by network) ..."
	@if [ -e $@ ]; then rm $@; else $(PYTHON) -m venv --clear .venv; fi
	@$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

setup: $(READY) ## create .venv and install everything (2 to 10 minutes, by network)

demo: $(READY) ## NER on the mini benchmark, with and without ELMo (2.5 minutes on two cores)
	@$(BIN)/python run.py task=ner

test: lint types imports tests ## lint, types, import contracts, tests and their coverage (7 minutes on two cores)

check: lint types imports ## the same, with only the tests of what changed since main (about a minute)
	@tests=$$($(BIN)/python -m tests.changed); [ -z "$$tests" ] || \
		OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal $$tests

lint: $(READY)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(READY)
	@$(BIN)/mypy

imports: $(READY)
	@$(BIN)/lint-imports

# Coverage takes about a third of the time; `make test COV=` does without it.
COV ?= 1
tests: $(READY)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal \
		$(if $(COV),--cov --cov-report=term:skip-covered)

test-slow: $(READY) ## the tests that take minutes (half an hour on two cores)
	@$(BIN)/python -m pytest -m slow

campaign: $(READY) ## kill, fill the disk, damage files: nothing may be lost (8 minutes)
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow tests/campaign

docs: $(READY) ## build the documentation site in outputs/site (half a minute)
	@$(BIN)/python -c 'import material, mkdocs, mkdocstrings' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

report: $(READY) ## write the tables and figures of results/reference, and outputs/report.html (half a minute)
	@$(BIN)/python -m elmo_bench.report.write_results
	@$(BIN)/elmo-bench report -o outputs/report.html

clean: ## remove .venv, caches and outputs; results/ stays
	rm -rf .venv cache outputs multirun .pytest_cache .mypy_cache .ruff_cache *.egg-info build
