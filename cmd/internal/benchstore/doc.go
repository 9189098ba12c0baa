// Package benchstore measures how heirloom moves files beside rclone, aws-cli, s3fs, Hadoop's client and cp: same
// server, same run, ratios.
//
// It is a test that runs only where HEIRLOOM_BENCH_STORE is set, see "make bench-store".
package benchstore
