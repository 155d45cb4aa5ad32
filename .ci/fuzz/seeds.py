"""Fills a folder with inputs to begin from: what the fixtures hold, cut out of the stores.

usage: seeds.py property-list|model-archive FIXTURES FOLDER
Each harness that is not named here begins with an empty folder.
"""
import hashlib
import os
import shutil
import sqlite3
import sys
import tempfile
import zlib

# Larger inputs cost speed and find no more.
LIMIT = 100_000


def cells(store):
    """Metadata and cached model of a store, read on a copy."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "store")
        for suffix in ("", "-wal"):
            if os.path.exists(store + suffix):
                shutil.copy(store + suffix, copy + suffix)
        database = sqlite3.connect(copy)
        try:
            metadata = database.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()
            has_cache = database.execute(
                "SELECT 1 FROM sqlite_master WHERE name = 'Z_MODELCACHE'").fetchone()
            cached = has_cache and database.execute(
                "SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
        finally:
            database.close()
    return metadata[0], zlib.decompress(cached[0], -15) if cached else None


def inputs(harness, fixtures):
    for folder, _, names in os.walk(fixtures):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                head = file.read(16)
            if head.startswith(b"bplist00"):
                with open(path, "rb") as file:
                    yield file.read()
            elif head == b"SQLite format 3\0" and not name.endswith(("-wal", "-shm")):
                metadata, cached = cells(path)
                if harness == "property-list":
                    yield metadata
                if cached is not None:
                    yield cached


def main():
    harness, fixtures, folder = sys.argv[1:]
    if harness not in ("property-list", "model-archive"):
        return
    for content in inputs(harness, fixtures):
        if len(content) <= LIMIT:
            name = hashlib.sha256(content).hexdigest()[:16]
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


main()
