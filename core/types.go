package core

import "github.com/agent-lsp/agent-lsp/core/abi"

// ABI is the version of the interface to the module.
const ABI = abi.ABI

// The messages, which package abi describes.
type (
	Config   = abi.Config
	Event    = abi.Event
	Turn     = abi.Turn
	Cancel   = abi.Cancel
	Answer   = abi.Answer
	Reply    = abi.Reply
	Call     = abi.Call
	Output   = abi.Output
	Action   = abi.Action
	Op       = abi.Op
	Ask      = abi.Ask
	Read     = abi.Read
	Write    = abi.Write
	Patch    = abi.Patch
	Exec     = abi.Exec
	Git      = abi.Git
	Browse   = abi.Browse
	Use      = abi.Use
	Rebase   = abi.Rebase
	Done     = abi.Done
	Outcome  = abi.Outcome
	Message  = abi.Message
	Agent    = abi.Agent
	Dispatch = abi.Dispatch
	Tool     = abi.Tool
)
