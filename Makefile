# All commands of the project. `make` lists them. On first use each installs the Python packages that it needs.

.DEFAULT_GOAL := help
.NOTPARALLEL:

SERVICE := .venv/service-installed
EVERYTHING := .venv/everything-installed
NODE := dev/client/node_modules/.package-lock.json
PY := .venv/bin/python
PYTEST := $(PY) -m pytest -n auto --dist loadfile --no-loadscope-reorder
LOCK := $(PY) -m uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --generate-hashes \
	--no-strip-extras --no-annotate --custom-compile-command "make lock" $(ARGS)

$(SERVICE): requirements-run.txt
	@dev/bootstrap requirements-run.txt
	@touch $@

$(EVERYTHING): requirements-dev.txt
	@dev/bootstrap requirements-dev.txt
	@touch $@ $(SERVICE)

$(NODE): dev/client/package-lock.json
	@npm ci --prefix dev/client --ignore-scripts --no-audit --no-fund --loglevel=error

needs-%: $(EVERYTHING)
	@$(PY) -m dev.system_packages $*

.PHONY: help run test test-all test-browser coverage client lint lock format migrate migration worker openapi bench chaos outages load fuzz clean

help: # print the targets with their comments
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1@\2/p' $(MAKEFILE_LIST) | awk -F@ '{ printf "  make %-13s %s\n", $$1, $$2 }'

run: $(SERVICE) ## serve it here, with its own PostgreSQL and Valkey (PORT=8000, SIMULATE=1)
	@$(PY) -m dev.run

test: $(EVERYTHING) ## the quick tests, on servers of their own (ARGS="-k forum")
	@$(PYTEST) -m "not browser and not processes and not slow" $(ARGS)

test-all: needs-test-all $(NODE) ## all tests without a browser: also slow ones, processes, nginx, failovers, outages
	@$(PYTEST) -m "not browser" $(ARGS)

test-browser: needs-test-browser ## the tests that need Chromium
	@$(PY) -m pytest -m browser $(ARGS)

coverage: needs-test-all $(NODE) ## make test-all, with a report of lines and branches
	@$(PYTEST) -m "not browser" --cov $(ARGS)

client: needs-client $(NODE) ## lint the OpenAPI document, and compile and run a strict TypeScript client (needs npm)
	@$(PY) -m pytest -rs tests/e2e/test_typed_client.py $(ARGS)

lint: $(EVERYTHING) ## style, types, import directions
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy
	@.venv/bin/lint-imports

lock: $(EVERYTHING) ## write requirements*.txt from pyproject.toml (ARGS="--upgrade-package alembic")
	@$(LOCK) --output-file requirements.txt
	@$(LOCK) --constraints requirements.txt --group s3 --output-file requirements-s3.txt
	@$(LOCK) --constraints requirements.txt --group run --output-file requirements-run.txt
	@$(LOCK) --constraints requirements-s3.txt --constraints requirements-run.txt \
		--group s3 --group run --group dev --output-file requirements-dev.txt

format: $(EVERYTHING) ## put the code in order
	@$(PY) -m ruff check --fix
	@$(PY) -m ruff format

migrate: $(SERVICE) ## bring the database up to date (`make run` does it by itself)
	@$(PY) -m dev.command flask db upgrade

migration: $(SERVICE) ## draft the next migration from the models (m="what changes")
	@test -n "$(m)" || { echo 'Say what changes: make migration m="add a note to users"'; exit 2; }
	@$(PY) -m dev.command flask db migrate -m "$(m)" --rev-id \
		$$(ls migrations/versions/*.py | tail -1 | sed 's|.*/||' | awk '{ printf "%04d", $$1 + 1 }')

worker: $(SERVICE) ## one more worker (QUEUE=urgent or bulk)
	@test -f instance/development.env || test -n "$$REDIS_URL" || { echo "Nothing runs here: make run"; exit 1; }
	@$(PY) -m rq.cli worker -c worker -w worker.Worker $(QUEUE)

openapi: $(SERVICE) ## write docs/openapi.json
	@ENVIRONMENT=development $(PY) -m flask openapi write --format=json docs/openapi.json
	@$(PY) -m json.tool --no-ensure-ascii --sort-keys --indent 1 docs/openapi.json docs/openapi.json

bench: needs-bench ## measure, and compare with the targets (T=forum for one)
	@$(PY) -m bench $(T)

chaos: $(EVERYTHING) ## reminders while all kinds of things go wrong (ARGS=--short, ARGS="kills poison")
	@$(PY) -m bench.chaos $(ARGS)

outages: needs-bench ## requests and reminders while PostgreSQL or Redis is away, and a pause of 11 minutes
	@$(PY) -m bench outages; failed=$$?; $(PY) -m bench.chaos outages stopped && exit $$failed

load: needs-load ## mixed traffic through the whole stack
	@$(PY) -m bench.load $(ARGS)

fuzz: $(EVERYTHING) ## 20,000 requests made from the OpenAPI document, and 10,000 malformed ones
	@$(PY) -m bench.fuzz $(ARGS)

clean: ## remove .venv and caches; the data in instance/ stays
	@rm -rf .venv .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@rm -rf dev/client/node_modules dev/client/build
	@find . -name __pycache__ -type d -not -path './instance/*' -prune -exec rm -rf {} +
