// Package settle judges whether a local file is still being written.
package settle
