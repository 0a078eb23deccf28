package lsptest
