package workspace

// nonblock is not needed: named pipes do not live among the files here.
const nonblock = 0
