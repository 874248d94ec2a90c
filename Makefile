# Everything a developer types. `make` alone lists the targets.
#
# Installing happens at most once per change of pyproject.toml or a requirements file: .venv/.service and .venv/.dev are
# the receipts.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
# A PyTorch wheel index, to take its CPU build or another CUDA build instead of the package index's.
TORCH_INDEX_URL ?=
TORCH_INDEX = $(if $(TORCH_INDEX_URL),--extra-index-url '$(TORCH_INDEX_URL)')

VENV := .venv
PY := $(VENV)/bin/python
# -qq: errors only. Quieter would hide them too.
PIP := $(PY) -m pip install -qq --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install run ask test test-slow test-all lint check regress regress-run regress-judged baseline rehearsal \
	image-test torture reliability lock audit sbom screenshots demo

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*  ## /  make \1\t/' | expand -t 20

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
		|| { echo 'Treeline needs Python 3.11, 3.12 or 3.13. Name it: make PYTHON=/path/to/python3.13 ...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.service: pyproject.toml requirements.lock constraints.txt | $(PY)
	@echo 'Installing into $(VENV): a few minutes the first time.' >&2
	@$(PIP) --no-deps --require-hashes -r requirements.lock
	@$(PIP) $(TORCH_INDEX) torch -c constraints.txt
	@$(PIP) --no-deps --no-build-isolation -e .
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

# What is not installed beside the rest: .venv-client, .venv-deepeval, .venv-sbom.
.venv-%/.done: requirements-%.txt | $(PY)
	@$(PY) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install -qq --disable-pip-version-check -r $<
	@touch $@

test-slow: $(VENV)/.dev .venv-client/.done .venv-deepeval/.done .venv-sbom/.done  ## run the slow tests: Ray, measurements, language models, crashes
	@$(PYTEST) -m slow

test-all: test test-slow  ## run the whole suite


lint: $(VENV)/.dev  ## format, lint, types and layers
	@$(PY) -m ruff format --check --quiet .
	@$(PY) -m ruff check --quiet .
	@$(PY) -m mypy --no-error-summary .
	@$(VENV)/bin/lint-imports

check: lint  ## lint, then the unit and conformance tests
	@$(PYTEST) -q -m 'not slow' tests/unit tests/conformance

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

# The judge judges the baseline too: figures of two judges do not compare. A baseline keeps answers, not what they cite.
JUDGE_FAMILIES := nuggets_judged key_points
JUDGED_BY_JUDGE := judged_vital_recall judged_nugget_recall key_point_recall key_points_contradicted
JUDGE = $(PY) -m eval score --judge $(addprefix --family ,$(JUDGE_FAMILIES))

regress-judged: $(VENV)/.dev  ## the same by a judge: RAG_JUDGE__BASE_URL=http://.../v1 RAG_JUDGE__MODEL=NAME
	@rm -rf $(REGRESS)-judged && mkdir -p $(dir $(REGRESS)) && cp -r eval/baselines/sample $(REGRESS)-judged
	@$(JUDGE) $(REGRESS)-judged >/dev/null
	@$(MAKE) --no-print-directory regress-run
	@$(JUDGE) $(REGRESS)/run >/dev/null
	@$(PY) -m eval compare $(REGRESS)-judged $(REGRESS)/run --min-difference $(LOSS) \
		$(addprefix --fail-on ,$(JUDGED_BY_JUDGE))

baseline: regress-run  ## ask the sample questions, show what changed, and keep it as the baseline
	@$(PY) -m eval baseline $(REGRESS)/run

rehearsal: $(VENV)/.dev  ## what the competition would see of a service: make rehearsal URL=http://... QUESTIONS=FILE [N=150]
	@$(PY) -m eval check-run $(URL) $(QUESTIONS) $(if $(N),--limit $(N))

# Twenty minutes or so. What could not be tried here is named in the sheet.
reliability: export FUZZ_CASES ?= 5000
reliability: $(VENV)/.dev  ## try every fault of the sheet, and write reference/reliability.json and its table
	@mkdir -p var
	-@$(PYTEST) -q -m fault --junitxml=var/reliability.xml
	@$(PY) -m tests.faults var/reliability.xml

# About an hour. Any failing case is printed with the command that repeats it.
torture: $(VENV)/.dev  ## kill ingestions and make them fail at every point, 200 times at random
	@$(PY) -m tests.torture --json var/torture.json

image-test: $(VENV)/.dev  ## build the image and a submission without an engine and try them offline (root, Debian)
	@.ci/image-test

# The same on every machine: for x86_64, with the hashes of every file of a version, aarch64's among them.
lock: | $(PY)  ## regenerate requirements.lock after a change of requirements*.txt or constraints.txt
	@$(PIP) uv -c constraints.txt
	@$(VENV)/bin/uv pip compile --quiet requirements.txt requirements-models.txt -c constraints.txt \
		--generate-hashes --python-version 3.11 --python-platform linux --no-annotate \
		--custom-compile-command 'make lock' --output-file requirements.lock

# Where the package index's list of vulnerabilities is not reached, this fails: nothing was audited.
audit: $(VENV)/.dev  ## ask for known vulnerabilities of all packages (needs the package index's API)
	@$(VENV)/bin/uv tool run --quiet pip-audit==2.10.1 --strict --disable-pip --no-deps \
		--requirement constraints.txt --requirement requirements-models.txt $$($(PY) -m supply_chain.audit)

screenshots: $(VENV)/.dev  ## take the pictures of the page in docs/ again
	@$(PY) -m tests.screenshots

# npm brings what draws the recording.
demo: $(VENV)/.dev  ## record answers in the terminal again, for docs/demo.svg
	@$(PY) -m tests.demo
	@npx --yes svg-term-cli@2.1.1 --in var/demo.cast --out docs/demo.svg --window

sbom: .venv-sbom/.done  ## list what the image installs as CycloneDX, in var/sbom.json
	@mkdir -p var
	@.venv-sbom/bin/cyclonedx-py requirements requirements.lock --output-reproducible --output-file var/sbom.json
	@echo 'var/sbom.json'
