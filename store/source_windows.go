package store

const sourceFlags = 0
