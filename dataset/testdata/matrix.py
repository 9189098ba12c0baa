"""Writes Parquet files as pyarrow, pandas, Polars and DuckDB do, each with the
values that pyarrow reads back from it, as Arrow IPC beside it, in the types that
the Parquet schema alone gives."""
import datetime, decimal, os, sys, uuid

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

root = sys.argv[1]
D = decimal.Decimal


def plain(t):
    """The type that remains where no Arrow schema is kept beside the values."""
    if pa.types.is_dictionary(t):
        return plain(t.value_type)
    if isinstance(t, pa.BaseExtensionType):
        return plain(t.storage_type)
    if pa.types.is_large_string(t) or t == pa.string_view():
        return pa.string()
    if pa.types.is_large_binary(t) or t == pa.binary_view():
        return pa.binary()
    if pa.types.is_timestamp(t) and t.tz is not None:
        return pa.timestamp(t.unit, "UTC")
    if pa.types.is_date64(t):
        return pa.date32()
    if pa.types.is_duration(t):
        return pa.int64()
    if pa.types.is_map(t):
        return pa.map_(plain(t.key_type), plain(t.item_type))
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return pa.list_(plain(t.value_type))
    if pa.types.is_struct(t):
        return pa.struct([plain_field(f) for f in t])
    return t


def plain_field(f):
    return pa.field(f.name, plain(f.type), f.nullable)


def expect(name):
    """Keeps what pyarrow reads from a file."""
    t = pq.ParquetFile(os.path.join(root, name + ".parquet")).read()
    t = t.cast(pa.schema([plain_field(f) for f in t.schema])).combine_chunks()
    with pa.ipc.new_file(os.path.join(root, name + ".arrow"), t.schema) as w:
        w.write_table(t)


def arrow(name, table, **options):
    pq.write_table(table, os.path.join(root, name + ".parquet"), **options)
    expect(name)


def nulls(values, every=3):
    return [None if i % every == 1 else v for i, v in enumerate(values)]


n = 1000
at = datetime.datetime(2026, 11, 21, 10, 0, 0, 123456)
moments = [at + datetime.timedelta(hours=i * 7, microseconds=i) for i in range(n)]
moments[2] = datetime.datetime(1899, 12, 31, 23, 59, 59, 999999)
texts = ["wörd%d" % (i % 37) if i % 5 else "" for i in range(n)]
long_texts = ["%d" % i * (i % 90) for i in range(n)]

primitive = pa.table({
    "bool": pa.array(nulls([i % 3 == 0 for i in range(n)])),
    "bool_required": pa.array([i % 7 < 3 for i in range(n)]),
    "i8": pa.array(nulls([i % 256 - 128 for i in range(n)]), pa.int8()),
    "i16": pa.array(nulls([i * 65 - 32768 for i in range(n)]), pa.int16()),
    "i32": pa.array(nulls([(-1) ** i * i * 2000003 for i in range(n)]), pa.int32()),
    "i64": pa.array(nulls([(-1) ** i * i * 9007199254740993 for i in range(n)]), pa.int64()),
    "u8": pa.array(nulls([i % 256 for i in range(n)]), pa.uint8()),
    "u16": pa.array(nulls([i * 65 for i in range(n)]), pa.uint16()),
    "u32": pa.array(nulls([i * 4294967 for i in range(n)]), pa.uint32()),
    "u64": pa.array(nulls([i * 18446744073709551 for i in range(n)]), pa.uint64()),
    "f16": pa.array(np.arange(n).astype(np.float16)),
    "f32": pa.array(nulls([i / 7 for i in range(n)]), pa.float32()),
    "f64": pa.array(nulls([i / 7 if i % 11 else float("nan") for i in range(n)]), pa.float64()),
    "inf": pa.array([float("inf"), float("-inf"), -0.0, 5e-324] * (n // 4), pa.float64()),
    "text": pa.array(nulls(texts)),
    "long": pa.array(nulls(long_texts), pa.large_string()),
    "bytes": pa.array(nulls([bytes([i % 256]) * (i % 9) for i in range(n)])),
    "fixed": pa.array(nulls([(b"%05d" % i) for i in range(n)]), pa.binary(5)),
    "word": pa.array(nulls(texts)).dictionary_encode(),
    "date": pa.array(nulls([m.date() for m in moments]), pa.date32()),
    "date64": pa.array(nulls([m.date() for m in moments]), pa.date64()),
    "time_ms": pa.array(nulls([datetime.time(i % 24, i % 60, i % 59, 123000) for i in range(n)]), pa.time32("ms")),
    "time_us": pa.array(nulls([datetime.time(i % 24, i % 60, i % 59, i) for i in range(n)]), pa.time64("us")),
    "time_ns": pa.array(nulls([i * 1000001 for i in range(n)]), pa.int64()).cast(pa.time64("ns")),
    "nothing": pa.nulls(n),
    "all_null": pa.nulls(n, pa.int32()),
    "constant": pa.array([7] * n, pa.int64()),
    "sequence": pa.array(range(n), pa.int64()),
    "with.dots": pa.array(range(n), pa.int32()),
    "ünïcode \u0001": pa.array(range(n), pa.int32()),
})
times = pa.table({
    unit + zone.replace("/", "_"): pa.array(nulls(moments), pa.timestamp("us")).cast(pa.timestamp(unit, zone or None), safe=False)
    for unit in ("s", "ms", "us", "ns") for zone in ("", "UTC", "Europe/Berlin", "+05:30")
} | {"duration": pa.array(nulls(range(n)), pa.duration("us"))})
decimals = pa.table({
    "d%d_%d" % (p, s): pa.array(nulls([D((-1) ** i * i * 7) / 10 ** s % 10 ** (p - s) for i in range(n)]), make(p, s))
    for p, s, make in ((5, 2, pa.decimal128), (9, 0, pa.decimal128), (18, 4, pa.decimal128), (19, 4, pa.decimal128), (38, 10, pa.decimal128),
                       (50, 3, pa.decimal256), (76, 10, pa.decimal256))
} | {
    "extreme": pa.array([D("9" * 38), D("-" + "9" * 38), D(0), D(-1)] * (n // 4), pa.decimal128(38, 0)),
    "wide": pa.array([D("9" * 76), D("-" + "9" * 76), D(0), D(-1)] * (n // 4), pa.decimal256(76, 0)),
})


def nest(i):
    if i % 10 == 3:
        return None
    return [None if (i + j) % 4 == 1 else {"x": None if j % 3 == 1 else i, "tags": None if j % 5 == 2 else ["t%d" % k for k in range(j % 3)]}
            for j in range(i % 5)]


nested = pa.table({
    "list": pa.array([None if i % 7 == 1 else [None if j == 1 else i + j for j in range(i % 4)] for i in range(n)], pa.list_(pa.int64())),
    "list_required": pa.array([[i, i + 1] for i in range(n)], pa.list_(pa.field("item", pa.int32(), False))),
    "list2": pa.array([None if i % 7 == 1 else [None if j == 1 else ["%d" % k for k in range(j)] for j in range(i % 4)] for i in range(n)],
                      pa.list_(pa.list_(pa.string()))),
    "list3": pa.array([[[[1, None], []], None, [[]]], None, [None, [[2]]], []] * (n // 4), pa.list_(pa.list_(pa.list_(pa.int32())))),
    "struct": pa.array([None if i % 6 == 2 else {"a": i, "b": None if i % 2 else "b%d" % i} for i in range(n)],
                       pa.struct([pa.field("a", pa.int32(), False), ("b", pa.string())])),
    "struct2": pa.array([None if i % 6 == 2 else {"in": None if i % 4 == 1 else {"deep": None if i % 3 == 1 else i / 2}} for i in range(n)],
                        pa.struct([("in", pa.struct([("deep", pa.float64())]))])),
    "struct_of_list": pa.array([None if i % 6 == 2 else {"l": None if i % 4 == 1 else list(range(i % 3)), "y": i} for i in range(n)],
                               pa.struct([("l", pa.list_(pa.int64())), ("y", pa.int64())])),
    "only_lists": pa.array([None if i % 6 == 2 else {"l": None if i % 4 == 1 else list(range(i % 3))} for i in range(n)],
                           pa.struct([("l", pa.list_(pa.int64()))])),
    "list_of_struct": pa.array([nest(i) for i in range(n)], pa.list_(pa.struct([("x", pa.int64()), ("tags", pa.list_(pa.string()))]))),
    "map": pa.array([None if i % 5 == 3 else [("k%d" % j, None if j == 1 else i) for j in range(i % 4)] for i in range(n)],
                    pa.map_(pa.string(), pa.int64())),
    "map_of_list": pa.array([[("k", [1, None])], [], None, [("a", None), ("b", [])]] * (n // 4), pa.map_(pa.string(), pa.list_(pa.int32()))),
    "fixed_list": pa.array([[i, i + 1, None] for i in range(n)], pa.list_(pa.int32(), 3)),
    "bools": pa.array([[True, None, False][: i % 4] for i in range(n)], pa.list_(pa.bool_())),
    "prices": pa.array([[D(i) / 4] * (i % 3) for i in range(n)], pa.list_(pa.decimal128(20, 2))),
    "after": pa.array(range(n), pa.int64()),
})
everything = {"primitive": primitive, "times": times, "decimals": decimals, "nested": nested}

for name, table in everything.items():
    for codec in ("none", "snappy", "gzip", "brotli", "zstd", "lz4"):
        arrow("pyarrow-%s-%s" % (name, codec), table, compression=codec)
    arrow("pyarrow-%s-v2-pages" % name, table, data_page_version="2.0", compression="zstd")
    arrow("pyarrow-%s-v1" % name, table, version="1.0")
    arrow("pyarrow-%s-no-dictionary" % name, table, use_dictionary=False, compression="none")
    arrow("pyarrow-%s-checksums" % name, table, write_page_checksum=True, data_page_version="2.0")
    arrow("pyarrow-%s-small-pages" % name, table, data_page_size=64, write_batch_size=3, compression="none")
    arrow("pyarrow-%s-many-groups" % name, table, row_group_size=7)
    arrow("pyarrow-%s-dictionary-overflows" % name, table, dictionary_pagesize_limit=100, data_page_size=200, write_batch_size=16)
    arrow("pyarrow-%s-no-schema" % name, table, store_schema=False)
    arrow("pyarrow-%s-page-index" % name, table, write_page_index=True)
    arrow("pyarrow-%s-no-statistics" % name, table, write_statistics=False)
    arrow("pyarrow-%s-empty" % name, table.slice(0, 0))
    arrow("pyarrow-%s-one-row" % name, table.slice(1, 1))

required = pa.schema([pa.field(f.name, f.type, False) for f in primitive.schema if primitive[f.name].null_count == 0])
arrow("pyarrow-required", primitive.select(required.names).cast(required), compression="zstd")
arrow("pyarrow-int96", times.select([c for c in times.column_names if not c.startswith("duration")]), use_deprecated_int96_timestamps=True)
arrow("pyarrow-decimal-integers", decimals, store_decimal_as_integer=True)
arrow("pyarrow-wide", pa.table({"c%d" % i: [i, None, -i] for i in range(2000)}))
for version in ("1.0", "2.0"):
    def encoded(name, encoding, columns):
        arrow("pyarrow-%s-%s" % (name, version), primitive.select(columns), use_dictionary=False, data_page_version=version,
              column_encoding={c: encoding for c in columns}, data_page_size=300, write_batch_size=50)
    encoded("delta", "DELTA_BINARY_PACKED", ["i8", "i16", "i32", "i64", "u8", "u32", "u64", "date", "time_us", "constant", "sequence", "all_null"])
    encoded("delta-length", "DELTA_LENGTH_BYTE_ARRAY", ["text", "long", "bytes"])
    encoded("delta-bytes", "DELTA_BYTE_ARRAY", ["text", "long", "bytes", "fixed"])
    encoded("split", "BYTE_STREAM_SPLIT", ["i32", "i64", "f32", "f64", "fixed", "f16"])
    encoded("rle", "RLE", ["bool", "bool_required"])

frame = pd.DataFrame({
    "i": pd.array(nulls(range(n)), dtype="Int64"), "f": np.arange(n) / 3, "s": texts, "c": pd.Categorical(texts),
    "t": pd.to_datetime(moments[3:4] * n).tz_localize("America/New_York"), "d": pd.to_timedelta(np.arange(n), unit="s"),
    "l": [list(range(i % 3)) for i in range(n)], "o": [None if i % 3 else {"a": i, "b": "x"} for i in range(n)],
}, index=pd.Index(["row%d" % i for i in range(n)], name="id"))
frame.to_parquet(os.path.join(root, "pandas.parquet"))
expect("pandas")
frame.to_parquet(os.path.join(root, "pandas-gzip.parquet"), compression="gzip", index=False, row_group_size=100)
expect("pandas-gzip")

polar = pl.DataFrame({
    "i8": pl.Series(nulls([i % 100 for i in range(n)]), dtype=pl.Int8), "u64": pl.Series(range(n), dtype=pl.UInt64),
    "i64": nulls(range(n)), "f32": pl.Series([i / 3 for i in range(n)], dtype=pl.Float32), "b": nulls([i % 2 == 0 for i in range(n)]),
    "s": nulls(texts), "bin": [b"x" * (i % 5) for i in range(n)], "cat": pl.Series(texts, dtype=pl.Categorical),
    "date": [m.date() for m in moments], "time": [m.time() for m in moments], "ts": moments,
    "zone": pl.Series(moments).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo"),
    "dur": pl.Series(range(n)).cast(pl.Duration("us")), "dec": pl.Series([D(i) / 8 for i in range(n)], dtype=pl.Decimal(20, 3)),
    "list": [None if i % 5 == 1 else [None if j == 1 else j for j in range(i % 4)] for i in range(n)],
    "struct": [{"a": i, "b": None if i % 3 else "x"} for i in range(n)], "lol": [[[1], []], None, [None]] * (n // 3) + [None],
    "los": [[{"x": i, "y": [i] * (i % 3)}] * (i % 3) for i in range(n)],
    "arr": pl.Series([[i, i] for i in range(n)], dtype=pl.Array(pl.Int32, 2)), "null": [None] * n,
})
for codec in ("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"):
    name = "polars-" + codec
    polar.write_parquet(os.path.join(root, name + ".parquet"), compression=codec)
    expect(name)
polar.write_parquet(os.path.join(root, "polars-groups.parquet"), row_group_size=64, data_page_size=128)
expect("polars-groups")
polar.head(0).write_parquet(os.path.join(root, "polars-empty.parquet"))
expect("polars-empty")

duck = duckdb.connect()
duck.execute("""create table t as select
    i::tinyint % 100 as i8, i::bigint * 9007199254740993 as i64, i::utinyint as u8, (i * 77)::ubigint as u64, i::double / 3 as f, (i / 3)::float as f32,
    case when i % 3 = 1 then null else 'w' || (i % 17) end as s, i % 2 = 0 as b, ('b' || i)::blob as bin, date '2026-01-01' + i::int as d,
    time '10:00:00' + to_microseconds(i) as t, timestamp '2026-01-01' + to_seconds(i) as ts, timestamptz '2026-01-01 00:00:00+02' as tz,
    (timestamp '2026-01-01' + to_seconds(i))::timestamp_ns as ns, (i / 7)::decimal(9, 3) as dec9, (i / 7)::decimal(18, 3) as dec18,
    (-i / 7)::decimal(38, 10) as dec38, case when i % 4 = 1 then null else [x for x in range(i % 5)] end as l,
    {'a': i, 'b': case when i % 3 = 0 then null else ['x', null] end} as st, map {'k' || (i % 3): i, 'z': null} as m,
    ('00000000-0000-0000-0000-0000000' || (10000 + i))::uuid as id, (case when i % 2 = 0 then 'yes' else 'no' end)::enum('yes', 'no') as e,
    i::hugeint as huge, null::int as nothing, [[{'p': i}], null, []] as deep
    from range(120) r(i)""")
for codec in ("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4_raw"):
    for version in ("V1", "V2"):
        name = "duckdb-%s-%s" % (codec, version)
        duck.execute("copy t to '%s' (format parquet, compression %s, parquet_version %s)" % (os.path.join(root, name + ".parquet"), codec, version))
        expect(name)
duck.execute("copy (select range as i, range::varchar as s from range(10000)) to '%s' (format parquet, row_group_size 2048)"
             % os.path.join(root, "duckdb-groups.parquet"))
expect("duckdb-groups")
duck.execute("copy (select * from t where false) to '%s' (format parquet)" % os.path.join(root, "duckdb-empty.parquet"))
expect("duckdb-empty")
