"""Moves photos out of items as people write it by hand: a loop that saves after every ten objects.

Each photo becomes an object of its own, beside a thumbnail by libvips.

usage: moving-van.py SOURCE TEMPLATE RESULT

SOURCE    the store of the scenario moving-van
TEMPLATE  a store of the new model, of which the schema and the metadata are taken
RESULT    nothing may be there
"""
import ctypes
import sqlite3
import sys

EVERY = 10
WIDTH = 200
SIZE_DOWN = 2
FAIL_ON_TRUNCATED = 1

vips = ctypes.CDLL("libvips.so.42")
glib = ctypes.CDLL("libglib-2.0.so.0")
gobject = ctypes.CDLL("libgobject-2.0.so.0")
if vips.vips_init(b"moving-van"):
    sys.exit("libvips does not start")
vips.vips_concurrency_set(1)
vips.vips_cache_set_max(0)


def thumbnail(photo):
    image, data, length = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
    if vips.vips_thumbnail_buffer(
            photo, ctypes.c_size_t(len(photo)), ctypes.byref(image), WIDTH,
            b"size", SIZE_DOWN, b"fail_on", FAIL_ON_TRUNCATED, None):
        sys.exit("libvips cannot read a photo")
    size = vips.vips_image_get_width(image), vips.vips_image_get_height(image)
    if vips.vips_jpegsave_buffer(
            image, ctypes.byref(data), ctypes.byref(length), b"Q", 80, b"strip", 1, None):
        sys.exit("libvips cannot write a thumbnail")
    picture = ctypes.string_at(data, length.value)
    glib.g_free(data)
    gobject.g_object_unref(image)
    return (picture, *size)


def insert(store, table, columns):
    marks = ", ".join("?" * len(columns))
    store.execute(
        f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", tuple(columns.values()))


def main(source, template, result):
    store = sqlite3.connect(result, isolation_level=None)
    store.execute("PRAGMA journal_mode = WAL")
    store.execute("ATTACH ? AS template", (template,))
    for name, sql in store.execute(
            "SELECT name, sql FROM template.sqlite_master WHERE sql IS NOT NULL "
            "ORDER BY type DESC").fetchall():
        store.execute(sql)
        if name in ("Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"):
            store.execute(f"INSERT INTO main.{name} SELECT * FROM template.{name}")
    store.execute("DETACH template")
    numbers = dict(store.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
    keys = dict.fromkeys(("Item", "Image", "Thumbnail"), 0)

    def save():
        for entity, key in keys.items():
            store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?", (key, entity))
        store.execute("COMMIT")
        store.execute("BEGIN")

    store.execute("BEGIN")
    items = sqlite3.connect(f"file:{source}?mode=ro", uri=True).execute(
        "SELECT Z_PK, Z_OPT, ZNAME, ZIDENTIFIER, ZBOUGHTON, ZPHOTO FROM ZITEM ORDER BY Z_PK")
    for count, (key, version, name, identifier, bought, photo) in enumerate(items, 1):
        links = {}
        if photo is not None:
            links = {"ZIMAGE": key, "ZTHUMBNAIL": key}
            insert(store, "ZIMAGE", {
                "Z_PK": key, "Z_ENT": numbers["Image"], "Z_OPT": version, "ZITEM": key,
                "ZDATA": photo})
            picture, width, height = thumbnail(photo)
            insert(store, "ZTHUMBNAIL", {
                "Z_PK": key, "Z_ENT": numbers["Thumbnail"], "Z_OPT": 1, "ZITEM": key,
                "ZWIDTH": width, "ZHEIGHT": height, "ZPICTURE": picture})
            keys["Image"] = keys["Thumbnail"] = key
        insert(store, "ZITEM", {
            "Z_PK": key, "Z_ENT": numbers["Item"], "Z_OPT": version, "ZNAME": name,
            "ZIDENTIFIER": identifier, "ZBOUGHTON": bought, **links})
        keys["Item"] = key
        if count % EVERY == 0:
            save()
    save()
    store.close()


main(*sys.argv[1:])
