//go:build unix

package tools

import (
	"context"
	"testing"

	"github.com/agent-lsp/agent-lsp/tools/proc"
)

// TestFailuresForWantOfANetworkAreRecognised has what tools print offline.
func TestFailuresForWantOfANetworkAreRecognised(t *testing.T) {
	run := func(text string, code int, offline bool) proc.Result {
		r, err := proc.Run(context.Background(), proc.Spec{
			Argv: []string{"sh", "-c", `printf '%s' "$1" >&2; exit "$2"`, "sh", text, string(rune('0' + code))}, Dir: t.TempDir(), Policy: proc.Unconfined("it only prints"),
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Offline = offline
		return r
	}
	for _, text := range []string{
		"curl: (6) Could not resolve host: example.org",
		"curl: (7) Failed to connect to 11.22.33.44 port 80 after 0 ms: Couldn't connect to server",
		"wget: unable to resolve host address ‘example.org’",
		"fatal: unable to access 'https://example.org/x.git/': Could not resolve host: example.org",
		"ssh: Could not resolve hostname example.org: Temporary failure in name resolution",
		"npm error code EAI_AGAIN\nnpm error syscall getaddrinfo",
		"npm ERR! network request to https://registry.example/left-pad failed",
		" ERR_PNPM_META_FETCH_FAIL  GET https://registry.example/x: request failed, reason: getaddrinfo ENOTFOUND registry.example",
		"error An unexpected error occurred: \"https://registry.example/x: getaddrinfo EAI_AGAIN registry.example\".",
		"go: example.org/x@v1: Get \"https://proxy.example/x\": dial tcp: lookup proxy.example on 127.0.0.53:53: read udp 127.0.0.1:5->127.0.0.53:53: read: connection refused",
		"dial tcp 11.22.33.44:443: connect: network is unreachable",
		"WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip._vendor>: Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')': /simple/x/",
		"ERROR: Could not find a version that satisfies the requirement x (from versions: none)\nERROR: No matching distribution found for x",
		"error: Request failed\n  Caused by: error sending request for url (https://index.example/simple/x/)\n  Caused by: dns error: failed to lookup address information: Temporary failure in name resolution",
		"warning: spurious network error (3 tries remaining): [6] Couldn't resolve host name",
		"java.net.UnknownHostException: repo.example",
		"Could not GET 'https://repo.example/x.pom'. > repo.example: Name or service not known",
		"Gem::RemoteFetcher::FetchError: SocketError: Failed to open TCP connection to gems.example:443 (getaddrinfo: Temporary failure in name resolution)",
		"OSError: [Errno 101] Network is unreachable",
		"PermissionError: [Errno 13] Permission denied",
		"error: Import 'https://deno.example/x.ts' failed: error sending request: os error 101",
		"** (Mix) httpc request failed with: {:failed_connect, [{:inet, [:inet], :nxdomain}]}",
		"",
	} {
		if !wasOffline(run(text, 1, true)) {
			t.Errorf("not recognised: %q", text)
		}
		if wasOffline(run(text, 1, false)) {
			t.Errorf("taken for offline although nothing tried to connect: %q", text)
		}
		if wasOffline(run(text, 0, true)) {
			t.Errorf("taken for a failure: %q", text)
		}
	}
	for _, text := range []string{"FAIL: expected 3, got 4", "undefined: strings.Foo", "npm error Missing script: \"build\""} {
		if wasOffline(run(text, 1, true)) {
			t.Errorf("taken for offline: %q", text)
		}
	}
}
