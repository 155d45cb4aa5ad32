"""What .ci/docker needs of the Dockerfile and the compose file.

image.py compose CONFIG BINARY: checks the services of `docker compose config --format json`.
image.py dockerfile FILE: checks the Dockerfile, and prints what the image is made of.
image.py run IMAGE ROOT ARGUMENT...: runs the image's entry point in a root folder, as its user.
image.py cluster CONFIG IMAGE ROOT FOLDER: runs the services with their mounts in a network of
their own, which has loopback alone, and migrates a fleet by them; FOLDER takes volumes and logs.
"""

import ctypes
import fcntl
import json
import os
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)


def check(condition, text):
    if not condition:
        sys.exit(f"docker: {text}")


def options(words):
    """The long options of a command with their values."""
    found = []
    for place, word in enumerate(words):
        if word.startswith("--"):
            value = words[place + 1] if place + 1 < len(words) else None
            found.append((word, value))
    return found


def values(words, name):
    return [value for option, value in options(words) if option == name]


def compose(config, binary):
    """Checks the services against each other and against the binary's options."""
    with open(config, encoding="utf-8") as file:
        services = json.load(file)["services"]
    commands = {name: service["command"] for name, service in services.items()}
    coordinator, worker = services["coordinator"], services["worker"]
    check(commands["coordinator"][0] == "coordinate", "the coordinator coordinates nothing")
    check(commands["worker"][0] == "work", "the workers do not work")
    check(worker["deploy"]["replicas"] == 3, "there are not three workers")
    check(coordinator["build"]["dockerfile"] == "docker/Dockerfile", "nothing builds the image")
    test = coordinator["healthcheck"]["test"]
    check(test[:2] == ["CMD", "godwit"], "nothing checks the coordinator's health")

    for name, service in services.items():
        check(service["image"] == coordinator["image"], f"{name} has another image")
        check(service["user"].split(":")[0] not in ("", "0", "root"), f"{name} runs as root")
        check(service["read_only"] and service["cap_drop"] == ["ALL"], f"{name} may too much")
        places = [mount["target"] for mount in service.get("volumes", [])]
        places += [text.split(":")[0] for text in service.get("tmpfs", [])]

        def is_there(path):
            return any(
                path == place or path.startswith(place + "/") or place.startswith(path + "/")
                for place in places)

        for option, value in options(commands[name]):
            if option in ("--keys", "--state", "--scratch", "--output"):
                check(is_there(value), f"{name}: {option} {value} is not mounted")
            if option == "--root":
                check(is_there(value.split("=", 1)[1]), f"{name}: --root {value} is not mounted")
        secrets = [mount["source"] for mount in service.get("volumes", [])
                   if mount["target"].startswith("/keys/coordinator")]
        check(not secrets or name == "coordinator", f"{name} sees the coordinator's secret")

    def stores(service):
        return [mount["source"] for mount in service["volumes"] if mount["target"] == "/stores"]

    check(stores(coordinator) and stores(coordinator) == stores(worker), "no folder is shared")
    check(values(commands["coordinator"], "--root") == values(commands["worker"], "--root"),
          "coordinator and workers name their folders differently")
    port = values(commands["coordinator"], "--listen")[0].rsplit(":", 1)[1]
    for name in ("worker", "client"):
        check(values(commands[name], "--connect") == [f"tcp://coordinator:{port}"],
              f"{name} connects to no coordinator")
    check(values(test, "--connect") == [f"tcp://127.0.0.1:{port}"], "the check asks no coordinator")
    check([str(entry["target"]) for entry in coordinator["ports"]] == [port],
          "another port is published")
    check(values(commands["worker"], "--grace")[0].isdigit()
          and int(values(commands["worker"], "--grace")[0])
          < int(worker["stop_grace_period"].removesuffix("s")),
          "workers are killed before their grace is over")

    for words in list(commands.values()) + [test[2:]]:
        known(binary, words)
    print(f"docker: {len(services)} services are as they should be")


def known(binary, words):
    """Checks that the binary has a command with these options."""
    verbs = []
    for word in words:
        if word.startswith("-") or not re.fullmatch("[a-z]+", word):
            break
        verbs.append(word)
    help_text = subprocess.run(
        [binary, *verbs, "--help"], capture_output=True, text=True, check=False)
    check(help_text.returncode == 0, f"there is no command {' '.join(verbs)}")
    for option, _ in options(words):
        check(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", help_text.stdout),
              f"{' '.join(verbs)} has no {option}")


def dockerfile(path):
    """Checks the last stage and prints its release, packages, user, folder and entry point."""
    import dockerfile as parser

    stages = []
    for command in parser.parse_file(path):
        if command.cmd.upper() == "FROM":
            stages.append([])
        stages[-1].append(command)
    check(len(stages) == 2, "there are not two stages")
    last = stages[-1]

    def value(name):
        found = [list(command.value) for command in last if command.cmd.upper() == name]
        check(len(found) == 1, f"{name} is not there once")
        return found[0]

    base = re.fullmatch(r"debian:(\w+)-slim", value("FROM")[0])
    check(base, "the image is not made of a slim Debian")
    install = re.search(r"apt-get install (.*?)&&", value("RUN")[0])
    check(install, "no packages are installed")
    check("--no-install-recommends" in install[1], "recommended packages are installed, too")
    packages = [word for word in install[1].split() if not word.startswith("-")]
    user = value("USER")[0]
    check(re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), "the user is root, or has no number")
    copies = [command for command in last if command.cmd.upper() == "COPY"]
    check(len(copies) == 1 and copies[0].flags == ("--from=build",), "more than the binary")
    entry = value("ENTRYPOINT")
    check(copies[0].value[-1] == entry[0], "the entry point is not the binary")
    for name, text in (
            ("release", base[1]), ("packages", " ".join(packages)), ("user", user),
            ("folder", value("WORKDIR")[0]), ("entry", entry[0])):
        print(name, text)


def mount(source, target, kind, flags, data=None):
    result = LIBC.mount(source.encode(), target.encode(), kind.encode(), flags,
                        data.encode() if data else None)
    check(result == 0, f"mounting {target}: {os.strerror(ctypes.get_errno())}")


def enter(facts, root, folder, volumes=(), memory=()):
    """Makes this process one of the image: its files, its user, its environment.

    volumes: pairs of a folder here and its place there, and whether it may be written.
    memory: places of file systems in memory, with their mount options.
    """
    user, group = (int(number) for number in facts["user"].split(":"))
    check(LIBC.unshare(0x00020000) == 0, "making a namespace of mounts")
    private, bind, read_only = 0x44000, 0x1000, 0x1021
    mount("none", "/", "none", private)
    mount(root, root, "none", bind)
    mount("proc", f"{root}/proc", "proc", 0)
    mount("none", f"{root}/dev", "tmpfs", 0, "mode=755")
    for device, minor in (("null", 3), ("zero", 5), ("random", 8), ("urandom", 9)):
        path = f"{root}/dev/{device}"
        os.mknod(path, stat.S_IFCHR, os.makedev(1, minor))
        os.chmod(path, 0o666)
    if volumes:
        # A folder for all places, so that a service sees its own alone.
        mount("none", f"{root}/keys", "tmpfs", 0, "mode=755")
    for source, target, is_writable in volumes:
        os.makedirs(root + target, exist_ok=True)
        mount(source, root + target, "none", bind)
        if not is_writable:
            mount("none", root + target, "none", read_only)
    for target, options in memory:
        mount("none", root + target, "tmpfs", 0, options)
    if volumes:
        mount("none", root, "none", read_only)
    os.chroot(root)
    os.chdir(folder)
    os.setgroups([])
    os.setgid(group)
    os.setuid(user)


def execute(facts, arguments):
    environment = {"PATH": "/usr/local/bin", "HOME": facts["folder"],
                   "LD_LIBRARY_PATH": "/usr/local/lib/swift"}
    os.execve(facts["entry"], [facts["entry"], *arguments], environment)


def read_facts(image):
    with open(image, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(" ", 1) for line in file)


def run(image, root, arguments):
    """Runs the entry point as the image's user, in place of this process."""
    facts = read_facts(image)
    enter(facts, root, facts["folder"])
    execute(facts, arguments)


class Service:
    """Processes of one service of the compose file, in the image's files."""

    def __init__(self, name, config, image, root, folder):
        self.name, self.config, self.root = name, config, root
        self.facts, self.logs = read_facts(image), folder
        self.volumes = []
        for volume in config.get("volumes", []):
            source = volume["source"]
            if volume["type"] == "volume":
                source = os.path.join(folder, source)
            if not os.path.exists(source):
                os.makedirs(source)
                user, group = (int(number) for number in self.facts["user"].split(":"))
                os.chown(source, user, group)
            self.volumes.append((source, volume["target"], not volume.get("read_only", False)))
        self.memory = [text.split(":") for text in config.get("tmpfs", [])]

    def start(self, label, command=None, folder=None):
        """Starts a process whose output goes to a file, and returns its id."""
        child = os.fork()
        if child:
            return child
        with open(self.log(label), "ab") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        enter(self.facts, self.root, folder or self.facts["folder"], self.volumes, self.memory)
        execute(self.facts, command or self.config["command"])
        return None

    def log(self, label):
        return os.path.join(self.logs, f"{label}.log")

    def finish(self, label, command=None, folder=None, codes=(0,)):
        """Runs a process to its end and returns what it said."""
        ended(self.start(label, command, folder), label, codes, self.log(label))
        with open(self.log(label), encoding="utf-8") as file:
            return file.read()


def ended(child, label, codes, log):
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code not in codes:
        with open(log, encoding="utf-8") as file:
            print(file.read())
        check(False, f"{label} ended with {code}")


def own_network():
    """Gives this process and its children a network with nothing but loopback."""
    check(LIBC.unshare(0x40000000) == 0, "making a network namespace")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        up_and_running = 0x41
        fcntl.ioctl(control, 0x8914, struct.pack("16sh14x", b"lo", up_and_running))


def cluster(config, image, root, folder):
    """Runs the services as the compose file says, and migrates the demo's stores by them."""
    with open(config, encoding="utf-8") as file:
        services = json.load(file)["services"]
    own_network()
    with open(f"{root}/etc/hosts", "w", encoding="utf-8") as hosts:
        hosts.write("127.0.0.1 localhost coordinator\n")
    def service(name):
        return Service(name, services[name], image, root, folder)

    service("keys").finish("keys")
    coordinator, worker, client = service("coordinator"), service("worker"), service("client")
    client.finish("demo", ["demo"], "/stores")
    client.finish("rollback", ["rollback", "--state", "godwit-demo/.godwit"], "/stores")

    running = {"coordinator": coordinator.start("coordinator")}
    count = worker.config["deploy"]["replicas"]
    running.update({f"worker-{number}": worker.start(f"worker-{number}")
                    for number in range(1, count + 1)})
    try:
        connection = ["--connect", values(client.config["command"], "--connect")[0],
                      "--keys", "/keys"]
        for attempt in range(120):
            time.sleep(0.5)
            if os.waitpid(running["coordinator"], os.WNOHANG)[0]:
                del running["coordinator"]
                check(False, open(coordinator.log("coordinator"), encoding="utf-8").read())
            test = coordinator.start("health", coordinator.config["healthcheck"]["test"][2:])
            if os.waitstatus_to_exitcode(os.waitpid(test, 0)[1]) == 0:
                break
            check(attempt < 119, "the coordinator is not healthy")
        # One store of the demo is broken on purpose.
        print(client.finish(
            "submit", ["submit", "/stores/godwit-demo/backups", "--to",
                       "/stores/godwit-demo/template.sqlite", *connection, "--root",
                       "stores=/stores", "--wait"], codes=(75,)))
        print(client.finish("status"))
        known = json.loads(client.finish("workers", ["workers", *connection, "--json"]))
        check(len(json.dumps(known).split('"active"')) - 1 == count, "a worker is missing")
        for name in reversed(list(running)):
            os.kill(running[name], signal.SIGTERM)
            ended(running.pop(name), name, (0,), os.path.join(folder, f"{name}.log"))
    finally:
        for child in running.values():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    print(f"docker: a coordinator and {count} workers migrated the stores of the demo")


if __name__ == "__main__":
    task, first, *rest = sys.argv[1:]
    if task == "compose":
        compose(first, rest[0])
    elif task == "dockerfile":
        dockerfile(first)
    elif task == "run":
        run(first, rest[0], rest[1:])
    else:
        cluster(first, *rest)
