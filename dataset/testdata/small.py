"""Writes small Parquet files of many kinds, whose bytes can be damaged."""
import os, sys
import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

root = sys.argv[1]
n = 60
table = pa.table({
    "i": pa.array([None if i % 3 == 1 else i for i in range(n)]), "s": ["w%d" % (i % 9) for i in range(n)], "f": [i / 7 for i in range(n)],
    "b": [i % 2 == 0 for i in range(n)], "d": pa.array(range(n)).cast(pa.decimal128(22, 2)),
    "l": [None if i % 5 == 1 else [None if j == 1 else "x%d" % j for j in range(i % 4)] for i in range(n)],
    "t": [None if i % 6 == 2 else {"a": i, "l": list(range(i % 3))} for i in range(n)],
})


def write(name, table=table, **options):
    pq.write_table(table, os.path.join(root, name + ".parquet"), **options)


for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
    write(codec, compression=codec)
write("checked", write_page_checksum=True, data_page_version="2.0", store_schema=False, write_statistics=False)
write("groups", row_group_size=16, data_page_size=64, use_dictionary=False)
write("delta", table.select(["i", "s"]), use_dictionary=False, column_encoding={"i": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY"})
pl.from_arrow(table.select(["i", "s", "f", "b", "l"])).write_parquet(os.path.join(root, "polars.parquet"))
duckdb.sql("copy (select range as i, range::varchar as s, [range] as l from range(60)) to '%s' (format parquet, parquet_version V2)"
           % os.path.join(root, "duckdb.parquet"))
