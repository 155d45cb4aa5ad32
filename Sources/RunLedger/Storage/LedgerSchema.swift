/// The versions of the ledger's schema, each as the SQL that leads to it from the one before.
///
/// A version that was ever released is never edited: a change is a further version.
package struct LedgerSchema: Sendable {
    /// One statement list for each version, from version 1 on.
    package let versions: [String]

    /// Takes the statements of each version, from version 1 on.
    package init(versions: [String]) { self.versions = versions }

    /// The version that this schema ends with.
    package var newest: Int { versions.count }

    /// What this program writes.
    package static let current = LedgerSchema(versions: [
        version1, version2, version3, version4, version5,
    ])

    /// Marks the file as a ledger in the database header (SQLite file format §1.3.14): `Gdwl`.
    static let applicationIdentifier: Int64 = 0x4764_776C

    /// Rows of jobs, attempts and preparations carry the store's `generation`, which a reset of
    /// its progress raises: rows of lower ones are history.
    private static let version1 = """
        CREATE TABLE run (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            request_digest TEXT NOT NULL,
            request TEXT NOT NULL,
            engine TEXT NOT NULL,
            begun_at INTEGER NOT NULL,
            state TEXT NOT NULL,
            reason TEXT NOT NULL,
            changed_at INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE store (
            run INTEGER NOT NULL,
            number INTEGER NOT NULL,
            path BLOB NOT NULL,
            output BLOB,
            bytes INTEGER NOT NULL,
            state TEXT NOT NULL,
            generation INTEGER NOT NULL,
            failure_code INTEGER,
            failure_text TEXT,
            changed_at INTEGER,
            PRIMARY KEY (run, number)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX store_path ON store (path, run);
        CREATE INDEX store_state ON store (run, state, number);
        CREATE TABLE preparation (
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            source_fingerprint TEXT NOT NULL,
            plan_digest TEXT NOT NULL,
            engine TEXT NOT NULL,
            has_snapshot INTEGER NOT NULL,
            boot_identifier TEXT NOT NULL,
            chunks INTEGER NOT NULL,
            link_chunks INTEGER NOT NULL,
            PRIMARY KEY (run, store, generation)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE job (
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            work TEXT NOT NULL,
            chunk INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            newest INTEGER,
            accepted INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            failures INTEGER NOT NULL DEFAULT 0,
            redone INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (run, store, generation, work, chunk)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX job_failed ON job (run, store) WHERE failures > 0 AND accepted IS NULL;
        CREATE TABLE attempt (
            number INTEGER PRIMARY KEY,
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            work TEXT NOT NULL,
            chunk INTEGER NOT NULL,
            id TEXT NOT NULL,
            epoch INTEGER NOT NULL,
            begun_at INTEGER NOT NULL,
            is_redone INTEGER NOT NULL,
            outcome INTEGER NOT NULL,
            failure_code INTEGER,
            failure_text TEXT,
            ended_at INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX attempt_id ON attempt (run, id);
        CREATE INDEX attempt_store ON attempt (run, store);
        CREATE TABLE receipt (
            attempt INTEGER PRIMARY KEY,
            content TEXT NOT NULL
        ) STRICT;
        CREATE TABLE reservation (
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            device INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            inodes INTEGER NOT NULL,
            PRIMARY KEY (run, store, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE swap_step (
            number INTEGER PRIMARY KEY,
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            kind TEXT NOT NULL,
            step INTEGER NOT NULL,
            name TEXT NOT NULL,
            is_done INTEGER NOT NULL,
            detail TEXT NOT NULL
        ) STRICT;
        CREATE INDEX swap_step_store ON swap_step (run, store);
        CREATE TABLE stage_time (
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            stage TEXT NOT NULL,
            milliseconds INTEGER NOT NULL,
            PRIMARY KEY (run, store, stage)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE store_report (
            run INTEGER NOT NULL,
            store INTEGER NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (run, store)
        ) STRICT;
        CREATE TABLE event (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            run INTEGER NOT NULL,
            store INTEGER,
            kind TEXT NOT NULL,
            text TEXT NOT NULL,
            at INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX event_run ON event (run);
        CREATE INDEX event_store ON event (run, store) WHERE store IS NOT NULL;
        """

    /// Who makes an attempt, which jobs were given up, and from which attempt on failures count:
    /// those before a replay are forgiven.
    private static let version2 = """
        ALTER TABLE attempt ADD COLUMN worker TEXT;
        ALTER TABLE job ADD COLUMN given_up_code INTEGER;
        ALTER TABLE job ADD COLUMN given_up_text TEXT;
        ALTER TABLE store ADD COLUMN forgiven INTEGER NOT NULL DEFAULT 0;
        """

    /// How many stores of a run have each state, and their bytes, which may add up to more than an
    /// integer holds: counting 100,000 stores takes too long for a status.
    private static let version3 = """
        CREATE TABLE tally (
            run INTEGER NOT NULL,
            state TEXT NOT NULL,
            stores INTEGER NOT NULL,
            bytes REAL NOT NULL,
            PRIMARY KEY (run, state)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO tally (run, state, stores, bytes)
            SELECT run, state, count(*), total(bytes) FROM store GROUP BY run, state;
        """

    /// Why a run has its state, which state a store had before, and how it ended, as words of their
    /// own: they stood in texts for people before, from which they are read once.
    private static let version4 = """
        ALTER TABLE run ADD COLUMN reason_code TEXT;
        UPDATE run SET reason_code = CASE
            WHEN state = 'paused' AND reason = 'paused on request' THEN 'paused'
            WHEN state = 'paused' AND substr(reason, 1, 9) = 'no room: ' THEN 'no-space'
            WHEN state = 'paused' THEN 'stopped'
            WHEN state = 'ended' THEN 'finished'
            WHEN state = 'cancelled' AND reason IN (
                'cancelled on request', 'cancelled by the user', 'given up by hand')
                THEN 'cancelled'
            WHEN state = 'cancelled' THEN 'refused'
            END;
        UPDATE run SET reason = CASE reason_code
            WHEN 'no-space' THEN substr(reason, 10)
            WHEN 'stopped' THEN reason
            WHEN 'refused' THEN reason
            ELSE '' END;
        ALTER TABLE store ADD COLUMN former_state TEXT;
        UPDATE store SET former_state = (
            SELECT substr(event.text, 1, instr(event.text, ' → ') - 1) FROM event
            WHERE event.run = store.run AND event.store = store.number
                AND event.kind = 'store' AND event.text LIKE '% → pruned'
            ORDER BY event.number DESC LIMIT 1)
        WHERE state = 'pruned';
        ALTER TABLE store_report ADD COLUMN outcome TEXT NOT NULL DEFAULT 'migrated';
        UPDATE store_report SET outcome = CASE
            WHEN substr(content, 1, 12) = '{"unchanged"' THEN 'unchanged'
            WHEN substr(content, 1, 10) = '{"failure"' THEN 'failed'
            ELSE 'migrated' END;
        """

    /// The version from which on a ledger knows where it is.
    static let homeVersion = 5

    /// Where the ledger is, so that a copy of it is noticed: its runs belong to the first one.
    private static let version5 = """
        CREATE TABLE home (path BLOB NOT NULL, identifier BLOB NOT NULL) STRICT;
        """
}
