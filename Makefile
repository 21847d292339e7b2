# The commands that people type. .ci/run is what must pass before a change goes in.

# Counted, not timed: a target that is busy when the time is over counts as failed.
FUZZTIME ?= 10000x
PLATFORMS = linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.PHONY: all build test lint full race fuzz cross tags chains bench peers conformance catalog clean

all: build

# The binary as it is shipped: static, stripped, without paths of the builder.
build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o bin/lorimer ./cmd/lorimer

test:
	go test ./...

lint:
	@files=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); \
		test -z "$$files" || { echo "gofmt -w $$files"; exit 1; }
	go vet ./...
	go -C .ci build -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...

# Everything that a release must pass; takes a while.
full: lint peers race conformance chains fuzz cross tags bench

race:
	LORIMER_REQUIRE=npm,postgres .ci/postgres run go test -race -count=1 ./...

# Each fuzz target for a short time.
fuzz:
	@set -e; git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(go test -list '^Fuzz' ./$$dir | grep '^Fuzz'); do \
			echo "$$dir $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) ./$$dir; \
		done; \
	done

# The programs for the other platforms, and their tests as far as they compile.
cross:
	@set -e; for p in $(PLATFORMS); do \
		echo "$$p"; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go vet ./...; \
		CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -trimpath -ldflags '-s -w' -o /dev/null ./cmd/lorimer; \
	done

# What is linked in with a build tag alone, all of it at once.
TAGS = bedrock cohere
tags:
	go vet -tags '$(TAGS)' ./harness/model/langchain/... ./cmd/...
	go test -tags '$(TAGS)' -count=1 ./harness/model/langchain/kinds
	CGO_ENABLED=0 go build -tags '$(TAGS)' -trimpath -ldflags '-s -w' -o /dev/null ./cmd/lorimer

# Our models in the chains and agents of langchaingo: a module of its own, which
# wants `go mod tidy` when go.mod changes.
chains:
	go -C harness/model/langchain/chains vet ./...
	go -C harness/model/langchain/chains test -count=1 ./...

bench:
	go test -run '^$$' -bench . -benchmem ./...

# The clients of others that the end-to-end tests drive.
peers:
	npm --prefix cmd/lorimer/e2e --loglevel=error ci

# The conformance suites of MCP, against our client and our server. What is expected to
# fail, and why, is in expected.toml beside them.
conformance:
	npm --prefix cmd/lorimer/conformance --loglevel=error ci
	go run ./cmd/lorimer/conformance

# The snapshot of models, from the sources that its generator names.
catalog:
	npm --prefix harness/model/catalog/gen --loglevel=error ci
	go generate ./harness/model/catalog

clean:
	rm -rf bin
