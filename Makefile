# make check    install what development needs into .venv, then lint, types and tests
# make test     the tests alone
# make wheel    build the wheel into dist/
# make clean    remove what the others made

PYTHON ?= python3
BIN = .venv/bin
STAMP = .venv/installed

.PHONY: check install lint types test wheel clean

check: lint types test

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

# Two processes, and one thread of PyTorch's in each: more would wait for one another.
test: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --cov --cov-report=term-missing:skip-covered --cov-report=json:.cache/coverage.json
	$(BIN)/python tests/coverage_bars.py .cache/coverage.json

wheel: $(STAMP)
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf .venv .cache/coverage.json build dist .mypy_cache .pytest_cache .ruff_cache
