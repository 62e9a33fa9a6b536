# Two commands for everybody: `make run` and `make test`. They set up what they need.

VENV := .venv
BIN := $(VENV)/bin
CODE := src tests bench conformance examples tools
# Bytecode is kept even where the environment forbids it: each worker would rewrite every test.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest

.PHONY: run test test-long test-trace test-api test-hostile mutants checklist-mutants check lint-js format bench conformance conformance-drift conformance-hook conformance-keep conformance-recall conformance-agents test-pythons dist docs clean

run: $(VENV)/.run
	@$(BIN)/plait serve --gallery examples/gallery

# Without the rules of the code, which `make check` tests. Tests wait more than they work.
test: $(VENV)/.dev
	$(PYTEST) -n 4 --ignore=tests/house

test-long: $(VENV)/.dev
	HYPOTHESIS_PROFILE=long $(PYTEST) -n 2 -m "long or not long" -rs

# A part of the tests on every supported Python of this machine: ARGS=tests for all of them.
test-pythons: $(VENV)/.dev
	$(BIN)/python -m tools.test_pythons $(ARGS)

# Real sessions to Arize Phoenix and MLflow and back; installs both (1.2 GB) on first use.
test-trace: $(VENV)/.dev
	$(BIN)/pytest -s tests/trace_servers/check_servers.py

# Questions without end to the API, for half a minute: ARGS=300 for longer.
test-api: $(VENV)/.dev
	$(BIN)/python -m tools.api_check $(ARGS)

# Attacks on the page, on names, on sessions, by kills, all on loopback: a few minutes.
test-hostile: $(VENV)/.dev
	PLAIT_HOSTILE=1 $(BIN)/pytest -n 2 tests/hostile tests/cli/test_hostile.py tests/redact/test_ways_out.py

# Guards broken on purpose, and whether the tests notice: ARGS="--sample 60 --package graph".
MUTANTS := .cache/mutants/venv
mutants: $(MUTANTS)/.mutants
	$(MUTANTS)/bin/python -m tools.mutants $(ARGS)

# What the checklist promises broken on purpose, and whether its tests notice: ARGS="F10 P28".
checklist-mutants: $(VENV)/.dev
	$(BIN)/python -m tools.break_item $(ARGS)

check: $(VENV)/.dev
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports
	tools/lint_js.sh
	$(BIN)/pytest tests/house

# The page's script alone; without node, a note says that it was not checked.
lint-js:
	tools/lint_js.sh

format: $(VENV)/.dev
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/python -m tools.checklist

bench: $(VENV)/.dev
	$(BIN)/python -m bench

# Beside the real client: CLI=2.1.327, the main judge, CLI=2.1.325, the second, or CLI=latest, LOGS=folder of real logs, ARGS="--fuzz 1000".
CLI = 2.1.327
LOGS = $(shell $(BIN)/python -c 'from bench.measure import SHARED; print(SHARED / "corpus")')
conformance: $(VENV)/.dev
	$(BIN)/python -m conformance --cli $(CLI) --logs "$(LOGS)" $(ARGS)

# What the newest client writes that is not known, and reads in another way: in one run.
conformance-drift: $(VENV)/.dev
	$(BIN)/python -m conformance --cli latest print terminal

# The live hook beside the real client: ARGS="--turns 50 --shown 15".
conformance-hook: $(VENV)/.dev
	$(BIN)/python -m conformance.hook --cli $(CLI) $(ARGS)

# The server of `plait mcp` in the real client: it lists the tools, and calls each.
conformance-recall: $(VENV)/.dev
	$(BIN)/python -m conformance.recall --cli $(CLI)

# The store beside the SDK (its own suite, a talk that goes on from the store) and the real client.
# other agents as judges of how their logs are read: Pi, Codex and OpenCode, from npm, offline
conformance-agents: $(VENV)/.dev
	$(BIN)/python -m conformance.agents $(ARGS)

conformance-keep: $(VENV)/.dev
	$(BIN)/python -m conformance.keep --cli $(CLI)

# Wheel and source archive in dist/: built twice to the same bytes, and checked.
dist: $(VENV)/.dist
	rm -rf dist .cache/dist
	for folder in dist .cache/dist; do $(BIN)/python -m build --no-isolation --outdir $$folder >/dev/null || exit; done
	for file in dist/*; do cmp $$file .cache/$$file || exit; done
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/hadolint Containerfile
	$(BIN)/python -m tools.sizes dist/*.whl

# The documentation as a site in site/; fails at a link that leads nowhere.
docs: $(VENV)/.docs
	$(BIN)/mkdocs build --quiet
	$(BIN)/python -m tools.check_site site

clean:
	rm -rf $(VENV) dist site .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find $(CODE) -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/.run: pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV) run

$(VENV)/.dev: pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV) dev

$(VENV)/.docs: pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV) docs

$(VENV)/.dist: pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(VENV) dist

$(MUTANTS)/.mutants: pyproject.toml constraints.txt tools/setup.sh
	@tools/setup.sh $(MUTANTS) mutants
