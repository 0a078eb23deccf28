package core

import _ "embed"

//go:generate env GOOS=wasip1 GOARCH=wasm go build -trimpath -buildvcs=false -buildmode=c-shared -o module.wasm ./guest

// module is package core/guest, built. A test builds it again and compares.
//
//go:embed module.wasm
var module []byte
