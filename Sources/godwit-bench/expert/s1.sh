#!/bin/sh
# What an expert would write by hand to rewrite the store of the small-rows benchmark: a new file,
# one INSERT … SELECT, the index afterwards, the checks of our validation stage in plain SQL,
# fsync, rename. One process of sqlite3; THREADS (2) is how many helpers its sorter may use.
#
# usage: s1.sh SOURCE DESTINATION TEMPLATE
#
# SOURCE       a store of the model's first version, at rest (no -wal)
# DESTINATION  must not exist
# TEMPLATE     any store of the second version: its metadata and model cache are taken over,
#              which plain SQL cannot make
#
# The change of the model: ZNOTE is renamed to ZREMARK, ZQUALITY is new and 1.
# Seconds by step go to standard error. Exit 0 only where every check held.
set -eu

if [ $# -ne 3 ]; then
    echo "usage: s1.sh SOURCE DESTINATION TEMPLATE" >&2
    exit 64
fi
source=$1
destination=$2
template=$3
new="$destination.new"
threads=${THREADS:-2}
if [ -e "$destination" ] || [ -e "$new" ]; then
    echo "$destination or $new exists already" >&2
    exit 64
fi

# URIs with immutable=1: no locks, no -wal, nothing written beside the source.
quoted_source=$(printf %s "$source" | sed "s/%/%25/g; s/?/%3f/g; s/#/%23/g; s/'/''/g")
quoted_template=$(printf %s "$template" | sed "s/%/%25/g; s/?/%3f/g; s/#/%23/g; s/'/''/g")

sqlite3 -bail -batch "$new" >"$new.report" <<SQL
PRAGMA page_size = 4096;
PRAGMA synchronous = OFF;
PRAGMA journal_mode = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA secure_delete = OFF;
PRAGMA threads = $threads;
-- The cache stays small: a large one makes CREATE INDEX slower. Mapped files save read calls.
PRAGMA cache_size = -2000;
PRAGMA main.mmap_size = 2000000000;
ATTACH 'file:$quoted_source?mode=ro&immutable=1' AS source;
PRAGMA source.mmap_size = 2000000000;
ATTACH 'file:$quoted_template?mode=ro&immutable=1' AS template;

CREATE TEMP TABLE step (name TEXT, time REAL);
INSERT INTO step VALUES ('start', julianday('now'));

BEGIN;
CREATE TABLE ZREADING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISVALID INTEGER, ZQUALITY INTEGER, ZSENSOR INTEGER, ZSEQUENCE INTEGER, ZTAKENAT TIMESTAMP, ZVALUE FLOAT, ZREMARK VARCHAR, ZUNIT VARCHAR, ZIDENTIFIER BLOB );
CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
INSERT INTO main.ZREADING (Z_PK, Z_ENT, Z_OPT, ZISVALID, ZQUALITY, ZSENSOR, ZSEQUENCE, ZTAKENAT, ZVALUE, ZREMARK, ZUNIT, ZIDENTIFIER)
    SELECT Z_PK, Z_ENT, Z_OPT, ZISVALID, 1, ZSENSOR, ZSEQUENCE, ZTAKENAT, ZVALUE, ZNOTE, ZUNIT, ZIDENTIFIER FROM source.ZREADING NOT INDEXED ORDER BY Z_PK;
INSERT INTO main.Z_PRIMARYKEY SELECT * FROM source.Z_PRIMARYKEY;
INSERT INTO main.Z_METADATA SELECT s.Z_VERSION, s.Z_UUID, t.Z_PLIST FROM source.Z_METADATA s, template.Z_METADATA t;
INSERT INTO main.Z_MODELCACHE SELECT * FROM template.Z_MODELCACHE;
COMMIT;
INSERT INTO step VALUES ('copy', julianday('now'));

CREATE INDEX Z_Reading_sensor ON ZREADING (ZSENSOR COLLATE BINARY ASC);
INSERT INTO step VALUES ('index', julianday('now'));

-- Every value of every row: exact, and cheaper than sums or hashes of both sides, because the keys
-- of both tables ascend together.
SELECT 'rows', (SELECT count(*) FROM source.ZREADING NOT INDEXED) = (SELECT count(*) FROM main.ZREADING NOT INDEXED);
SELECT 'values', (SELECT count(*) FROM source.ZREADING NOT INDEXED) =
    (SELECT count(*) FROM source.ZREADING s NOT INDEXED CROSS JOIN main.ZREADING d ON d.Z_PK = s.Z_PK
     WHERE d.Z_ENT IS s.Z_ENT AND d.Z_OPT IS s.Z_OPT AND d.ZISVALID IS s.ZISVALID AND d.ZQUALITY IS 1
       AND d.ZSENSOR IS s.ZSENSOR AND d.ZSEQUENCE IS s.ZSEQUENCE AND d.ZTAKENAT IS s.ZTAKENAT
       AND d.ZVALUE IS s.ZVALUE AND d.ZREMARK IS s.ZNOTE AND d.ZUNIT IS s.ZUNIT
       AND d.ZIDENTIFIER IS s.ZIDENTIFIER);
INSERT INTO step VALUES ('compare', julianday('now'));

-- The index against its table.
SELECT 'index', (SELECT count(*) || ' ' || total(ZSENSOR) || ' ' || total(Z_PK) FROM ZREADING INDEXED BY Z_Reading_sensor)
    = (SELECT count(*) || ' ' || total(ZSENSOR) || ' ' || total(Z_PK) FROM ZREADING NOT INDEXED);
SELECT 'maximum', (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Reading') >= (SELECT max(Z_PK) FROM ZREADING);
INSERT INTO step VALUES ('index check', julianday('now'));
SELECT 'pages', (SELECT group_concat(quick_check) FROM pragma_quick_check) = 'ok';
INSERT INTO step VALUES ('quick_check', julianday('now'));

.output stderr
SELECT name, round((time - lag(time) OVER (ORDER BY rowid)) * 86400, 2) FROM step;
SQL

failed=$(grep -E '^(rows|values|index|maximum|pages)\|' "$new.report" | grep -vc '|1$' || true)
held=$(grep -cE '^(rows|values|index|maximum|pages)\|1$' "$new.report" || true)
if [ "$failed" -ne 0 ] || [ "$held" -ne 5 ]; then
    cat "$new.report" >&2
    echo "a check failed; $new is left as it is" >&2
    exit 1
fi
rm -f "$new.report"
# Core Data's stores are write-ahead logged; closing removes the log.
sqlite3 -batch "$new" 'PRAGMA journal_mode = WAL' >/dev/null
sync "$new"
mv "$new" "$destination"
sync "$(dirname "$destination")"
