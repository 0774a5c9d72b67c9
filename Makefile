# make help lists the commands. Programs are built into bin/.

SHELL       := bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help

GO      ?= go
LISTEN  ?= 127.0.0.1:8080
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# All programs have the same compile flags, so that shared packages are compiled
# once. Debug information would take a tenth of the compile time, and stack traces
# do not need it. VERSION replaces Go's own version stamp, because git refuses to run
# in a checkout that another user owns.
COMPILE := -trimpath -buildvcs=false -gcflags=all=-dwarf=false
STRIP   := -s -w

# The API server reports this version. Helm cannot parse the default one.
KUBERNETES := k8s.io/component-base/version
KUBERNETES_LDFLAGS := -X $(KUBERNETES).gitVersion=v1.37.2 -X $(KUBERNETES).gitMajor=1 \
	-X $(KUBERNETES).gitMinor=37 -X $(KUBERNETES).gitTreeState=clean
HELM3_LDFLAGS := -X helm.sh/helm/v3/internal/version.version=v3.22.0 \
	-X helm.sh/helm/v3/internal/version.gitTreeState=clean \
	-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=37 \
	-X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor=37
HELM4_LDFLAGS := -X helm.sh/helm/v4/internal/version.version=v4.3.2 \
	-X helm.sh/helm/v4/internal/version.gitTreeState=clean

UI         := web/ui
UI_MODULES := $(UI)/node_modules/.package-lock.json
UI_PAGES   := $(UI)/dist/pages/index.html
UI_SOURCES := $(shell find $(UI)/src $(UI)/public -type f -not -name schema.d.ts 2>/dev/null) \
	$(wildcard $(UI)/*.html $(UI)/*.json $(UI)/*.config.*) docs/openapi.yaml

# Only the tests need Helm 3 too.
PROGRAMS      := bin/helmtrail bin/devcluster bin/helm4
TEST_PROGRAMS := $(PROGRAMS) bin/helm3
# Tests run the programs from here.
TEST_ENV := HELMTRAIL_TEST_BIN=$(CURDIR)/bin

.PHONY: help build ui demo run test test-go test-devcluster test-ui test-browser cross lint vuln fmt bench screenshots chromium first-build FORCE

help: ## list these commands
	@sed -n 's/^\([a-z][a-z-]*\):.*## /\1 /p' $(MAKEFILE_LIST) | while read -r name what; do printf '  make %-16s %s\n' "$$name" "$$what"; done

build: first-build $(PROGRAMS) ## build bin/helmtrail, bin/devcluster and bin/helm4

# The first build takes minutes, so it is announced.
first-build:
	@if ! [ -e bin/devcluster ]; then \
		echo 'The first build downloads and compiles a Kubernetes control plane and Helm: about 10 minutes on two cores.'; \
		echo 'Later builds take seconds.'; \
	fi

bin/helmtrail: $(UI_PAGES) FORCE
	@echo '== bin/helmtrail: the server and the commands'
	@$(GO) build -v $(COMPILE) -ldflags '$(STRIP) -X main.version=$(VERSION)' -o $@ ./cmd/helmtrail 2>&1 | .ci/progress

bin/devcluster: FORCE
	@echo '== bin/devcluster: a Kubernetes control plane'
	@cd cmd/devcluster && $(GO) build -v $(COMPILE) -ldflags '$(STRIP) $(KUBERNETES_LDFLAGS)' -o ../../$@ . 2>&1 | ../../.ci/progress

bin/helm3: FORCE
	@echo '== bin/helm3: Helm 3, for the tests'
	@cd cmd/devcluster && $(GO) build -v $(COMPILE) -ldflags '$(STRIP) $(HELM3_LDFLAGS)' -o ../../$@ helm.sh/helm/v3/cmd/helm 2>&1 | ../../.ci/progress

bin/helm4: FORCE
	@echo '== bin/helm4: Helm 4'
	@cd cmd/devcluster && $(GO) build -v $(COMPILE) -ldflags '$(STRIP) $(HELM4_LDFLAGS)' -o ../../$@ helm.sh/helm/v4/cmd/helm 2>&1 | ../../.ci/progress

$(UI_MODULES): $(UI)/package.json $(UI)/package-lock.json
	@echo '== $(UI)/node_modules: the tools that build the pages'
	@cd $(UI) && npm ci --no-audit --no-fund
	@touch $@

ui: $(UI_PAGES) ## build the pages that bin/helmtrail embeds

$(UI_PAGES): $(UI_MODULES) $(UI_SOURCES)
	@echo '== $(UI)/dist: the pages'
	@cd $(UI) && npm run --silent build
	@touch $@

demo: build ## run a cluster, helmtrail and sample releases; Ctrl-C stops everything
	@exec bin/devcluster demo --helmtrail bin/helmtrail --helm bin/helm4 --charts deploy/demo/charts --listen $(LISTEN)

run: bin/helmtrail bin/helm4 ## run helmtrail with your kubeconfig; pass flags with ARGS='...'
	@exec bin/helmtrail serve --helm bin/helm4 --listen $(LISTEN) $(ARGS)

test: first-build test-go test-devcluster test-ui test-browser ## run every test
	@echo 'All tests passed.'

test-go: $(TEST_PROGRAMS)
	@echo '== Go tests of the product, with the race detector (its first build takes some minutes)'
	@$(TEST_ENV) .ci/with-cluster $(GO) test $(COMPILE) -race -count=1 -p 2 -timeout 45m ./...

# The race detector is off: with it, Kubernetes would be compiled a second time.
test-devcluster: $(TEST_PROGRAMS)
	@echo '== tests of the dev cluster'
	@cd cmd/devcluster && $(TEST_ENV) $(GO) test $(COMPILE) -count=1 -p 1 -parallel 2 -timeout 20m ./internal/... ./test/...

test-ui: $(UI_MODULES)
	@echo '== tests of the pages'
	@cd $(UI) && npm run --silent test

test-browser: $(TEST_PROGRAMS) chromium
	@echo '== tests of the pages in Chromium'
	@browser=$$(.ci/chromium) && cd $(UI) && CHROMIUM=$$browser $(TEST_ENV) npm run --silent test:browser

# This runs on a dev cluster of its own, with the demo's chart.
screenshots: $(PROGRAMS) chromium ## retake the pictures in docs/screenshots
	@browser=$$(.ci/chromium) && cd $(UI) && CHROMIUM=$$browser $(TEST_ENV) \
		HELMTRAIL_TEST_CHARTS=$(CURDIR)/deploy/demo/charts npx playwright test -c playwright.screenshots.config.ts

# Everything but serve and the dev cluster works on macOS and Windows, and serve
# on macOS too. go vet compiles the tests as well, once for each system.
PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

cross: $(UI_PAGES) ## compile for Linux, macOS and Windows, on amd64 and arm64
	@for platform in $(PLATFORMS); do \
		echo "== bin/helmtrail for $$platform (not kept)"; \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		$(GO) build -v $(COMPILE) -ldflags '$(STRIP)' -o /dev/null ./cmd/helmtrail 2>&1 | .ci/progress; \
		if [ $$GOARCH = amd64 ]; then $(GO) vet $(COMPILE) ./...; fi; \
	done

chromium:
	@.ci/chromium >/dev/null

# The linters and their dependencies stay out of the product's go.mod.
bin/golangci-lint bin/govulncheck: .ci/tools/go.mod .ci/tools/go.sum
	@echo '== $@ (its first build takes some minutes)'
	@cd .ci/tools && $(GO) build -v $(COMPILE) -ldflags '$(STRIP)' -o ../../$@ $$($(GO) list tool | grep '/$(@F)$$') 2>&1 | ../progress

# golangci-lint compiles packages itself, so it gets the same flags.
lint: $(UI_MODULES) bin/golangci-lint ## gofmt, golangci-lint, go vet, tsc and eslint
	@unformatted=$$(git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -l); \
	if [ -n "$$unformatted" ]; then echo "not formatted, run make fmt:"; echo "$$unformatted"; exit 1; fi
	@GOFLAGS='$(COMPILE)' bin/golangci-lint run ./...
	@cd cmd/devcluster && $(GO) vet $(COMPILE) ./...
	@cd $(UI) && npm run --silent lint

# It also fails if the vulnerability database cannot be reached.
vuln: bin/govulncheck ## look for known vulnerabilities in what the product calls
	@bin/govulncheck ./... || { echo 'make vuln: govulncheck found vulnerabilities, or could not reach its database (https://vuln.go.dev).'; exit 1; }

fmt: ## format the Go code
	@git ls-files -co --exclude-standard '*.go' | xargs -r gofmt -w

bench: $(TEST_PROGRAMS) ## run the benchmarks, compared with alternatives
	@$(TEST_ENV) .ci/with-cluster $(GO) test $(COMPILE) -run '^$$' -bench . -benchmem -timeout 30m \
		$$(git grep -l --untracked '^func Benchmark' -- '*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|')
