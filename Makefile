#: tiny - try everything with a few very short runs; the numbers mean nothing
#: quick - make everything at quick scale (the default)
#: paper - make everything at full scale
#: data - fetch and verify the raw data files
#: test - run linters and all tests except the long ones
#: test-long - run the long tests
#: test-slurm - run the tests on a private Slurm cluster
#: test-sge - run the tests on a private Grid Engine
#: bench - time the kernels and compare with the saved times
#: mutants - run mutation tests
#: crate - pack a finished run as one zip file (SCALE=quick, the default, SCALE=tiny or SCALE=paper)
#: docs - build the documentation in build/site
#: readme - write the results in README.md and docs/ from results/paper
#: environment - install the locked versions in .venv
#: environment-slurm - also install what a Slurm cluster needs
#: environment-generic - also install what Grid Engine needs
#: environment-mutants - also install what the mutation tests need
#: lint - run the linters
#: clean - delete results, logs and Snakemake's records
#: help - list these targets
#
# You need Python 3.11 to 3.14. Most targets first install the versions of uv.lock in .venv.
# CONTRIBUTING.md explains the mutation tests.
PYTHON ?= python3
# The processors that this process may use: those of its affinity (nproc; not on macOS), and at most a container's limit of
# time (LIMIT; versions 2 and 1 of cgroups). nproc would take OMP_NUM_THREADS for a number of processors.
CORES ?= $(shell { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; \
	cat $(LIMIT) 2>/dev/null; } | awk -v RS= '{n = $$1; if ($$2 + 0 > 0) {q = int(($$2 + $$3 - 1) / $$3); if (q < n) n = q} print n}')
LIMIT := $(addprefix /sys/fs/cgroup/,cpu.max cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us)
UV_VERSION := 0.13.8
VENV := .venv
RUN := $(VENV)/bin
# Progress bars on a terminal; elsewhere, such as in a log, Snakemake's own lines "N of M steps".
LOGGER = $(shell test -t 2 && echo --logger rich)
SNAKEMAKE = $(RUN)/snakemake --cores $(CORES) $(LOGGER)
PYTEST := $(RUN)/pytest -n $(CORES) --dist loadfile --no-loadscope-reorder
UV_SYNC := VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(RUN)/uv sync --frozen --inexact --active --quiet --python "$(CURDIR)/$(RUN)/python"
SYNC_WHOLE = again=; test ! -e $(VENV)/.syncing || again=--reinstall; \
	touch $(VENV)/.syncing && $(UV_SYNC) $(SYNC_GROUPS) $$again && rm $(VENV)/.syncing && { $(COMPILE) || true; }
# Python compiles modules at import, again in each process if it cannot write the result. This compiles all modules in
# advance, except tests of packages and packages that no run imports.
COMPILE := $(RUN)/python -m compileall -qq -j $(CORES) -p "$(CURDIR)" $(VENV)/lib \
	-x '/(tests?|pip|setuptools|pkg_resources|statsmodels|formulaic|patsy|rdflib|pyshacl|rocrate_validator|prompt_toolkit|pypdf)/'

.PHONY: help readme tiny quick paper data test test-long test-slurm test-sge lint bench mutants crate docs environment environment-slurm environment-generic environment-mutants clean
.DEFAULT_GOAL := quick

quick: environment
	$(SNAKEMAKE) --configfile config/quick.yaml
	@echo "report: $(CURDIR)/results/quick/report.html"
	@echo "ledger: $(CURDIR)/results/quick/ledger.csv"

tiny: environment
	$(SNAKEMAKE) --configfile config/tiny.yaml
	@echo "report: $(CURDIR)/results/tiny/report.html"

# Snakemake repeats its check of all waiting jobs once per timespan for each job that ended, and waits for the last check
# when it exits. A longer timespan than that of the profile saves some minutes of a long run.
paper: environment
	$(SNAKEMAKE) --max-jobs-per-timespan 1000/30s
	@echo "report: $(CURDIR)/results/paper/report.html"
	@echo "ledger: $(CURDIR)/results/paper/ledger.csv"

data: environment
	$(RUN)/privarms data

test: environment lint
	$(PYTEST) -m "not long"

test-long: environment
	$(PYTEST) -m long

test-slurm: environment-slurm
	PYTHON=$(RUN)/python tests/clusters/run.sh slurm

test-sge: environment-generic
	PYTHON=$(RUN)/python tests/clusters/run.sh sge

lint: environment
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(RUN)/snakemake --lint
	$(RUN)/lint-imports
	$(RUN)/pyright --pythonpath $(RUN)/python
	$(RUN)/python tools/language.py

# Compare kernel times with those that the last `make bench` saved. It fails if a kernel is 30% slower.
COMPARED = $(if $(wildcard .benchmarks/*/*.json),--benchmark-compare --benchmark-compare-fail=min:30%)
bench: environment
	$(RUN)/pytest benchmarks -q --benchmark-group-by=name --benchmark-columns=min,median --benchmark-autosave $(COMPARED)

# Run `make crate` after `make`, `make crate SCALE=paper` after `make paper`, and `make crate CONFIGFILES=my.yaml` after a
# run with extensions.
SCALE ?= quick
crate: environment
	$(RUN)/privarms crate --scale $(SCALE) --configfile $(CONFIGFILES)

docs: environment
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --quiet
	@echo "documentation: $(CURDIR)/build/site/index.html"

# This needs results/paper, a finished run at full scale.
readme: environment
	$(RUN)/python tools/snapshot.py results/paper

help:
	@sed -n 's/^#: /make /p' Makefile

# `make mutants MODULES=mechanisms/laplace.py` tests one module, `make mutants SAMPLE=10` ten mutants of each module.
mutants: environment-mutants
	PATH="$(CURDIR)/$(RUN):$$PATH" $(RUN)/python tools/mutants.py --cores $(CORES) $(SAMPLE:%=--sample %) $(MODULES)

environment: $(VENV)/.locked

# Marker files record an interrupted installation. If pip is incomplete, the environment is built again. If a package is
# incomplete, all packages are installed again.
$(VENV)/.locked: pyproject.toml uv.lock
	@found=$$($(PYTHON) -c 'import platform; print(platform.python_version())' 2>/dev/null); case "$$found" in 3.1[1-4].*) ;; *) \
		echo "privarms needs Python 3.11 to 3.14; $(PYTHON) is $${found:-missing}. Choose another: make PYTHON=python3.13" >&2; exit 1 ;; esac
	@if test -e $(VENV)/.begun || ! $(RUN)/python -m pip --version >/dev/null 2>&1; then \
		rm -rf $(VENV) && mkdir $(VENV) && touch $(VENV)/.begun && $(PYTHON) -m venv $(VENV) && rm $(VENV)/.begun; \
	fi
	@$(RUN)/uv --version 2>/dev/null | grep -qwF "$(UV_VERSION)" || \
		PIP_USER=0 PIP_TARGET= PIP_PREFIX= $(RUN)/python -m pip install --quiet --ignore-installed "uv==$(UV_VERSION)"
	@$(SYNC_WHOLE)
	@touch $@

# Additional packages for `snakemake --workflow-profile slurm`.
environment-slurm: environment $(VENV)/.locked-slurm

$(VENV)/.locked-slurm: SYNC_GROUPS := --group slurm
$(VENV)/.locked-slurm: $(VENV)/.locked
	@$(SYNC_WHOLE)
	@touch $@

# Additional packages for `snakemake --workflow-profile generic`.
environment-generic: environment $(VENV)/.locked-generic

$(VENV)/.locked-generic: SYNC_GROUPS := --group generic
$(VENV)/.locked-generic: $(VENV)/.locked
	@$(SYNC_WHOLE)
	@touch $@

# Additional packages for `make mutants`.
environment-mutants: environment $(VENV)/.locked-mutants

$(VENV)/.locked-mutants: SYNC_GROUPS := --group mutants
$(VENV)/.locked-mutants: $(VENV)/.locked
	@$(SYNC_WHOLE)
	@touch $@

clean:
	rm -rf results logs .snakemake
