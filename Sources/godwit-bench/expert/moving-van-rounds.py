"""Measures the scenario moving-van against the loop of moving-van.py, in turns.

usage: moving-van-rounds.py DEMO WORKER [ROUNDS]

DEMO    the folder that the scenario's demo left: .ci/demo --scenario moving-van
WORKER  the example's executable

Processor time is that of all processes of a side. Memory is the most that was resident, of the
process itself and of the largest of its slots. Disk is the most that lay beside the source, in
parts of it.
"""
import glob
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "moving-van.py")


def disk(folders):
    total = 0
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                try:
                    total += os.lstat(os.path.join(place, name)).st_blocks * 512
                except FileNotFoundError:
                    pass
    return total


def memory(session, peaks):
    """Notes the most memory of each process of a session."""
    for path in glob.glob("/proc/[0-9]*"):
        try:
            with open(path + "/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[3]) != session:
                    continue
            with open(path + "/status") as status:
                found = [line.split()[1] for line in status if line.startswith("VmHWM")]
        except (FileNotFoundError, ProcessLookupError):
            continue
        for kibibytes in found:
            peaks[int(path.rpartition("/")[2])] = int(kibibytes) / 1024


def processor():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Round:
    def __init__(self, command, folders):
        start, before = time.monotonic(), processor()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        peaks, self.disk = {}, 0
        while True:
            try:
                process.wait(0.05)
                break
            except subprocess.TimeoutExpired:
                self.disk = max(self.disk, disk(folders))
                memory(process.pid, peaks)
        if process.returncode:
            sys.exit(f"{command[0]} ended with {process.returncode}")
        self.seconds, self.processor = time.monotonic() - start, processor() - before
        self.own = peaks.pop(process.pid, 0)
        self.slot = max(peaks.values(), default=0)


def main(demo, worker, rounds="3"):
    worker = os.path.abspath(worker)
    os.chdir(demo)
    size = os.path.getsize("inventory.sqlite")
    largest = sqlite3.connect("inventory.sqlite").execute(
        "SELECT max(length(ZPHOTO)) FROM ZITEM").fetchone()[0]
    print(f"source {size / 2**20:.1f} MiB, largest photo {largest / 2**20:.2f} MiB")
    state, output = "rounds-state", "rounds-output"
    sides = {
        "peer": [
            sys.executable, PEER, "inventory.sqlite", "migrated/inventory.sqlite",
            os.path.join(output, "peer.sqlite")],
        "godwit": [
            worker, "migrate", "inventory.sqlite", "--to", "Inventory.xcdatamodeld",
            "--mapping", "moving-van.yaml", "--output", output, "--state", state]}
    seconds = {name: [] for name in sides}
    for number in range(int(rounds)):
        # Turns change, so that neither side always finds the caches warmer.
        for name in sorted(sides, reverse=number % 2 == 1):
            for folder in (output, state):
                shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(output)
            found = Round(sides[name], (output, state))
            seconds[name].append(found.seconds)
            print(
                f"{name:7}{found.seconds:9.2f} s, processor {found.processor:7.2f} s, "
                f"{found.own:5.1f} MiB, slot {found.slot:5.1f} MiB, disk {found.disk / size:.2f}",
                flush=True)
    for folder in (output, state):
        shutil.rmtree(folder, ignore_errors=True)
    for name, all_seconds in seconds.items():
        print(f"{name:7} median {statistics.median(all_seconds):.2f} s")


main(*sys.argv[1:])
