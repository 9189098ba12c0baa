package workspace

const openFlags = 0
