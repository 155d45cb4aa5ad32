"""Imports part files into a store of notes as people write it by hand.

It finds or inserts each object, and saves after every ten. Links to objects that have not come yet
wait in memory, so that a crash loses them.

usage: import.py STORE PARTS

STORE  an empty store of the notes model, version 3
PARTS  a folder of files NUMBER.jsonl with one object in each line
"""
import datetime
import json
import os
import sqlite3
import sys
import uuid

EVERY = 10
EPOCH = datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)


def date(value):
    if isinstance(value, (int, float)):
        return value
    return (datetime.datetime.fromisoformat(value.replace("Z", "+00:00")) - EPOCH).total_seconds()


class Importer:
    def __init__(self, path):
        self.store = sqlite3.connect(path, isolation_level=None)
        self.numbers = dict(self.store.execute("SELECT Z_NAME, Z_ENT FROM Z_PRIMARYKEY"))
        self.keys = dict(self.store.execute("SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY"))
        self.tags = "Z_%dTAGS" % self.numbers["Note"]
        self.waiting = []

    def find(self, table, name):
        row = self.store.execute(f"SELECT Z_PK FROM {table} WHERE ZNAME = ?", (name,)).fetchone()
        return row and row[0]

    def insert(self, entity, columns):
        self.keys[entity] += 1
        columns = {"Z_PK": self.keys[entity], "Z_ENT": self.numbers[entity], "Z_OPT": 1, **columns}
        marks = ", ".join("?" * len(columns))
        self.store.execute(
            f"INSERT INTO Z{entity.upper()} ({', '.join(columns)}) VALUES ({marks})",
            tuple(columns.values()))
        return self.keys[entity]

    def link_folder(self, note, folder):
        last = self.store.execute(
            "SELECT max(Z_FOK_FOLDER) FROM ZNOTE WHERE ZFOLDER = ?", (folder,)).fetchone()[0]
        self.store.execute(
            "UPDATE ZNOTE SET ZFOLDER = ?, Z_FOK_FOLDER = ? WHERE Z_PK = ?",
            (folder, (last or 1024) + 1024, note))

    def link(self, kind, note, name):
        target = self.find("ZFOLDER" if kind == "folder" else "ZTAG", name)
        if target is None:
            return False
        if kind == "folder":
            self.link_folder(note, target)
        else:
            self.store.execute(f"INSERT OR IGNORE INTO {self.tags} VALUES (?, ?)", (note, target))
        return True

    def add(self, line):
        given = json.loads(line)
        entity, values = given["entity"], given["attributes"]
        if entity != "Note":
            table = "Z" + entity.upper()
            if self.find(table, values["name"]) is None:
                self.insert(entity, {"ZNAME": values["name"]} | (
                    {"ZCOLOUR": "blue"} if entity == "Tag" else {}))
            return
        note = self.insert("Note", {
            "ZIDENTIFIER": uuid.UUID(values["identifier"]).bytes, "ZTITLE": values["title"],
            "ZCREATEDAT": date(values["createdAt"]), "ZISPINNED": values["isPinned"],
            "ZTEXT": values["text"], "ZPRIORITY": 0})
        links = given["relationships"]
        for kind, name in [("folder", links["folder"])] + [("tag", tag) for tag in links["tags"]]:
            if not self.link(kind, note, name):
                self.waiting.append((kind, note, name))

    def save(self):
        for entity, key in self.keys.items():
            self.store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = ?", (key, entity))
        self.store.execute("COMMIT")
        self.store.execute("BEGIN")


def main(path, parts):
    importer = Importer(path)
    importer.store.execute("BEGIN")
    count = 0
    for name in sorted(os.listdir(parts), key=lambda name: int(name.split(".")[0])):
        with open(os.path.join(parts, name), encoding="utf-8") as lines:
            for line in lines:
                importer.add(line)
                count += 1
                if count % EVERY == 0:
                    importer.save()
    for link in importer.waiting:
        importer.link(*link)
    importer.save()


main(*sys.argv[1:])
