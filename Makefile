# The face of the project. `make demo` installs what is missing, builds, and runs the main job; `make test` passes every
# test. `make help` lists the rest.
BUILD ?= build/dev
PYTHON ?= python3
FUZZ_SECONDS ?= 60
VENV := .venv
PRESET := $(notdir $(BUILD))
# Two compilers at a time where memory or cores are few; all cores elsewhere.
JOBS ?= $(shell nproc)
# The extension of a wheel, so that a compiler cache serves both.
WITH_PYTHON := -DRANKTREE_PYTHON=ON -DRANKTREE_PYTHON_BACKEND=ON -DPython_EXECUTABLE="$(CURDIR)/$(VENV)/bin/python"
WITH_MPI := "-DRANKTREE_MPIS_EXTRA=$$(cat .mpis.list 2>/dev/null)"
# Three files of tests at a time: two cores have nothing to do for a third of the time with two of them.
PYTEST ?= -q -rs -n 3 --dist loadfile --no-loadscope-reorder
RUN_PYTEST := RANKTREE_COMMAND="$(CURDIR)/$(BUILD)/bin/ranktree" $(VENV)/bin/python -m pytest
# Labels of pyproject.toml.
QUICK := smoke or not (launch or wheel or cluster or browser or simgrid or slow)

.PHONY: help setup mpis configure build demo test test-quick lint docs fuzz soak mpi4py asan build-asan tsan nompi bench-gate bench-trace bench-split bench-reorder bench-distributed bench-place \
  bench-collect bench-regret bench-predict bench-simulate bench-scale bench-time bench-applications papers papers-fig papers-list install wheel test-wheel sdist test-sdist deb test-deb test-recipes test-packages clean

help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make setup        install the Debian packages and Python tools that are missing
setup: $(VENV)/ready
$(VENV)/ready: pyproject.toml tools/setup.sh
	tools/setup.sh "$(PYTHON)" $(VENV)
	@touch $@

## make mpis         install Open MPI 5, MPICH 5 and Intel MPI from their wheels into .mpis (435 MB), for the tests
mpis: setup
	PYTHON="$(PYTHON)" tools/mpis.sh >.mpis.list || echo "make mpis: tests of what is missing are skipped"

## make build        build everything into BUILD (build/dev)
build: configure
	cmake --build $(BUILD) --parallel $(JOBS)
configure: setup
	cmake --preset $(PRESET) $(WITH_PYTHON) $(WITH_MPI)

## make demo         trace, map and rerun `rings` on an emulated cluster of 4 nodes x 4 ranks
demo: configure
	cmake --build $(BUILD) --parallel $(JOBS) --target ranktree_demo
	$(VENV)/bin/python tools/demo.py --build $(BUILD)

## make test         every test: C++ by ctest, commands and MPI runs by pytest (a quarter to half an hour on 2 cores, see CONTRIBUTING.md)
test: mpis
	$(MAKE) build
	ctest --test-dir $(BUILD) --output-on-failure --parallel 2
	$(RUN_PYTEST) $(PYTEST) tests || { [ $$? = 1 ] || exit; echo "make test: once more, one at a time: the tests that failed"; \
	  $(RUN_PYTEST) -q -rs --last-failed --last-failed-no-failures none tests; }

## make test-quick   C++ tests, Python tests that launch no MPI, and one launch of each stage (3 minutes)
test-quick: build
	ctest --test-dir $(BUILD) --output-on-failure --parallel 2
	$(RUN_PYTEST) $(PYTEST) -m "$(QUICK)" tests

## make lint         formats, limits, layers, generated code, static analysis
lint: setup
	cmake --preset dev -B build/lint -DCMAKE_UNITY_BUILD=OFF $(WITH_PYTHON) $(WITH_MPI) >/dev/null
	$(VENV)/bin/python tools/lint.py --build build/lint

## make docs         the site, into build/docs; warnings are errors. No network is used once Sphinx is installed
docs: setup
	@$(VENV)/bin/python -c "import furo, myst_parser, sphinx" 2>/dev/null || $(VENV)/bin/python -m pip install -q \
	  --disable-pip-version-check $$($(VENV)/bin/python -c \
	  "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'])")
	$(VENV)/bin/python tools/docs/generate.py
	$(VENV)/bin/python -m sphinx -q -W --keep-going -n -b html docs build/docs
	@echo "docs: build/docs/index.html"

## make fuzz         every reader, and writers; FUZZ_SECONDS (60) each, under ASan and UBSan
fuzz: build-asan
	$(VENV)/bin/python tools/fuzz.py --build build/asan --seconds $(FUZZ_SECONDS)

## make soak         10 minutes for each of Debian's MPIs: random programs, kills, full disks; then 10^6 collectives, 12,000 reorders (root)
soak: build
	SOAK_SECONDS=600 $(RUN_PYTEST) -q -m "not wheel" -k "soak or many_reorders" tests/pmpi/test_soak.py tests/reorder/test_reorder_calls.py

## make mpi4py       all of mpi4py's tests, bare and under every library, on 1 to 3 ranks of each of Debian's MPIs (needs the package index)
mpi4py: build
	MPI4PY_SUITE=1 $(RUN_PYTEST) -q tests/pmpi/test_mpi4py_suite.py

## make asan         the C++ tests under ASan and UBSan
asan: build-asan
	ctest --preset asan --parallel 2
build-asan: setup
	cmake --preset asan
	cmake --build build/asan --parallel $(JOBS)

## make tsan         shared memory, with threads as ranks, under TSan (which needs the same addresses in each run)
tsan: setup
	cmake --preset tsan
	cmake --build build/tsan --parallel $(JOBS) --target test_shared
	$$(setarch -R true 2>/dev/null && echo setarch -R) build/tsan/bin/test_shared --gtest_brief=1

## make nompi        build and test core, io, hw, Python and the command line where no MPI can be seen
# Without the long tests of objects that `make build` compiles by the same commands, and with those tests of commands
# that an MPI could matter to: `make test` runs all, with MPIs.
nompi: setup
	tools/without_mpi.sh $(MAKE) nompi-inside
nompi-inside:
	cmake --preset nompi $(WITH_PYTHON)
	cmake --build build/nompi --parallel $(JOBS)
	ctest --preset nompi --parallel 2 --exclude-regex '^(place_[0-9]+|schedule|shared)$$'
	RANKTREE_COMMAND="$(CURDIR)/build/nompi/bin/ranktree" $(VENV)/bin/python -m pytest $(PYTEST) -m "$(QUICK)" \
	  tests/topo tests/pattern tests/place \
	  $(foreach test,bench_instances map_input peers point_to_point quality,--ignore=tests/place/test_$(test).py)

## make bench-gate  performance that noise cannot tip (instructions, costs, bytes) beside bench/gate/table.csv, in a minute
bench-gate: build
	$(VENV)/bin/python bench/gate/run.py --build $(BUILD)

## make bench-trace  cost of tracing one send: native, empty wrapper, ours, Open MPI's monitoring
bench-trace: build
	$(VENV)/bin/python bench/trace/run.py --build $(BUILD)

## make bench-split  cost of one level beside MPI_Comm_split and the MPI's own split types, 2 to 16 ranks
bench-split: mpis
	$(MAKE) build
	$(VENV)/bin/python bench/split/run.py --build $(BUILD)

## make bench-reorder  what reordering brings on emulated clusters: each MPI's own beside ours, time and bytes by order
bench-reorder: mpis
	$(MAKE) build
	$(VENV)/bin/python bench/reorder/run.py --build $(BUILD)

## make bench-distributed  reordering without a centre: cost beside the centre's, and what one of 16,384 ranks holds
bench-distributed: build
	$(VENV)/bin/python bench/distributed/quality.py $(BUILD) --limit 4096
	$(BUILD)/bin/distributed-fibers 16 32 32 4096 128

## make bench-place  the placement engine beside METIS, Scotch, KaHIP: cost, seconds, two pictures for docs (more than an hour)
bench-place: build
	$(VENV)/bin/python -m pip install -q --disable-pip-version-check -r bench/place/requirements.txt
	$(VENV)/bin/python bench/place/run.py --build $(BUILD) --large --dense --patterns
	$(VENV)/bin/python bench/place/run.py --build $(BUILD) --relabel 3
	$(VENV)/bin/python bench/place/run.py --build $(BUILD) --threads 2
	$(VENV)/bin/python bench/place/report.py --tables
	$(VENV)/bin/python bench/place/plot.py

## make bench-collect  collectives beside each MPI's own: bytes, times, auto, MPICH 5, SUMMA (70 minutes, alone)
bench-collect: mpis
	$(MAKE) build
	-$(VENV)/bin/python bench/collect/run.py --build $(BUILD)
	$(VENV)/bin/python bench/collect/report.py --write docs/benchmarks/collectives.md

## make bench-regret  whole programs under --collectives auto beside native runs, idle and loaded, and the rule's errors
bench-regret: build
	-$(VENV)/bin/python bench/regret/run.py --build $(BUILD) --results bench/regret/results.csv
	-$(VENV)/bin/python bench/regret/run.py --build $(BUILD) --results bench/regret/results.csv --load 2
	$(VENV)/bin/python bench/regret/tables.py --write docs/benchmarks/whole-programs.md
	$(BUILD)/bin/regret_replay bench/regret/samples.csv

## make bench-predict  predicted beside measured times of collectives on an emulated cluster (5 minutes)
bench-predict: build
	$(VENV)/bin/python bench/predict/run.py --build $(BUILD) --write docs/benchmarks/predictions.md

## make bench-simulate  collectives at 128 to 1,024 ranks on SimGrid, beside the models (needs Debian's simgrid)
bench-simulate: build
	$(VENV)/bin/python bench/collect/simulate.py --build $(BUILD)

## make bench-scale  the library on simulated ranks, auto beside SMPI's selectors; replayed patterns beside measured times (needs simgrid, root)
bench-scale: build
	$(VENV)/bin/python bench/scale/library.py --build $(BUILD)
	$(VENV)/bin/python bench/scale/collectives.py --build $(BUILD) --page
	$(VENV)/bin/python bench/scale/replay.py --build $(BUILD) --tie 0.05

## make bench-time   do the objectives order placements as measured times do? (root, alone; measures what results.csv lacks)
bench-time: build
	$(VENV)/bin/python bench/time/run.py --build $(BUILD)
	$(VENV)/bin/python bench/time/report.py --build $(BUILD) --write docs/benchmarks/objectives.md

## make bench-applications  unchanged applications with Ranktree: right results, times, bytes (root, Debian's packages, alone)
bench-applications: build
	$(VENV)/bin/python bench/applications/run.py --build $(BUILD)

## make papers       the papers' figures by simulation, and their pages in docs/papers; continues where it stopped (needs simgrid)
papers: build
	$(VENV)/bin/python bench/papers/run.py --build $(BUILD)

## make papers-fig   one figure: NAME=hier-bcast-2014-figure-12, simulated anew
papers-fig: build
	$(VENV)/bin/python bench/papers/run.py --build $(BUILD) --only $(NAME) --again

## make papers-list  the figures, the CPU seconds that each takes, and which rows are there
papers-list:
	@$(PYTHON) bench/papers/run.py --list

## make install      install the C library and the preload libraries (PREFIX=/usr/local)
# The backend is a package of PyPI, which the installed command must not need.
install: WITH_PYTHON += -DRANKTREE_PYTHON_BACKEND=OFF
install: build
	cmake --install $(BUILD) --prefix $(or $(PREFIX),/usr/local)

## make wheel        one wheel for every MPI and every Python from 3.11 on, into dist (docs/how-to/install.md)
wheel: mpis
	PYTHON=$(VENV)/bin/python packaging/wheel.sh

## make test-wheel   install and run that wheel in a clean Debian root without a compiler (needs root and debootstrap)
test-wheel: wheel
	PYTHON=$(VENV)/bin/python packaging/test_pip.sh dist/*.whl

## make sdist        the source package, into dist
sdist: setup
	$(VENV)/bin/python -c "from scikit_build_core.build import build_sdist; build_sdist('dist')"

## make test-sdist   install it in a clean Debian root with a compiler; doctor --build there, from the wheel (needs root and debootstrap)
test-sdist: wheel sdist
	PYTHON=$(VENV)/bin/python packaging/test_pip.sh dist/*.whl dist/ranktree-*.tar.gz

## make deb          Debian packages for Open MPI and MPICH, into dist (needs debhelper, dh-python, python3-numpy, python3-rich)
deb: setup
	PYTHON=$(VENV)/bin/python packaging/deb.sh

## make test-deb     lintian, then install, run and purge those packages in a clean Debian root (needs root and debootstrap)
test-deb: deb
	packaging/test_deb.sh dist

## make test-recipes  EasyBuild's and hadolint's checks of the recipes in packaging (needs environment-modules)
test-recipes:
	PYTHON="$(PYTHON)" packaging/test_recipes.sh

## make test-packages  test-wheel, test-sdist, test-deb and test-recipes, as tests (what they need: docs/how-to/install.md)
test-packages: setup
	$(RUN_PYTEST) -v -m packages tests/install/test_packages.py

clean:
	rm -rf build dist $(VENV) .mpis .mpis.list
