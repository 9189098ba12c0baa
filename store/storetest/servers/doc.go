// Package servers starts real storage servers, Slurm, and Python, for tests.
//
// What it needs it builds or fetches once, by version, under the directory of
// HEIRLOOM_TEST_CACHE, by default heirloom-test in the user's cache directory. A
// server listens on a free port of the loopback address and dies with the test,
// or with the test's process. Where one cannot be had the test is skipped with the
// reason and a command that helps; the names in HEIRLOOM_MUST_RUN (s3, gcs,
// python, torchx, … separated by commas) turn that skip into a failure.
package servers
