# Targets that need a program that is missing install it by the system's package manager;
# without root they print the one command to run and stop.

GO ?= go
# Memory for time; .ci/run calls go vet itself, and nobody takes a debugger to these binaries.
FAST = GOGC=400
PLAIN = -vet=off -ldflags=-w
# The longest packages come first, so that none of them ends alone.
LONGEST = ./web ./timelines ./tiers ./rivers

FOR ?= 10m

PKG ?= ./...
RUN ?= .

.PHONY: help build run watch test quick quick-stop bench mutants soak look shots generate fmt postgresql chromium xmllint nginx caddy

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/riverrun
	$(GO) build -o bin/riverrun ./cmd/riverrun

run: postgresql build ## a riverrun on http://127.0.0.1:8080, with all it needs
	./bin/riverrun serve

watch: postgresql ## the same, made and started again whenever a file changes
	@mkdir -p bin; pid=; end() { [ -z "$$pid" ] || { kill $$pid; wait $$pid; }; }; trap 'end; exit' INT TERM; \
	while touch bin/.watched; do \
	    if $(MAKE) -s generate build; then end; ./bin/riverrun serve & pid=$$!; fi; \
	    until find cmd jobs migrations rivers tiers timelines web -newer bin/.watched -type f ! -name '*_templ.go' | grep -q .; do sleep 1; done; \
	done

quick: postgresql ## tests of PKG=./timelines, or RUN=TestX of them, on one server that stays
	@$(GO) build -o bin/testserver ./cmd/testserver
	@url=$$(bin/testserver start) && RIVERRUN_TEST_DATABASE_URL="$$url" $(FAST) $(GO) test $(PLAIN) -timeout 20m -run '$(RUN)' $(PKG)

quick-stop: ## ends that server, which otherwise ends when nobody has used it for half an hour
	@$(GO) build -o bin/testserver ./cmd/testserver
	@bin/testserver stop

test: postgresql chromium xmllint nginx caddy ## all tests, with all they need
	$(FAST) $(GO) test $(PLAIN) -timeout 20m $(LONGEST) ./...

bench: postgresql build ## what pages, likes and posts cost, in a town of 200 people (cmd/riverbench)
	$(GO) build -o bin/riverbench ./cmd/riverbench
	bin/riverbench

mutants: postgresql ## breaks each step of the protocol, one after the other: a test must notice
	$(GO) run ./cmd/mutants

# Tests of which make test does a part, most by chance.
SHARED = TestRules|TestObservedTown|TestObservedStandstill|TestALivelyTown|TestAnySequence|TestThereAndBackInAnyOrder|TestNothingNarrowedIsShown|TestSearchTakesAnyText|TestReplayIntoOpenPages|TestHostileFeeds|TestMemoryOfManyItems|TestKilledProcesses|TestLargeArchive|TestLoadIsAsLived

soak: postgresql chromium ## random tests in full, then a long load with nodes and servers killed; FOR=1h says how long
	RIVERRUN_SOAK=4 $(GO) test -count 1 -timeout 0 -run '^($(SHARED))$$' ./web ./tiers ./timelines ./timelines/sources/formats ./jobs/sources ./cmd/riverrun ./cmd/riverbench/town
	$(GO) test -tags soak -count 1 -v -timeout 0 ./cmd/soak -for $(FOR)

look: postgresql chromium ## all pages with axe-core, at two widths, light and dark
	RIVERRUN_LOOK=1 $(GO) test -count 1 -timeout 20m ./web/look

shots: postgresql chromium ## pictures of twelve pages, into web/doc
	RIVERRUN_SHOTS=$(CURDIR)/web/doc $(GO) test -count 1 -run TestScreenshots ./cmd/riverrun

generate: ## Go from the templates of pages
	$(GO) tool templ generate -include-version=false

fmt: generate ## formats everything
	$(GO) tool templ fmt web
	$(GO) tool gofumpt -w $$(git ls-files '*.go' ':!*_templ.go')

# Where packages put the server's programs outside of PATH; migrations/localpg
# looks in the same places.
postgresql:
	@ls $$(command -v postgres) /usr/lib/postgresql/*/bin/postgres /usr/pgsql-*/bin/postgres \
	    /usr/libexec/postgresql*/postgres /opt/homebrew/opt/postgresql@*/bin/postgres \
	    /usr/local/opt/postgresql@*/bin/postgres /usr/local/pgsql/bin/postgres 2>/dev/null | grep -q . || \
	$(call install,PostgreSQL,postgresql,postgresql-server postgresql-contrib,postgresql postgresql-contrib,postgresql,postgresql@17)

# RIVERRUN_CHROMIUM names another browser than the one that is found.
BROWSER = $${RIVERRUN_CHROMIUM:-$$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || command -v google-chrome)}

chromium:
	@ls "$$(command -v "$(BROWSER)")" "/Applications/Google Chrome.app" /Applications/Chromium.app 2>/dev/null | grep -q . || \
	$(call install,Chromium,chromium-headless-shell || apt-get install -y --no-install-recommends chromium,chromium,chromium,chromium,--cask chromium)
	@browser="$(BROWSER)"; [ -z "$$browser" ] || echo "browser: $$browser, $$("$$browser" --version 2>/dev/null)"

# Tests hold the schema of our own feeds against it. macOS has it.
xmllint:
	@command -v xmllint >/dev/null || $(call install,xmllint,libxml2-utils,libxml2,libxml2-utils,libxml2,libxml2)

# A test runs each of them with its configuration in cmd/riverrun/deploy, on ports of its own.
# Debian also starts them as services.
nginx:
	@PATH="$$PATH:/usr/sbin:/usr/local/sbin" command -v nginx >/dev/null || $(call install,nginx,nginx,nginx,nginx,nginx,nginx)

caddy:
	@command -v caddy >/dev/null || $(call install,Caddy,caddy,caddy,caddy,caddy,caddy)

# $(call install,what,apt,dnf,apk,pacman,brew) installs the package of the
# package manager that is there. What Debian's browser recommends (printers, mDNS,
# notifications) has nothing to do here, and would upgrade systemd on the way.
define install
{ \
	if command -v apt-get >/dev/null; then how='apt-get update && export DEBIAN_FRONTEND=noninteractive && apt-get install -y --no-install-recommends $(2)'; \
	elif command -v dnf >/dev/null; then how='dnf install -y $(3)'; \
	elif command -v apk >/dev/null; then how='apk add $(4)'; \
	elif command -v pacman >/dev/null; then how='pacman -S --noconfirm $(5)'; \
	elif command -v brew >/dev/null; then how='brew install $(6)'; \
	else echo '$(1) is missing, and no package manager known here: please install it.' >&2; exit 1; fi; \
	case "$$how" in brew*) ;; *) if [ "$$(id -u)" != 0 ]; then \
		echo "$(1) is missing. Install it with:" >&2; echo "    sudo sh -c '$$how'" >&2; exit 1; \
	fi;; esac; \
	echo "$(1) is missing; installing it: $$how"; sh -c "$$how"; \
}
endef
