-- What heirloom index keeps of one tracker root. Times are nanoseconds since the Unix epoch, NULL where unknown.

CREATE TABLE setting (
  name  TEXT PRIMARY KEY,
  value ANY
) WITHOUT ROWID, STRICT;

-- Everything that has an id: runs, and whatever a run used.
CREATE TABLE node (
  n  INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
) STRICT;

-- Runs that the root records.
CREATE TABLE run (
  n          INTEGER PRIMARY KEY REFERENCES node,
  dir        TEXT NOT NULL UNIQUE, -- the id as the root's directories spell it, in whose order a listing comes
  print      BLOB NOT NULL,    -- tracker.Print of its objects when they were read
  settled    INTEGER NOT NULL, -- 0: objects were too young for the print to be trusted, or the run goes on
  name       TEXT NOT NULL,
  command    TEXT NOT NULL,    -- words joined by spaces
  state      TEXT NOT NULL,    -- RUNNING until it ends, though it may be lost by now
  lost_at    INTEGER,          -- when a running one becomes LOST; NULL = never
  started    INTEGER,
  ended      INTEGER,
  attempts   INTEGER NOT NULL,
  warnings   INTEGER NOT NULL, -- records that could not be read
  inputs     INTEGER NOT NULL  -- links to what it used
) STRICT;

-- One row: what Completeness tells, kept by the triggers below.
CREATE TABLE total (
  runs       INTEGER NOT NULL,
  unreadable INTEGER NOT NULL, -- records
  no_inputs  INTEGER NOT NULL  -- runs
) STRICT;
INSERT INTO total VALUES (0, 0, 0);
CREATE TRIGGER run_comes AFTER INSERT ON run BEGIN
  UPDATE total SET runs = runs + 1, unreadable = unreadable + new.warnings, no_inputs = no_inputs + (new.inputs = 0);
END;
CREATE TRIGGER run_changes AFTER UPDATE OF warnings, inputs ON run BEGIN
  UPDATE total SET unreadable = unreadable + new.warnings - old.warnings, no_inputs = no_inputs + (new.inputs = 0) - (old.inputs = 0);
END;
CREATE TRIGGER run_goes AFTER DELETE ON run BEGIN
  UPDATE total SET runs = runs - 1, unreadable = unreadable - old.warnings, no_inputs = no_inputs - (old.inputs = 0);
END;

-- All that was read of a run, as record.go writes it, and before it what brief.go needs of the metadata.
CREATE TABLE record (
  run   INTEGER PRIMARY KEY REFERENCES run,
  brief TEXT NOT NULL,
  body  BLOB NOT NULL
) STRICT;

CREATE TABLE metakey (
  k    INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;

-- The metadata of a run, last value of each key.
CREATE TABLE meta (
  run    INTEGER NOT NULL REFERENCES run,
  k      INTEGER NOT NULL REFERENCES metakey,
  type   TEXT NOT NULL, -- string, int, float, bool, list or object
  text   TEXT NOT NULL, -- a string itself, of anything else its JSON
  number REAL,          -- where the value is a number or reads as one
  PRIMARY KEY (k, run)
) WITHOUT ROWID, STRICT;

CREATE TABLE artifact (
  run        INTEGER NOT NULL REFERENCES run,
  name       TEXT NOT NULL,
  path       TEXT NOT NULL,
  kind       TEXT,
  sha256     TEXT,
  size_bytes INTEGER,
  key        TEXT, -- where the bytes are, below the store
  PRIMARY KEY (run, name)
) WITHOUT ROWID, STRICT;

-- One edge: run used artifact of source.
CREATE TABLE link (
  run      INTEGER NOT NULL REFERENCES run,
  source   INTEGER NOT NULL REFERENCES node,
  artifact TEXT NOT NULL, -- '' = none named
  role     TEXT NOT NULL, -- '' = not said, as by TorchX
  time     INTEGER,
  uri      TEXT NOT NULL,
  name     TEXT NOT NULL,
  version  TEXT NOT NULL,
  digest   TEXT NOT NULL,
  PRIMARY KEY (run, source, artifact)
) WITHOUT ROWID, STRICT;

-- Entries of the journal that were read, as far back as entries are looked for.
CREATE TABLE seen (
  name TEXT PRIMARY KEY
) WITHOUT ROWID, STRICT;

-- What each alias means, with the number under which the store keeps that.
CREATE TABLE alias (
  name     TEXT PRIMARY KEY,
  number   INTEGER NOT NULL,
  node     TEXT NOT NULL, -- '' = it was removed
  artifact TEXT NOT NULL, -- what follows the run in node; '' = the run itself
  time     INTEGER,
  user     TEXT NOT NULL,
  reason   TEXT NOT NULL
) WITHOUT ROWID, STRICT;
