-- By what the tables of schema.sql are searched beside their keys. An index that holds runs has all of these; while an
-- empty one is filled they are left out, and made at the end, which takes a third of the time.

CREATE INDEX IF NOT EXISTS run_started ON run (started DESC, n);

-- Runs that may still change: they are looked at in each refresh.
CREATE INDEX IF NOT EXISTS run_open ON run (n) WHERE state = 'RUNNING' OR settled = 0;

CREATE INDEX IF NOT EXISTS meta_run ON meta (run);
CREATE INDEX IF NOT EXISTS meta_text ON meta (k, text);
CREATE INDEX IF NOT EXISTS meta_number ON meta (k, number) WHERE number IS NOT NULL;

CREATE INDEX IF NOT EXISTS artifact_sha256 ON artifact (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX IF NOT EXISTS artifact_path ON artifact (path);

-- Behind these columns stand run and artifact. What is told of an input stands first, so that each telling is found
-- without going through all uses.
CREATE INDEX IF NOT EXISTS link_source ON link (source, role, uri, name, version, digest);
CREATE INDEX IF NOT EXISTS link_uri ON link (uri) WHERE uri <> '';
CREATE INDEX IF NOT EXISTS link_name ON link (name, version) WHERE name <> '';
CREATE INDEX IF NOT EXISTS link_digest ON link (digest) WHERE digest <> '';

-- The last part of an id, as find.go writes it.
CREATE INDEX IF NOT EXISTS node_last ON node (CASE WHEN substr(id, -1) = '/' THEN id ELSE substr(id, length(rtrim(id, replace(id, '/', ''))) + 1) END);
