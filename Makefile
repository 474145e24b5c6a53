#: quick - make everything at quick scale (the default)
#: paper - make everything at full scale
#: test - run linters and tests, without the long ones
#: test-long - run the long tests
#: test-slurm - run the tests on a private Slurm cluster
#: bench - time the kernels and compare with the saved times
#: mutants - run mutation tests
#: crate - pack a finished run as one zip file
#: docs - build the documentation
#: readme - write the results in README.md and docs/ from results/paper
#: environment - install the locked versions in .venv
#: help - list these targets
#
# `make` regenerates everything at scale quick, `make paper` at the published size. `make test` runs the tests, but for
# the long ones, which `make test-long` runs, and those of the Slurm profile, which `make test-slurm` runs on a private
# Slurm cluster. `make mutants` runs mutation tests (CONTRIBUTING.md).
# `make crate` packs a finished run, `make docs` makes the documentation of the library.
# Needs Python 3.11 or newer and git. The environment lives in .venv, in the versions that uv.lock holds.
PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
UV_VERSION := 0.13.8
VENV := .venv
RUN := $(VENV)/bin
SNAKEMAKE := $(RUN)/snakemake --cores $(CORES)
PYTEST := $(RUN)/pytest -n $(CORES) --dist loadfile --no-loadscope-reorder
UV_SYNC := VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(RUN)/uv sync --frozen --inexact --active --quiet --python "$(CURDIR)/$(RUN)/python"
SYNC_WHOLE = again=; test ! -e $(VENV)/.syncing || again=--reinstall; \
	touch $(VENV)/.syncing && $(UV_SYNC) $(SYNC_GROUPS) $$again && rm $(VENV)/.syncing && { $(COMPILE) || true; }
# Python compiles a module where it is imported, for each process anew if it may not write. Here all are compiled but
# packages' own tests and some packages that no run imports.
COMPILE := $(RUN)/python -m compileall -qq -j $(CORES) -p "$(CURDIR)" $(VENV)/lib \
	-x '/(tests?|pip|setuptools|pkg_resources|statsmodels|formulaic|patsy|rdflib|pyshacl|rocrate_validator|prompt_toolkit|pypdf)/'

.PHONY: help readme quick paper test test-long test-slurm lint bench mutants crate docs environment environment-slurm environment-mutants clean
.DEFAULT_GOAL := quick

quick: environment
	$(SNAKEMAKE) --logger rich --configfile config/quick.yaml
	@echo "report: $(CURDIR)/results/quick/report.html"
	@echo "ledger: $(CURDIR)/results/quick/ledger.csv"

paper: environment
	$(SNAKEMAKE) --logger rich
	@echo "report: $(CURDIR)/results/paper/report.html"
	@echo "ledger: $(CURDIR)/results/paper/ledger.csv"

test: environment lint
	$(PYTEST) -m "not long"

test-long: environment
	$(PYTEST) -m long

test-slurm: environment-slurm
	PYTHON=$(RUN)/python tests/slurm/run.sh

lint: environment
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(RUN)/snakemake --lint

# Times of the kernels, compared with those that the last `make bench` saved; fails where one is 30% slower.
COMPARED = $(if $(wildcard .benchmarks/*/*.json),--benchmark-compare --benchmark-compare-fail=min:30%)
bench: environment
	$(RUN)/pytest benchmarks -q --benchmark-group-by=name --benchmark-columns=min,median --benchmark-autosave $(COMPARED)

# A finished run as one zip file: `make crate` after `make`, `make crate SCALE=paper` after `make paper`. With extensions:
# `make crate CONFIGFILES=my.yaml`.
SCALE ?= quick
crate: environment
	$(RUN)/privarms crate --scale $(SCALE) --configfile $(CONFIGFILES)

docs: environment
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --quiet
	@echo "documentation: $(CURDIR)/build/site/index.html"

# Needs results/paper, a finished run at full scale.
readme: environment
	$(RUN)/python tools/snapshot.py results/paper

help:
	@sed -n 's/^#: /make /p' Makefile

# Mutation tests; `make mutants MODULES=mechanisms/laplace.py` for one module.
mutants: environment-mutants
	PATH="$(CURDIR)/$(RUN):$$PATH" $(RUN)/python tools/mutants.py --cores $(CORES) $(MODULES)

environment: $(VENV)/.locked

# Marks say what was broken off: an environment without a whole pip is made anew, one with half a package gets all anew.
$(VENV)/.locked: pyproject.toml uv.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "privarms needs Python 3.11 or newer; found $$($(PYTHON) --version). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@if test -e $(VENV)/.begun || ! $(RUN)/python -m pip --version >/dev/null 2>&1; then \
		rm -rf $(VENV) && mkdir $(VENV) && touch $(VENV)/.begun && $(PYTHON) -m venv $(VENV) && rm $(VENV)/.begun; \
	fi
	@$(RUN)/uv --version 2>/dev/null | grep -qwF "$(UV_VERSION)" || \
		$(RUN)/python -m pip install --quiet --ignore-installed "uv==$(UV_VERSION)"
	@$(SYNC_WHOLE)
	@touch $@

# What `snakemake --workflow-profile slurm` needs besides.
environment-slurm: environment $(VENV)/.locked-slurm

$(VENV)/.locked-slurm: SYNC_GROUPS := --group slurm
$(VENV)/.locked-slurm: $(VENV)/.locked
	@$(SYNC_WHOLE)
	@touch $@

# What `make mutants` needs besides.
environment-mutants: environment $(VENV)/.locked-mutants

$(VENV)/.locked-mutants: SYNC_GROUPS := --group mutants
$(VENV)/.locked-mutants: $(VENV)/.locked
	@$(SYNC_WHOLE)
	@touch $@

clean:
	rm -rf results logs .snakemake
