package wire

import "go.lsp.dev/protocol"

// The methods of the protocol that a client may use, by what they are. A request
// sent as a notification, or the other way round, is neither: run inline, a
// request's handler could wait for an answer that nobody reads.
var (
	standardNotifications = set(
		protocol.MethodSetTrace,
		protocol.MethodProgress,
		protocol.MethodWindowWorkDoneProgressCancel,
		protocol.MethodTextDocumentDidOpen,
		protocol.MethodTextDocumentDidChange,
		protocol.MethodTextDocumentWillSave,
		protocol.MethodTextDocumentDidSave,
		protocol.MethodTextDocumentDidClose,
		protocol.MethodNotebookDocumentDidOpen,
		protocol.MethodNotebookDocumentDidChange,
		protocol.MethodNotebookDocumentDidSave,
		protocol.MethodNotebookDocumentDidClose,
		protocol.MethodWorkspaceDidChangeConfiguration,
		protocol.MethodWorkspaceDidChangeWorkspaceFolders,
		protocol.MethodWorkspaceDidCreateFiles,
		protocol.MethodWorkspaceDidRenameFiles,
		protocol.MethodWorkspaceDidDeleteFiles,
		protocol.MethodWorkspaceDidChangeWatchedFiles,
	)
	standardRequests = set(
		protocol.MethodTextDocumentWillSaveWaitUntil,
		protocol.MethodTextDocumentDeclaration,
		protocol.MethodTextDocumentDefinition,
		protocol.MethodTextDocumentTypeDefinition,
		protocol.MethodTextDocumentImplementation,
		protocol.MethodTextDocumentReferences,
		protocol.MethodTextDocumentPrepareCallHierarchy,
		protocol.MethodCallHierarchyIncomingCalls,
		protocol.MethodCallHierarchyOutgoingCalls,
		protocol.MethodTextDocumentPrepareTypeHierarchy,
		protocol.MethodTypeHierarchySupertypes,
		protocol.MethodTypeHierarchySubtypes,
		protocol.MethodTextDocumentDocumentHighlight,
		protocol.MethodTextDocumentDocumentLink,
		protocol.MethodDocumentLinkResolve,
		protocol.MethodTextDocumentHover,
		protocol.MethodTextDocumentCodeLens,
		protocol.MethodCodeLensResolve,
		protocol.MethodTextDocumentFoldingRange,
		protocol.MethodTextDocumentSelectionRange,
		protocol.MethodTextDocumentDocumentSymbol,
		protocol.MethodTextDocumentSemanticTokensFull,
		protocol.MethodTextDocumentSemanticTokensFullDelta,
		protocol.MethodTextDocumentSemanticTokensRange,
		protocol.MethodTextDocumentInlineValue,
		protocol.MethodTextDocumentInlayHint,
		protocol.MethodInlayHintResolve,
		protocol.MethodTextDocumentMoniker,
		protocol.MethodTextDocumentCompletion,
		protocol.MethodCompletionItemResolve,
		protocol.MethodTextDocumentDiagnostic,
		protocol.MethodWorkspaceDiagnostic,
		protocol.MethodTextDocumentSignatureHelp,
		protocol.MethodTextDocumentCodeAction,
		protocol.MethodCodeActionResolve,
		protocol.MethodTextDocumentDocumentColor,
		protocol.MethodTextDocumentColorPresentation,
		protocol.MethodTextDocumentFormatting,
		protocol.MethodTextDocumentRangeFormatting,
		protocol.MethodTextDocumentRangesFormatting,
		protocol.MethodTextDocumentOnTypeFormatting,
		protocol.MethodTextDocumentRename,
		protocol.MethodTextDocumentPrepareRename,
		protocol.MethodTextDocumentLinkedEditingRange,
		protocol.MethodTextDocumentInlineCompletion,
		protocol.MethodWorkspaceSymbol,
		protocol.MethodWorkspaceSymbolResolve,
		protocol.MethodWorkspaceWillCreateFiles,
		protocol.MethodWorkspaceWillRenameFiles,
		protocol.MethodWorkspaceWillDeleteFiles,
		protocol.MethodWorkspaceExecuteCommand,
		protocol.MethodWorkspaceTextDocumentContent,
	)
)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
