# Every command of the project. `make` alone lists them. What each needs is installed on its first use.

.DEFAULT_GOAL := help
.NOTPARALLEL:

SERVICE := .venv/service-installed
EVERYTHING := .venv/everything-installed
PY := .venv/bin/python

$(SERVICE): requirements-run.txt requirements.txt
	@dev/bootstrap requirements-run.txt
	@touch $@

$(EVERYTHING): requirements-dev.txt requirements-s3.txt requirements-run.txt requirements.txt
	@dev/bootstrap requirements-dev.txt
	@touch $@ $(SERVICE)

.PHONY: help run test test-browser client lint lock format migrate migration worker openapi bench chaos load fuzz clean

help: # the list, from the comments behind the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "  make %-13s %s\n", $$1, $$2 }'

run: $(SERVICE) ## serve it here, with its own PostgreSQL and Valkey (PORT=8000, SIMULATE=1)
	@$(PY) -m dev.run

test: $(EVERYTHING) ## all tests, on servers of their own (ARGS="-k forum")
	@$(PY) -m dev.system_packages test
	@$(PY) -m dev.node_packages
	@$(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not browser" $(ARGS)

test-browser: $(EVERYTHING) ## the tests that need Chromium
	@$(PY) -m dev.system_packages test-browser
	@$(PY) -m pytest -m browser $(ARGS)

client: $(EVERYTHING) ## lint the OpenAPI document, and compile and run a strict TypeScript client (needs npm)
	@$(PY) -m dev.node_packages
	@$(PY) -m pytest -rs tests/e2e/test_typed_client.py

lint: $(EVERYTHING) ## style, types, import directions, requirements files
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy
	@.venv/bin/lint-imports
	@$(PY) -m dev.lock --check

lock: $(EVERYTHING) ## write requirements*.txt from pyproject.toml (ARGS="--upgrade-package alembic")
	@$(PY) -m dev.lock $(ARGS)

format: $(EVERYTHING) ## put the code in order
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format

migrate: $(SERVICE) ## bring the database up to date (`make run` does it by itself)
	@$(PY) -m dev.command flask db upgrade

migration: $(SERVICE) ## draft the next migration from the models (m="what changes")
	@test -n "$(m)" || { echo 'Say what changes: make migration m="add a note to users"'; exit 2; }
	@$(PY) -m dev.command flask db migrate -m "$(m)" --rev-id \
		$$(ls migrations/versions/*.py | wc -l | awk '{ printf "%04d", $$1 + 1 }')

worker: $(SERVICE) ## one more worker (QUEUE=urgent or bulk)
	@test -f instance/development.env || test -n "$$REDIS_URL" || { echo "Nothing runs here: make run"; exit 1; }
	@$(PY) -m rq.cli worker -c worker -w worker.Worker $(QUEUE)

openapi: $(SERVICE) ## write openapi.json
	@ENVIRONMENT=development $(PY) -m flask openapi write --format=json openapi.json

bench: $(EVERYTHING) ## measure, and compare with the targets (T=forum for one)
	@$(PY) -m dev.system_packages bench
	@$(PY) -m bench $(T)

chaos: $(EVERYTHING) ## reminders while all kinds of things go wrong (ARGS=--short, ARGS="kills freezes")
	@$(PY) -m dev.system_packages chaos
	@$(PY) -m bench.chaos $(ARGS)

load: $(EVERYTHING) ## mixed traffic through the whole stack
	@$(PY) -m dev.system_packages load
	@$(PY) -m bench.load $(ARGS)

fuzz: $(EVERYTHING) ## 20,000 requests made from the OpenAPI document, and 10,000 malformed ones
	@$(PY) -m bench.fuzz $(ARGS)

clean: ## remove .venv and caches; the data in instance/ stays
	@rm -rf .venv .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@rm -rf dev/client/node_modules dev/client/build
	@find . -name __pycache__ -type d -not -path './instance/*' -prune -exec rm -rf {} +
