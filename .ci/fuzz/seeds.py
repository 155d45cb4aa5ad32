"""Fills a folder with inputs to begin from: what the fixtures hold, cut out of the stores, or
messages as protobuf.

usage: seeds.py property-list|model-archive|control-message|slot-stream FIXTURES FOLDER
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


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def body(*fields):
    """A protobuf message: numbers, texts and messages under the numbers 1, 2, ...; None lacks."""
    out = b""
    for number, value in enumerate(fields, 1):
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, int):
                out += varint(number << 3) + varint(item)
            elif item is not None:
                data = item.encode() if isinstance(item, str) else item
                out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def messages(harness):
    """Frames of every direction of the control channel, or streams to and from a slot."""
    file = body("run", "a/b")
    sum_ = b"\x08\x02" + b"\x11" + b"h" * 8 + b"\x19" + b"l" * 8
    work = body(None, 3)
    job = body("r", 1, work, file, "d", file, file, file, "f", "1", body(64, 1))
    order = body(job, body("a", 1, file), 9)
    receipt = body(
        "r", 1, work, "a", 1, [body(file, 5, "d")] * 2, 7, body("A.b", sum_), body("x", 2))
    failure = body("a", 9, "text", 1)
    held = body("r", 1, work, "a", 1)
    hello = body("w", body(1, 1), "1", "3", ["p"], ["run"], 2, 9, [held], "h")
    run = body("r", "open", body("done", 1), body("running", 1), 1, 2, 3, 4, 5, "disk")
    worker = body("w", "h", "1", 2, 1, 4, "why")
    report = body("c", "1", [run, run], [worker, worker])
    refusal = body(1, "text", body(1, 1))
    frames = {
        1: hello, 2: body(2), 3: body("a", 1, 2), 4: receipt, 5: failure, 6: body("a"),
        7: body(5, ["a", "b"]), 8: body("end"), 33: body("c", 1, 9, 3, ["a"], ["b"]),
        34: refusal, 35: body([order]), 36: body("a"),
        37: body("a", 2), 39: b"",
        65: body("{}", [file, file], body(1, 2, 3)), 66: body("r"), 71: body("w"),
        72: body("r", 1), 74: body("r", 5, 6), 75: b"", 97: body("r"), 98: refusal, 99: report,
        100: body(None, body("r", 1, "k", "t")), 101: b"",
    }
    if harness == "control-message":
        for number, content in frames.items():
            yield bytes([0 if number in (1, 34, 98) else 1, number]) + content
        return
    for numbers in ({129: order, 130: b"", 131: b""},
                    {161: body("1"), 162: frames[3], 163: receipt, 164: failure}):
        stream = b"\x05"
        for number, content in numbers.items():
            stream += (len(content) + 2).to_bytes(4, "big") + bytes([1, number]) + content
        yield stream


def main():
    harness, fixtures, folder = sys.argv[1:]
    if harness in ("control-message", "slot-stream"):
        contents = messages(harness)
    elif harness in ("property-list", "model-archive"):
        contents = inputs(harness, fixtures)
    else:
        return
    for content in contents:
        if len(content) <= LIMIT:
            name = hashlib.sha256(content).hexdigest()[:16]
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


main()
