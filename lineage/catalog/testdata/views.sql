-- heirloom catalog, version 12
-- as of 2026-11-20T12:00:00Z
CREATE OR REPLACE VIEW runs AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/runs/runs.parquet');
CREATE OR REPLACE VIEW metadata AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/metadata/metadata.parquet');
CREATE OR REPLACE VIEW artifacts AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/artifacts/artifacts.parquet');
CREATE OR REPLACE VIEW links AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/links/links.parquet');
CREATE OR REPLACE VIEW edges AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/edges/edges.parquet');
CREATE OR REPLACE VIEW ancestry AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/ancestry/ancestry.parquet');
CREATE OR REPLACE VIEW datasets AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/datasets/datasets.parquet');
CREATE OR REPLACE VIEW aliases AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/aliases/aliases.parquet');
CREATE OR REPLACE VIEW records AS SELECT * FROM read_parquet('s3://bucket/it''s/heirloom/catalog/00000000000000000012/records/records.parquet');
-- What a run came from, as the table ancestry has it too:
-- WITH RECURSIVE up (id) AS (
--   SELECT source_id FROM edges WHERE target_id = 'RUN'
--   UNION SELECT source_id FROM edges JOIN up ON target_id = id)
-- SELECT id FROM up;
