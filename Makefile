.DEFAULT_GOAL := help
.PHONY: help build generate test race lint bench check update cover editors package

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build bin/agent-lsp
	go build -trimpath -ldflags='-s -w' -o bin/agent-lsp ./cmd/agent-lsp

generate: ## Rebuild the wasm module and the configuration schema
	go generate ./...

test: ## Run the tests that every change must pass (under 3 minutes)
	go test ./...

race: ## Run them under the race detector
	go test -race ./...

lint: ## Run gofmt, go vet on three systems, and the linter
	scripts/lint.sh

bench: ## Run every benchmark once
	go test -run '^$$' -bench . -benchtime 1x ./...

check: ## Run all that CI runs
	bash .ci/run

update: ## Rewrite the expected transcripts of the txtar scripts
	go test ./cmd/agent-lsp -run TestScripts -update

editors: ## Run the plugins' tests in the real Neovim, Emacs and VS Code
	scripts/test-nvim.sh
	scripts/test-vscode.sh

package: ## Build the vsix and the release archives with their checksums
	scripts/package.sh

cover: ## Show the coverage of the tests
	go test -coverpkg=./... -coverprofile=coverage.out ./... && go tool cover -func=coverage.out | tail -1
