package workspace

// ByteOrderMark begins some files of UTF-8 text. Editors show no character for it
// and keep it when they save, so that no column counts it.
const ByteOrderMark = "\ufeff"
