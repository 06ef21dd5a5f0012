# The course's commands; a bare `make` lists them. They need make (GNU 3.81 or newer), git and Python 3.11 to 3.13.

PYTHON ?= python3
PORT ?= 8000

BIN := .venv/bin
INSTALLED := .venv/.installed

# A file whose name has a blank, such as a copy that a file manager made, is none of the course's.
CHAPTERS := $(sort $(filter chapters/%.ipynb,$(wildcard chapters/*.ipynb)))
SELECTED := $(if $(CHAPTER),chapters/$(CHAPTER).ipynb,$(CHAPTERS))
ifneq ($(filter-out $(CHAPTERS),$(SELECTED)),)
$(error There is no chapter called $(CHAPTER). The chapters are $(CHAPTERS:chapters/%.ipynb=%))
endif
BOOK_SOURCES := _config.yml _toc.yml $(CHAPTERS) \
	$(shell find book utils -type f ! -name '*.pyc' ! -path '* *' ! -path book/pdf.py ! -path book/fonts.py 2>/dev/null)

# Three processes for two processors: many tests wait for a browser. All tests of a file run in one process, since they
# share models and files.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest
IN_PARALLEL = -n $(shell $(BIN)/python -c 'import os; print(min(4, os.cpu_count() * 3 // 2))') --dist loadfile --no-loadscope-reorder
ALL_TESTS := --nbval --nbval-current-env $(CHAPTERS) chapters/studies tests utils

# Two builds, so that reading and testing do not disturb each other. What jupyter-book prints is an address that is wrong
# where a folder has blanks; warnings and errors go to the other stream.
BOOK := _build/html
TESTED := _build/tested/_build/html
BUILD := $(BIN)/jupyter-book build . --quiet >/dev/null
# Sphinx builds changed pages, but does not notice changed extensions or assets and does not remove deleted pages.
ANEW = $(filter _%.yml book/_assets/% book/_ext/% book/_templates/% utils/figures/% $(INSTALLED),$?)

# The kernel of this environment, even where the user has another one called python3.
export JUPYTER_PREFER_ENV_PATH := 1
# The settings that the user has for matplotlib elsewhere do not count here: with MPLBACKEND=agg notebooks would show no
# figures. Its list of fonts is kept with the environment, also where the home folder cannot be written.
unexport MPLBACKEND MATPLOTLIBRC
export MPLCONFIGDIR := $(CURDIR)/.venv/matplotlib
# Nor do settings for IPython, where outputs are compared or stored.
test test-all notebooks: export IPYTHONDIR := $(CURDIR)/.venv/ipython
# Text is in UTF-8 on every machine, also where the user's locale has another encoding.
export PYTHONUTF8 := 1

.DELETE_ON_ERROR:
.PHONY: help book pdf serve browser test test-all check coverage lint lab notebooks handout mark bench linkcheck links fonts clean

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

book: $(BOOK)/.built  ## make the environment and build the book; prints where it is
	@$(BIN)/python -c 'from pathlib import Path; print("The book:", Path("$(BOOK)/index.html").absolute().as_uri())'

pdf: browser book  ## print the book into one file, _build/book.pdf
	$(BIN)/python book/pdf.py $(BOOK) _build/book.pdf

serve: book  ## build the book, then serve it on this computer (PORT=8000)
	@echo "Serving on http://localhost:$(PORT)/ (stop with Ctrl-C)"
	@$(BIN)/python -m http.server $(PORT) --bind localhost --directory $(BOOK)

# The tests of the pages need a browser: this starts one, or gets one, before the book is built.
browser: $(INSTALLED)
	@$(BIN)/python tests/support/chromium.py

# CHAPTER=name tests one chapter: its notebook, its page and all its figures, in the book that was built last, with
# its changed pages built again.
test: browser lint $(if $(CHAPTER),$(TESTED)/.updated,$(TESTED)/.built)  ## run the tests, about 10 minutes (CHAPTER=name for one chapter)
ifdef CHAPTER
	$(PYTEST) --nbval --nbval-current-env $(SELECTED)
	ATTENTION_CHAPTER="$(CHAPTER)" $(PYTEST) $(IN_PARALLEL) -m "chapter and not slow" -k "$(CHAPTER)" tests
else
	$(PYTEST) $(IN_PARALLEL) -m "not slow" $(ALL_TESTS)
endif

test-all: browser lint $(TESTED)/.built  ## run all tests, about 15 minutes: also killed processes, all figures, all solutions
	$(PYTEST) $(IN_PARALLEL) $(ALL_TESTS)

check: lint  ## run before each commit: style, tests of the code without training or a browser, form of the chapters
	$(PYTEST) $(IN_PARALLEL) -m "not slow and not browser and not trains" tests utils

# Counting lines doubles the time of many tests, so they are counted here alone, without the tests of the book.
coverage: $(INSTALLED)  ## list the lines of utils that no test runs; at least 95 % must be run
	$(PYTEST) $(IN_PARALLEL) --cov=utils --cov-report=term-missing:skip-covered --cov-fail-under=95 -m "not browser" tests utils

lint: $(INSTALLED)  ## check style and formatting with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# JupyterLab shows SVG and styles only of notebooks that are trusted.
lab: $(INSTALLED)  ## open the chapters in JupyterLab
	$(BIN)/jupyter trust chapters/*.ipynb
	$(BIN)/jupyter lab chapters

# Two at a time, with one thread each: the last digits of what is trained depend on the number of threads.
# The output of a cell may be stored in several pieces; the second pass joins them.
# Figures with sliders are stored as on a page, since an ipywidgets control does not work after its kernel has ended.
notebooks: export ATTENTION_FIGURES := static
notebooks: export ATTENTION_PROGRESS :=
notebooks: export OMP_NUM_THREADS := 1
notebooks: $(INSTALLED)  ## run the chapters in place and normalise them (CHAPTER=name for one)
	@echo $(SELECTED) | xargs -n 1 -P 2 sh -ec '\
		$(BIN)/jupyter nbconvert --to notebook --execute --inplace $$0; \
		$(BIN)/jupyter nbconvert --to notebook --coalesce-streams --inplace $$0; \
		$(BIN)/nbstripout --keep-output --keep-count --keep-id --extra-keys "cell.metadata.execution \
			cell.metadata.lines_to_next_cell metadata.language_info metadata.widgets" $$0'

handout: $(INSTALLED)  ## write the chapters without solutions to _build/handout (CHAPTER=name for one)
	$(BIN)/python -m utils.exercises.handout _build/handout $(SELECTED)

mark: $(INSTALLED)  ## mark the returned notebooks in a folder: make mark DIR=returned
	$(BIN)/python -m utils.exercises.marking "$(or $(DIR),$(error name the folder: make mark DIR=returned))"

bench: $(INSTALLED)  ## measure speed, memory and the quality of translations
	@set -e; for benchmark in tests/benchmarks/*.py; do echo "== $$benchmark"; $(BIN)/python $$benchmark; done

linkcheck: $(INSTALLED)  ## check every outside link of the book (needs the network)
	$(BIN)/jupyter-book build . --builder linkcheck --path-output _build/linkcheck

links: $(INSTALLED)  ## write the links of README.md and CITATION.cff from repository.url in _config.yml
	$(BIN)/python book/_ext/publishing.py

fonts: $(INSTALLED)  ## write the fonts of the book again, after a text has got a new Chinese character
	$(BIN)/python book/fonts.py

clean:  ## remove what was built, the environment included
	rm -rf _build .venv *.egg-info .pytest_cache .ruff_cache .hypothesis .coverage*

$(BOOK)/.built: $(INSTALLED) $(BOOK_SOURCES)
	@$(if $(ANEW),rm -rf $(BOOK) _build/.doctrees)
	$(BUILD)
	@touch $@

# Sphinx repeats the warnings of a page only when it reads the page again, so the whole test builds everything again.
$(TESTED)/.built: $(INSTALLED) $(BOOK_SOURCES)
	@rm -rf _build/tested
	$(BUILD) --path-output _build/tested -W -n --keep-going
	@touch $@ $(TESTED)/.updated

$(TESTED)/.updated: $(INSTALLED) $(BOOK_SOURCES)
	@$(if $(ANEW),rm -rf _build/tested)
	$(BUILD) --path-output _build/tested -W -n --keep-going
	@touch $@

$(INSTALLED): pyproject.toml constraints.txt
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "$(PYTHON) not found: install Python 3.11 to 3.13, or name one with make PYTHON=..." >&2; exit 1; }
	@version=$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	case $$version in 3.11|3.12|3.13) ;; *) \
		echo "$(PYTHON) is Python $$version; the course needs 3.11 to 3.13: make PYTHON=python3.12" >&2; exit 1;; \
	esac
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) has no venv module: install it (Debian, Ubuntu: apt-get install python3-venv)" >&2; exit 1; }
	test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	@$(BIN)/python -c 'import matplotlib.font_manager'  # lists the fonts now: it may take long, and then it says so
	@touch $@
