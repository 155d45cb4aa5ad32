"""What .ci/docker needs of the Dockerfile and the compose file.

image.py compose CONFIG BINARY: checks the services of `docker compose config --format json`.
image.py dockerfile FILE: checks the Dockerfile, and prints what the image is made of.
image.py run IMAGE ROOT ARGUMENT...: runs the image's entry point in a root folder, as its user.
"""

import ctypes
import json
import os
import re
import subprocess
import sys


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
              f"{name} connects to nobody")
    check(values(test, "--connect") == [f"tcp://127.0.0.1:{port}"], "the check asks nobody")
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


def run(image, root, arguments):
    """Runs the entry point in namespaces of its own, and ends with its exit code."""
    with open(image, encoding="utf-8") as file:
        facts = dict(line.rstrip("\n").split(" ", 1) for line in file)
    user, group = (int(number) for number in facts["user"].split(":"))
    libc = ctypes.CDLL(None, use_errno=True)

    def done(result, what):
        check(result == 0, f"{what}: {os.strerror(ctypes.get_errno())}")

    def mount(source, target, kind, flags):
        done(libc.mount(source.encode(), target.encode(), kind.encode(), flags, None),
             f"mounting {target}")

    new_mounts, new_processes = 0x00020000, 0x20000000
    private, bind = 0x44000, 0x1000
    done(libc.unshare(new_mounts | new_processes), "making namespaces")
    child = os.fork()
    if child == 0:
        mount("none", "/", "none", private)
        mount("proc", f"{root}/proc", "proc", 0)
        for device in ("null", "zero", "random", "urandom"):
            with open(f"{root}/dev/{device}", "ab"):
                pass
            mount(f"/dev/{device}", f"{root}/dev/{device}", "none", bind)
        os.chroot(root)
        os.chdir(facts["folder"])
        os.setgroups([])
        os.setgid(group)
        os.setuid(user)
        environment = {"PATH": "/usr/local/bin", "HOME": facts["folder"],
                       "LD_LIBRARY_PATH": "/usr/local/lib/swift"}
        os.execve(facts["entry"], [facts["entry"], *arguments], environment)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


if __name__ == "__main__":
    task, first, *rest = sys.argv[1:]
    if task == "compose":
        compose(first, rest[0])
    elif task == "dockerfile":
        dockerfile(first)
    else:
        run(first, rest[0], rest[1:])
