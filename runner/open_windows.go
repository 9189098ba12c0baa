package runner

const openNonblock = 0
