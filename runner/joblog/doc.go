// Package joblog reads the logs of an app's replicas, which lie as files in
// <role>/<replica>/<attempt>/, while they are written and after.
package joblog
