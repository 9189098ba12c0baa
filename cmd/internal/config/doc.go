// Package config resolves the settings a command was not given on its line, and knows where each value came from.
package config
