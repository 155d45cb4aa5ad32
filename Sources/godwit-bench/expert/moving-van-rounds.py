"""Measures the scenario moving-van against the loop of moving-van.py, in turns.

usage: moving-van-rounds.py DEMO WORKER [ROUNDS]

DEMO    the folder that the scenario's demo left: .ci/demo --scenario moving-van
WORKER  the example's executable

Memory is the peak of one process, the largest of all that a side started. Disk is what lies in the
folder at most, in parts of the source. Both sides begin with the source in the page cache.
"""
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "moving-van.py")


def disk(folder):
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except FileNotFoundError:
                pass
    return total


def measure(command, folder, before):
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while True:
        try:
            process.wait(0.05)
            break
        except subprocess.TimeoutExpired:
            peak = max(peak, disk(folder))
    if process.returncode:
        sys.exit(f"{command[0]} ended with {process.returncode}")
    return time.monotonic() - start, peak - before


def round_of(command, folder, outputs):
    """Runs a command in a process of its own, whose children alone count for the peak of memory."""
    before = disk(folder)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        seconds, peak = measure(command, folder, before)
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        os.write(write, f"{seconds} {peak} {memory}".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        words = answer.read().split()
    if os.waitpid(child, 0)[1]:
        sys.exit("a side failed")
    for output in outputs:
        shutil.rmtree(output, ignore_errors=True)
    return float(words[0]), int(words[1]), int(words[2])


def main(demo, worker, rounds="3"):
    os.chdir(demo)
    size = os.path.getsize("inventory.sqlite")
    largest = sqlite3.connect("inventory.sqlite").execute(
        "SELECT max(length(ZPHOTO)) FROM ZITEM").fetchone()[0]
    print(f"source {size / 2**20:.1f} MiB, largest photo {largest / 2**20:.2f} MiB")
    state, output = "rounds-state", "rounds-output"
    sides = {
        "peer": [sys.executable, PEER, "inventory.sqlite", "migrated/inventory.sqlite",
                 os.path.join(output, "peer.sqlite")],
        "godwit": [os.path.abspath(worker), "migrate", "inventory.sqlite", "--to",
                   "Inventory.xcdatamodeld", "--mapping", "moving-van.yaml", "--output", output,
                   "--state", state],
    }
    found = {name: [] for name in sides}
    for number in range(int(rounds)):
        for name in sorted(sides, reverse=number % 2 == 1):
            shutil.rmtree(output, ignore_errors=True)
            os.makedirs(output)
            found[name].append(round_of(sides[name], ".", [output, state]))
            seconds, peak, memory = found[name][-1]
            print(f"{name:7}{seconds:9.2f} s, {memory / 1024:6.1f} MiB, disk {1 + peak / size:.2f}",
                  flush=True)
    for name, all_rounds in found.items():
        print(f"{name:7}median {statistics.median(r[0] for r in all_rounds):.2f} s")


worker = os.path.abspath(sys.argv[2])
main(sys.argv[1], worker, *sys.argv[3:])
