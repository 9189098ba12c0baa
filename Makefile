# heirloom: `make` prints the targets.

GO       ?= go
BIN      := bin/heirloom
CACHE    ?= $(or $(HEIRLOOM_TEST_CACHE),$(HOME)/.cache/heirloom-test)
LDFLAGS  := -s -w
PKGS     ?= ./... ./testdata/digits
FUZZTIME ?= 20s

# Tools, pinned. They are built once and kept in the cache directory.
GOLANGCI_VERSION  := v2.15.0
GOTESTSUM_VERSION := v1.13.0
GOLANGCI  := $(CACHE)/bin/golangci-lint-$(GOLANGCI_VERSION)
GOTESTSUM := $(CACHE)/bin/gotestsum-$(GOTESTSUM_VERSION)

PLATFORMS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.DEFAULT_GOAL := help
.PHONY: help build demo test check stress contract bench bench-store bench-dataset bench-lineage lint fuzz cross

help: ## print the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/heirloom, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='$(LDFLAGS)' -o $(BIN) ./cmd/heirloom

demo: build ## run a real pipeline on real data and show its lineage
	@$(BIN) demo $(if $(STORE),--store "$(STORE)")

test: $(GOTESTSUM) ## pass the tests, starting each real server that can be had
	$(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- -shuffle=on -timeout 30m $(TESTFLAGS) $(PKGS)

# SQLite, which is C made Go, knows no goroutines: watched by the race detector, it takes
# three quarters of the time of all that asks an index, and nothing is found there.
UNRACED := modernc.org/sqlite/lib modernc.org/libc

# The race detector's second of sleep at each exit, for threads that still report, is
# shortened: tests start thousands of processes. The linters have vetted already, and
# nobody debugs these binaries.
check: lint cross ## what CI runs: linters, cross-builds, tests with the race detector
	GORACE=atexit_sleep_ms=20 $(MAKE) test TESTFLAGS='-race -vet=off -ldflags=-w $(UNRACED:%=-gcflags=%=-race=false)'

stress: $(GOTESTSUM) ## run the tests with every kill, race and trial in full
	HEIRLOOM_STRESS=1 $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- -count=1 -timeout 120m $(PKGS)

contract: ## print the table of the store's contract: cases and backends
	@HEIRLOOM_CONTRACT=1 $(GO) test -run TestConformance -v -timeout 30m ./store/storetest | sed -n '/cases and backends/,/^---/p; /without .*: /p'

bench: build ## measure, beside what one would otherwise use
	$(GO) test -run '^$$' -bench . -benchmem -count 1 -timeout 60m $(PKGS)

bench-store: ## measure transfers beside rclone, aws-cli, s3fs, Hadoop and cp (ONLY='minio.*up', N=3, MIB=256, ALL=1)
	HEIRLOOM_BENCH_STORE='$(or $(ONLY),.)' HEIRLOOM_BENCH_N=$(N) HEIRLOOM_BENCH_MIB=$(MIB) HEIRLOOM_BENCH_ALL=$(ALL) \
	  $(GO) test -run TestTable -count 1 -timeout 120m -v ./cmd/internal/benchstore

bench-dataset: ## measure datasets beside pyarrow and DuckDB (ONLY='csv', N=3, ROWS=1000000)
	HEIRLOOM_BENCH_DATASET='$(or $(ONLY),.)' HEIRLOOM_BENCH_N=$(N) HEIRLOOM_BENCH_ROWS=$(ROWS) \
	  $(GO) test -run TestTable -count 1 -timeout 120m -v ./cmd/internal/benchdataset

bench-lineage: ## measure questions about runs beside TorchX and MLflow (ONLY='runs', N=3, SIZES=1000,10000,100000,1000000, KEEP=dir)
	HEIRLOOM_BENCH_LINEAGE='$(or $(ONLY),.)' HEIRLOOM_BENCH_N=$(N) HEIRLOOM_BENCH_SIZES=$(SIZES) HEIRLOOM_BENCH_DIR=$(KEEP) \
	  $(GO) test -run TestTable -count 1 -timeout 180m -v ./cmd/internal/benchlineage

lint: $(GOLANGCI) ## run the linters
	$(GOLANGCI) run $(PKGS)

fuzz: ## fuzz every target for FUZZTIME (20s)
	@for p in $$($(GO) list $(PKGS)); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "== $$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p || exit 1; \
	  done; done

cross: ## build for every supported platform
	@for p in $(PLATFORMS); do echo "build $$p"; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} $(GO) build -ldflags='$(LDFLAGS)' -o /dev/null ./cmd/heirloom || exit 1; done

$(GOLANGCI):
	GOBIN=$(CACHE)/build CGO_ENABLED=0 $(GO) install -trimpath github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mkdir -p $(@D) && mv $(CACHE)/build/golangci-lint $@

$(GOTESTSUM):
	GOBIN=$(CACHE)/build CGO_ENABLED=0 $(GO) install -trimpath gotest.tools/gotestsum@$(GOTESTSUM_VERSION)
	mkdir -p $(@D) && mv $(CACHE)/build/gotestsum $@
