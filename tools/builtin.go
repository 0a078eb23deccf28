package tools

// builtin returns the tools that every session has, in the order in which models are
// shown them: one line each.
func builtin(e *Executor) []Tool {
	return []Tool{
		readTool{e},
		searchTool{e},
		findTool{e},
		editTool{e},
		writeTool{e},
		patchTool{e},
		execTool{e},
		jobTool{e},
		gitTool{e},
		browseTool{e},
		todoTool{},
	}
}

// Builtin returns the definitions of the tools that every session has.
func Builtin() []Definition {
	var r Registry
	if err := r.Add(builtin(nil)...); err != nil {
		panic(err)
	}
	return r.Definitions()
}
