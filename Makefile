# Finds a Python >= 3.12 by itself; everything lives in .venv.
VENV := .venv
BIN  := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help install demo check test accept gnpy bench golden schema readme calibrate report clean

help:  ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/dcplan: pyproject.toml find-python.sh
	@python=$$(sh find-python.sh) && $$python -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: $(BIN)/dcplan  ## create .venv and install dcplan with its tools

demo: install  ## plan topologies/two-campus.yaml and print its report
	@$(BIN)/dcplan plan topologies/two-campus.yaml

check: install  ## ruff, mypy strict, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

test: install  ## the whole suite
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not accept'

# SNDlib's files carry no licence and do not ship: make accept SNDLIB=folder-with-polska.txt-and-others
accept: install  ## long proofs and accuracy on all records; SNDLIB=folder adds published optima
	@$(BIN)/python -m pytest -m accept -s

# GNPy is never a dependency: it has a Python (3.11 or 3.12) and an environment of its own.
.venv-gnpy/bin/gnpy-transmission-example: find-python.sh
	@python=$$(sh find-python.sh 3.12 3.11) && $$python -m venv .venv-gnpy
	@.venv-gnpy/bin/python -m pip install --quiet --disable-pip-version-check gnpy
	@touch $@

gnpy: .venv-gnpy/bin/gnpy-transmission-example  ## install GNPy into .venv-gnpy, to compare with

bench: install gnpy  ## searches of plans, designs beside the plain ILP, light beside GNPy, lightpaths of 100 sites
	@$(BIN)/python -m tests.bench

golden: install  ## rewrite golden files; read the diff before committing
	@$(BIN)/python -m pytest -m 'not accept' --update

schema: install  ## rewrite dcplan.schema.json and plan.schema.json
	@$(BIN)/dcplan schema topology -o dcplan.schema.json --force
	@$(BIN)/dcplan schema plan -o plan.schema.json --force

readme: install  ## rewrite the output that the README quotes
	@$(BIN)/python -m tests.readme_blocks

calibrate: install  ## fit the calibrations anew on the runs that they name; read the diff before committing
	@$(BIN)/python -m tests.calibrate

report: install  ## render the report of every shipped topology to stdout
	@for file in topologies/*.yaml; do $(BIN)/dcplan plan $$file || exit $$?; done

clean:  ## remove .venv and caches
	rm -rf $(VENV) .venv-gnpy .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist
