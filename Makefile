# make check      install development dependencies into .venv, then lint, type-check and run the quick tests
# make check-all  the same with the slow tests; branch coverage over both must reach the minimum
# make test       the quick tests only
# make fuzz       run the fuzzers for SECONDS=600
# make wheel      build the wheel into dist/; the same commit gives the same bytes
# make sbom       list what an installation brings with it, as CycloneDX, in dist/
# make pythons    the quick tests, from the wheel, on each of PYTHONS that is installed
# make release-check  build a release twice, compare, install it into empty environments; build/release/dist
# make checksums  write the project files, SHA256SUMS and the index of the models of this release anew
# make docs       build the documentation as a site, build/docs/site/index.html
# make labels     write the table of labels in docs/labels.md anew
# make clean      remove everything the other targets made

PYTHON ?= python3
BIN = .venv/bin
STAMP = .venv/installed
# Two processes with one PyTorch thread each; more threads would compete for the same cores.
PYTEST = OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal
COVERAGE_REPORT = .cache/coverage.json

.PHONY: check check-all install lint types test fuzz wheel sbom pythons release-check checksums docs labels clean

check: lint types test

# One run for quick and slow tests: imports, collection and the parsers that both use are paid for once.
check-all: lint types
	$(PYTEST) --cov --cov-report=term-missing:skip-covered --cov-report=json:$(COVERAGE_REPORT)
	$(BIN)/python tests/coverage_bars.py $(COVERAGE_REPORT)

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo

types: $(STAMP)
	$(BIN)/mypy

test: $(STAMP)
	$(PYTEST) -m "not slow"

SECONDS ?= 600
fuzz: $(STAMP)
	$(BIN)/python -m fuzz --seconds $(SECONDS)

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

sbom: wheel
	rm -rf .cache/sbom && $(PYTHON) -m venv .cache/sbom/tool && $(PYTHON) -m venv .cache/sbom/installed
	.cache/sbom/tool/bin/pip install --quiet --disable-pip-version-check 'cyclonedx-bom>=7'
	.cache/sbom/installed/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/headwise-*.whl
	.cache/sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file dist/headwise.cdx.json .cache/sbom/installed

PYTHONS ?= python3.11 python3.12 python3.13 python3.14 python3.14t
# Tests of what has no build for a Python yet are skipped (tests/without_extras.py), except those of what every user needs.
pythons: wheel
	for python in $(PYTHONS); do \
	    command -v $$python >/dev/null || { echo "$$python is not installed: not tested"; continue; }; \
	    bin=.cache/pythons/$$(basename $$python)/bin; rm -rf $${bin%/bin}; \
	    $$python -m venv $${bin%/bin} && $$bin/pip install --quiet dist/headwise-*.whl pytest pytest-cov pytest-xdist hypothesis || exit 1; \
	    for tool in $(TEST_TOOLS); do \
	        $$bin/pip install --quiet --only-binary :all: "$$tool" 2>/dev/null || echo "$$python: no build of $$tool"; \
	    done; \
	    echo "$$python"; PATH="$$PWD/$$bin:$$PATH" OMP_NUM_THREADS=1 $$bin/python -m pytest -p without_extras -q --numprocesses 2 \
	        -m "not slow" $(PARTS) || exit 1; \
	done
TEST_TOOLS = onnx httpx networkx mpmath starlette uvicorn prometheus-client python-multipart tokenizers pandas spacy \
    pyarrow fsspec udtools ufal.udpipe httptools uvloop resvg-py
PARTS = $(addprefix tests/,annotate cli convert evaluate integrations model render runtime serve settings text \
    treebank trees vocabulary test_document.py test_load.py test_files.py test_errors.py test_grouping.py)

release-check: $(STAMP)
	$(BIN)/python tests/check_release.py build/release --installed

checksums: $(STAMP)
	$(BIN)/python tests/write_projects.py
	mkdir -p .cache && $(BIN)/headwise models --folder models --json > .cache/index.json && mv .cache/index.json src/headwise/models/index.json
	git ls-files models src/headwise/models | grep -v SHA256SUMS | LC_ALL=C sort | xargs sha256sum > models/SHA256SUMS

docs: $(STAMP)
	rm -rf build/docs && $(BIN)/python docs/gather.py build/docs
	$(BIN)/zensical build --strict --config-file build/docs/zensical.toml

labels: $(STAMP)
	mkdir -p .cache && sed '/^| label/,$$d' docs/labels.md > .cache/labels.md
	$(BIN)/python -c 'from headwise.treebank.relations import write_glossary; print(write_glossary(), end="")' >> .cache/labels.md
	mv .cache/labels.md docs/labels.md

clean:
	rm -rf .venv .coverage $(COVERAGE_REPORT) build dist .mypy_cache .pytest_cache .ruff_cache
