// Package benchlineage measures how heirloom answers questions about many runs beside TorchX's tracker and MLflow's store
// on SQLite: equal contents, same run, whole processes.
//
// It is a test that runs only where HEIRLOOM_BENCH_LINEAGE is set, see "make bench-lineage".
package benchlineage
