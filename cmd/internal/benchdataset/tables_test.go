package benchdataset

import (
	"os/exec"
	"strconv"
	"testing"
)

// generateScript writes the tables: six columns of mixed types, as Parquet and as CSV, piece by piece.
const generateScript = `
import os, sys
import numpy as np, pyarrow as pa, pyarrow.csv as csv, pyarrow.parquet as pq
dir, rows = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(7)
cities = np.array(["Berlin", "Paris", "Rom", "Wien", "Oslo", "Madrid", "Lissabon", "Prag"])
def piece(start, n):
    words = rng.integers(0, 1 << 62, n)
    return pa.table({
        "id": pa.array(np.arange(start, start + n)),
        "price": pa.array(np.round(rng.gamma(2.0, 40.0, n), 2)),
        "city": pa.array(cities[rng.integers(0, len(cities), n)]),
        "at": pa.array(1_700_000_000_000_000 + np.arange(start, start + n) * 1_000_000, pa.timestamp("us")),
        "clicked": pa.array(rng.random(n) < 0.1),
        "note": pa.array(["%016x %016x" % (w, w * 31 & 0xffffffffffffffff) for w in words.tolist()], mask=rng.random(n) < 0.05),
    })
first = piece(0, 1)
with pq.ParquetWriter(dir + "/rows.parquet", first.schema, compression="snappy") as p, csv.CSVWriter(dir + "/rows.csv", first.schema) as c:
    for start in range(0, rows, 1_000_000):
        t = piece(start, min(1_000_000, rows - start))
        p.write_table(t)
        c.write_table(t)
os.mkdir(dir + "/parts")
for i in range(1000):
    pq.write_table(piece(i * 100, 100), "%s/parts/part-%05d.parquet" % (dir, i))
`

func generate(t *testing.T, python, dir string, rows int) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-c", generateScript, dir, strconv.Itoa(rows)).CombinedOutput()
	if err != nil {
		t.Fatalf("generate: %v\n%s", err, out)
	}
}
