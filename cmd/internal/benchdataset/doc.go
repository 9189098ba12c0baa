// Package benchdataset measures how heirloom writes and reads datasets beside pyarrow and DuckDB: same files, same run,
// each step in a process of its own, with the memory that it took.
//
// It is a test that runs only where HEIRLOOM_BENCH_DATASET is set, see "make bench-dataset".
package benchdataset
