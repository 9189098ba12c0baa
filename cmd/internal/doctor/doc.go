// Package doctor examines a store and the machine that uses it: each finding is one sentence and what to do.
package doctor
