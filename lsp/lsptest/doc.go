// Package lsptest is a fake editor: a language client with documents, versions
// and configurable manners, over any pair of pipes or over a child process. It
// checks what a server sends while it plays (Faults), and its waits end with the
// traffic instead of with a hang. Tests in Go use Editor; Params makes the same
// editor a command of testscript, so that a test is a file of text.
//
// # Scripts
//
// A test package that runs scripts needs two lines:
//
//	func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"agent-lsp": main}) }
//	func TestScripts(t *testing.T) { testscript.Run(t, lsptest.Params("testdata/script")) }
//
// A script is a txtar archive: comment, commands, files. The first lines say what
// it proves. Besides testscript's own commands (exec, cmp, stdout, grep, env, …)
// there is
//
//	lsp [@NAME] COMMAND [ARGUMENTS]
//
// where @NAME picks one of several editors. "! lsp …" expects that the server
// refuses a call, or that a wait's condition does not hold now. FILE is relative
// to $WORK, or a URI. JSON is one argument in single quotes, or @FILE. In it
// @uri(FILE) and @path(FILE) stand for a file in $WORK, @session and @turn for
// the values of the last reply. What a command prints is normalised and can be
// compared with "cmp stdout FILE"; with -update, or LSPTEST_UPDATE=1, the script's
// FILE is rewritten to it.
//
// The conversation:
//
//	start [FLAGS] [-- COMMAND ARGS…]  start a server (default agent-lsp) and initialize it; prints the result
//	shutdown                          shutdown and exit; the exit code must be 0
//	exit                              exit alone; the exit code must be 1
//	end CODE                          wait for the server's end by itself, with an exit code
//	kill | hangup | pause | resume    kill the process, close its input, stop reading, read on
//
// Flags of start:
//
//	-folder DIR          a workspace folder, repeatable; default $WORK; "-folder none" is none
//	-client NAME         the habits of neovim, vscode, helix or eglot, which the other flags change
//	-encoding LIST       utf-8,utf-16,utf-32 in the order of the offer
//	-no LIST             lacks applyEdit, documentChanges, create, progress, showDocument, content, configuration, registration
//	-transcript, -approvals, -saves   declares experimental.agent.transcript, .approvals; saves edits
//	-edits HOW, -questions LIST, -progress HOW   as "answer" below
//	-options JSON        initializationOptions; {"trusted": null} takes the default, true, away
//	-settings JSON       sections for workspace/configuration
//	-capabilities JSON   merged into the capabilities
//	-env NAME=VALUE      for the server, repeatable
//	-step N              what a change adds to a version
//	-uninitialized       do not send initialize
//
// Documents:
//
//	open FILE                  open with the text on disk
//	edit FILE OLD NEW          replace the one place of OLD; \n, \r and \t are read as escapes
//	text FILE FROM             make the whole text that of another file
//	save FILE | close FILE
//	buffer FILE                print the text
//	dirty FILE                 the buffer is not saved ("! lsp dirty": it is)
//
// Messages:
//
//	call METHOD [JSON]         request; prints the result, or the error after "!"
//	command NAME [JSON]        workspace/executeCommand with one argument
//	go KEY METHOD [JSON]       request without waiting; then: result KEY, cancel KEY
//	notify METHOD [JSON]
//	raw TEXT                   bytes as they are, with escapes; frame JSON puts a header before
//	barrier                    return when all before was handled
//
// What the editor does when it is asked:
//
//	answer edits HOW [NEXT…]   before, after, lazy, stale-true, skip, other, formatted, half, refuse, error, never, mute, typed, typed-true, unheard, hold
//	answer questions [LIST]    once, session, deny, dismiss, never, error, or an action's title; for one question each
//	answer progress HOW        now, hold, error, never
//	release [HOW]              reply to what waits
//	flush                      send the didChange of lazy edits
//	set SECTION JSON           change a setting
//
// What can be waited for; each also counts what came before, unless it follows
// "since", after which only what came after the last "mark" counts:
//
//	mark
//	wait [since] done [OUTCOME]           a pushed end of a turn, or the end of its progress
//	wait [since] event KIND [TEXT]        a pushed transcript event that contains TEXT
//	wait [since] method METHOD [TEXT]     a message of the server
//	wait text FILE FROM                   a buffer with the text of another file
//	wait diagnostics FILE N               N findings of a document
//	wait held N                           N requests that wait for release
//	wait disk FILE FROM                   a file with the bytes of another file
//	wait stderr TEXT                      a text on the server's standard error
//
// What can be printed:
//
//	transcript [JSON]          the events that agent.transcript returns, one a line: index and event
//	pushed                     the same of those that were pushed
//	diagnostics [FILE]         file:line:column-line:column severity source code message, 0-based
//	log                        window/logMessage and window/showMessage
//	traffic [METHOD…]          the server's messages, of all methods or some
//
// Normalised are: $WORK, UUIDs (<id1>, <id2>, … in the order in which they
// appear), times, durations in "tookMs", hashes in "digest", and the order of
// members in objects that the lsp command prints itself.
package lsptest
