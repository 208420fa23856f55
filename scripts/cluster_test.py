#!/usr/bin/env python3
"""Shows that slated survives fail-overs of a PostgreSQL cluster: nothing lost, nothing doubled, no restart.

Starts three PostgreSQL nodes with synchronous replication under Patroni and etcd, and two slated servers on them. While
clients write all the time through both servers, the node that is the primary is killed with all its processes, again
and again. Each time writes must go on by themselves. At the end everything that was acknowledged is read back through the
server that did not acknowledge it.

It passes if no server went without an acknowledged write for 30 seconds or longer, every acknowledged write is there
exactly once, and both servers are the processes that were started.

What it needs beside slated is installed if it runs as root on Debian. The cluster is on free ports of 127.0.0.1, in a
temporary directory, and goes away at the end.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import http.client
import itertools
import json
import os
import pathlib
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
POSTGRES_BIN = "/usr/lib/postgresql/15/bin"
SEARCH_PATH = f"{POSTGRES_BIN}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PACKAGES = {"postgres": "postgresql-15", "psql": "postgresql-client-15", "patroni": "patroni", "etcd": "etcd-server"}

# Seconds. Patroni asks for ttl >= loop_wait + 2 * retry_timeout; a dead primary is replaced when its ttl is over.
TTL, LOOP_WAIT, RETRY_TIMEOUT = 10, 1, 4
LONGEST_STAND_STILL = 30
START_LIMIT = 120
RECOVERY_LIMIT = 90
ANSWER_LIMIT = 10
LAST_ANSWERS_LIMIT = 40
POLL = 0.1
PAUSE_BETWEEN_WRITES = 0.02
PAUSE_BEFORE_REPEAT = 0.2

WRITES_BETWEEN_KILLS = 100
PAGE = 100
SHOWN_PROBLEMS = 10
SHOWN_LOG_LINES = 25


class Failure(Exception):
    """What went wrong, in words for whoever runs the test."""


def say(text):
    print(f"== {text}", flush=True)


def wait_for(what, seconds, condition):
    """Asks until the condition holds and gives what it gave."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failure(f"waited {seconds} seconds in vain for {what}")
        time.sleep(POLL)


# What has to be installed


def missing_programs():
    return [name for name in PACKAGES if not shutil.which(name, path=SEARCH_PATH)]


def install_what_is_missing():
    missing = missing_programs()
    if not missing:
        return
    packages = [PACKAGES[name] for name in missing]
    hint = f"{', '.join(missing)} missing; install with: apt-get install {' '.join(packages)}"
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise Failure(hint)
    say(f"installing {' '.join(packages)}")
    install = ["apt-get", "install", "-y", "-q", *packages]
    if not run_quietly(install):
        run_quietly(["apt-get", "update", "-q"])
        run_quietly(install)
    if missing_programs():
        raise Failure(f"{hint} (it was tried, and failed)")


def run_quietly(command):
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


# Ports and processes


def free_ports(count):
    """Free ports below those that the system gives to outgoing connections.

    From that range, a connection could take the port of a node while the node is dead.
    """
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    candidates = range(10000, first) if first > 11000 else range(61000, 65536)
    ports = []
    with contextlib.ExitStack() as held:
        for port in random.sample(candidates, len(candidates)):
            listener = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                listener.bind(("127.0.0.1", port))
                ports.append(port)
            if len(ports) == count:
                return ports
    raise Failure("there are not enough free ports")


def process_table():
    """Every process that runs, with its parent. Ended ones that nobody waited for do not count."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    parents[int(entry.name)] = int(parent)
    return parents


def with_descendants(roots):
    """Those of the processes that run, and all that they started."""
    parents = process_table()
    found = {pid for pid in roots if pid in parents}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def daemon(command, directory, log):
    """Starts a program in the background, as the user postgres if we are root: PostgreSQL refuses to run as root."""
    as_postgres = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    environment = {"PATH": SEARCH_PATH, "HOME": str(directory), "LANG": "C.UTF-8"}
    with open(log, "ab") as output:
        return subprocess.Popen(
            command, cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True, umask=0o077, **as_postgres,
        )


def private_directory(path):
    """A directory for a daemon and nobody else."""
    path.mkdir(mode=0o700)
    give_to_postgres(path)
    return path


def give_to_postgres(path):
    if os.geteuid() == 0:
        user = pwd.getpwnam("postgres")
        os.chown(path, user.pw_uid, user.pw_gid)


def get_json(port, path, seconds=2):
    """Status and body of a GET on this machine, or None if there was no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


# The cluster


class Etcd:
    """The one etcd that the nodes agree through. It is never killed."""

    def __init__(self, base, client_port, peer_port):
        self.port = client_port
        self.peer_port = peer_port
        self.log = base / "log" / "etcd.log"
        self.directory = private_directory(base / "etcd")
        self.process = None

    def start(self):
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.port, self.peer_port))
        command = [
            "etcd", "--name", "etcd", "--data-dir", str(self.directory / "data"),
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"etcd={peer}",
        ]
        self.process = daemon(command, self.directory, self.log)

    def is_healthy(self):
        if self.process.poll() is not None:
            raise Failure("etcd ended")
        answer = get_json(self.port, "/health")
        return answer is not None and answer[0] == 200

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()


class Node:
    """A PostgreSQL server and the Patroni that looks after it: what would be a machine of its own."""

    def __init__(self, name, base, passwords, postgres_port, rest_port, etcd_port):
        self.name = name
        self.port = postgres_port
        self.rest_port = rest_port
        self.log = base / "log" / f"{name}.log"
        self.directory = private_directory(base / name)
        self.config = self.directory / "patroni.yml"
        self.patroni = None
        # JSON is YAML, too.
        self.config.write_text(json.dumps(self.settings(passwords, etcd_port), indent=1))
        self.config.chmod(0o600)
        give_to_postgres(self.config)

    def settings(self, passwords, etcd_port):
        address, rest_address = (f"127.0.0.1:{port}" for port in (self.port, self.rest_port))
        return {
            "scope": "slated",
            "name": self.name,
            "restapi": {"listen": rest_address, "connect_address": rest_address},
            "etcd3": {"hosts": [f"127.0.0.1:{etcd_port}"]},
            "watchdog": {"mode": "off"},
            "bootstrap": {
                "dcs": {
                    "ttl": TTL,
                    "loop_wait": LOOP_WAIT,
                    "retry_timeout": RETRY_TIMEOUT,
                    # A commit waits for a second node, and goes on waiting if there is none.
                    "synchronous_mode": True,
                    "synchronous_mode_strict": True,
                    "postgresql": {
                        "use_pg_rewind": True,
                        "use_slots": True,
                        "parameters": {
                            "synchronous_commit": "on",
                            "wal_log_hints": "on",
                            "wal_keep_size": "512MB",
                            # How long a standby waits before it follows a new primary.
                            "wal_retrieve_retry_interval": "500ms",
                            "max_connections": 200,
                            "shared_buffers": "64MB",
                        },
                    },
                },
                "initdb": ["data-checksums", {"encoding": "UTF8"}, {"locale": "C.UTF-8"}],
                "pg_hba": [
                    "host replication replicator 127.0.0.1/32 scram-sha-256",
                    "host all all 127.0.0.1/32 scram-sha-256",
                ],
            },
            "postgresql": {
                "listen": address,
                "connect_address": address,
                "data_dir": str(self.directory / "data"),
                "bin_dir": POSTGRES_BIN,
                "pgpass": str(self.directory / "pgpass"),
                "authentication": {
                    "superuser": {"username": "postgres", "password": passwords["postgres"]},
                    "replication": {"username": "replicator", "password": passwords["replicator"]},
                    "rewind": {"username": "rewind", "password": passwords["rewind"]},
                },
                "parameters": {"unix_socket_directories": "", "password_encryption": "scram-sha-256"},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
        }

    def start(self):
        self.patroni = daemon(["patroni", str(self.config)], self.directory, self.log)

    def processes(self):
        """All processes of the node. PostgreSQL is not below Patroni, but says itself which process it is."""
        return with_descendants([*([self.patroni.pid] if self.patroni else []), *self.postmaster()])

    def postmaster(self):
        """The main process of PostgreSQL, if it runs. An old file may name a process that is somebody else's by now."""
        data = self.directory / "data"
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int((data / "postmaster.pid").read_text().split()[0])
            if os.fsencode(data) in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return [pid]
        return []

    def kill(self):
        """Ends the node like a loss of power: no process of it does anything more. Returns when all are gone."""
        if self.patroni is None:
            return
        pids = self.processes()
        kill(pids)
        self.patroni.wait()
        self.patroni = None
        while left := self.processes() | (pids & process_table().keys()):
            kill(left)
            time.sleep(POLL)

    def is_alive(self):
        return self.patroni is not None and self.patroni.poll() is None

    def is_primary(self):
        answer = get_json(self.rest_port, "/primary") if self.is_alive() else None
        return answer is not None and answer[0] == 200

    def members(self):
        """The cluster as this node sees it."""
        answer = get_json(self.rest_port, "/cluster") if self.is_alive() else None
        return answer[1].get("members", []) if answer is not None and answer[0] == 200 else []


class Cluster:
    """Three nodes and an etcd."""

    def __init__(self, base):
        etcd_port, peer_port, *ports = free_ports(8)
        self.passwords = {user: secrets.token_hex(16) for user in ("postgres", "replicator", "rewind", "slated")}
        self.etcd = Etcd(base, etcd_port, peer_port)
        self.nodes = [
            Node(f"pg{number}", base, self.passwords, *pair, etcd_port)
            for number, pair in enumerate(zip(ports[:3], ports[3:]), start=1)
        ]

    def start(self):
        self.etcd.start()
        wait_for("etcd", START_LIMIT, self.etcd.is_healthy)
        for node in self.nodes:
            node.start()
        self.wait_until_whole()
        self.psql(f"CREATE ROLE slated LOGIN PASSWORD '{self.passwords['slated']}'")
        self.psql("CREATE DATABASE slated OWNER slated")

    def stop(self):
        for node in self.nodes:
            node.kill()
        self.etcd.stop()

    def url(self):
        """Where a client finds the database, whichever node is the primary."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        return f"postgres://slated:{self.passwords['slated']}@{hosts}/slated?target_session_attrs=read-write"

    def primary(self):
        return next((node for node in self.nodes if node.is_primary()), None)

    def psql(self, query):
        """Rows of a query on the primary, as the superuser; each row is a text with | between columns."""
        primary = self.primary()
        if primary is None:
            raise Failure("there is no primary")
        address = ["-h", "127.0.0.1", "-p", str(primary.port), "-U", "postgres", "-d", "postgres"]
        environment = {"PATH": SEARCH_PATH, "PGPASSWORD": self.passwords["postgres"], "PGCONNECT_TIMEOUT": "3"}
        command = ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", *address, "-c", query]
        try:
            run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=ANSWER_LIMIT)
        except subprocess.TimeoutExpired:
            raise Failure(f"the primary did not answer to {query.split()[0]}") from None
        if run.returncode:
            raise Failure(f"psql: {run.stderr.strip()}")
        return run.stdout.splitlines()

    def is_whole(self):
        """One primary, two standbys that follow it on its timeline, and commits that wait for one of them."""
        primary = self.primary()
        members = primary.members() if primary else []
        roles = collections.Counter(member["role"] for member in members)
        running = [member for member in members if member["state"] in ("running", "streaming")]
        timelines = {member.get("timeline") for member in members}
        if len(running) < 3 or len(timelines) > 1 or roles["leader"] != 1 or roles["sync_standby"] < 1:
            return False
        try:
            standbys = self.psql("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")
            waits = self.psql("SHOW synchronous_standby_names")
        except Failure:
            return False
        return len(standbys) >= 2 and "sync" in standbys and waits != [""]

    def wait_until_whole(self):
        def condition():
            self.require_daemons()
            return self.is_whole()

        wait_for("three running nodes, one of them a synchronous standby", START_LIMIT, condition)

    def require_daemons(self):
        for node in self.nodes:
            if node.patroni is not None and not node.is_alive():
                raise Failure(f"Patroni of {node.name} ended")

    def wait_for_primary(self):
        return wait_for("a primary", RECOVERY_LIMIT, self.primary)


# The servers


class Server:
    """A running slated."""

    def __init__(self, name, program, url, log):
        self.name = name
        self.log = log
        environment = {**slated_environment(), "SLATED_RATE_LIMIT": "0"}
        command = [program, "serve", "--database", url, "--listen", "127.0.0.1:0"]
        with open(log, "wb") as output:
            self.process = subprocess.Popen(
                command, cwd=log.parent, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True,
            )
        self.address = None

    def wait_until_listening(self):
        self.address = wait_for(f"{self.name} to listen", START_LIMIT, self.address_in_log)

    def address_in_log(self):
        self.require_alive()
        for line in self.log.read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):
                fields = json.loads(line)["fields"]
                if fields["message"] == "listening":
                    return fields["listen.address"]
        return None

    def require_alive(self):
        status = self.process.poll()
        if status is not None:
            raise Failure(f"{self.name} (process {self.process.pid}) ended with status {status}")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=ANSWER_LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def slated_environment():
    """Our own environment without settings for slated or PostgreSQL, which could lead elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SLATED_", "PG"))}


def create_key(program, url, directory):
    command = [program, "key", "create", "--name", "cluster", "--scope", "write", "--database", url]
    run = subprocess.run(
        command, cwd=directory, env=slated_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=START_LIMIT,
    )
    if run.returncode:
        raise Failure(f"slated key create ended with status {run.returncode}: {run.stderr.strip()}")
    return run.stdout.strip()


@dataclasses.dataclass
class Answer:
    """What came back: an HTTP status, or "no answer" or "timeout" in its place."""

    status: int | str
    body: dict
    replayed: bool = False

    def is_success(self):
        return self.status in (200, 201)

    def is_refusal(self):
        """Repeating it would not help: the request itself is found wanting."""
        return isinstance(self.status, int) and 400 <= self.status < 500


class Client:
    """One connection to one server, made anew after a fault."""

    def __init__(self, address, key):
        self.key = key
        self.connection = http.client.HTTPConnection(address, timeout=ANSWER_LIMIT)

    def send(self, method, path, body=None, idempotency_key=None):
        headers = {"Authorization": f"Bearer {self.key}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = self.connection.getresponse()
            replayed = answer.getheader("Idempotency-Replayed") == "true"
            return Answer(answer.status, json.loads(answer.read() or b"{}"), replayed)
        except TimeoutError:
            self.connection.close()
            return Answer("timeout", {})
        except (OSError, http.client.HTTPException, ValueError):
            self.connection.close()
            return Answer("no answer", {})

    def read(self, path):
        """The answer to a GET, asked for again for a while if the server cannot serve."""
        deadline = time.monotonic() + RECOVERY_LIMIT
        while True:
            answer = self.send("GET", path)
            if answer.is_success() or answer.is_refusal():
                return answer
            if time.monotonic() > deadline:
                raise Failure(f"GET {path}: {answer.status}")
            time.sleep(PAUSE_BEFORE_REPEAT)


# The writers


@dataclasses.dataclass
class Person:
    """A person as one writer made it. The title is a counter that updates move."""

    external_id: str
    email: str
    name: str
    id: str = ""
    candidate_id: str = ""
    server: int = 0
    acknowledged_title: int = 0
    tried_title: int = 0

    def creation(self, job):
        return {
            "name": self.name,
            "work_email": self.email,
            "external_source_id": self.external_id,
            "current_job_title": title(0),
            "job_id": job,
        }


def title(number):
    return f"Title {number}"


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One request of a writer, by the clock of this program."""

    server: int
    sent: float
    finished: float
    status: int | str
    acknowledged: bool
    replayed: bool


class Record:
    """What all writers did, and what came of it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.attempts = []
        self.persons = []
        self.problems = []

    def add_attempt(self, attempt):
        with self.lock:
            self.attempts.append(attempt)

    def add_person(self, person):
        with self.lock:
            self.persons.append(person)

    def add_problem(self, text):
        with self.lock:
            self.problems.append(text)

    def between(self, start, end):
        with self.lock:
            return [attempt for attempt in self.attempts if start <= attempt.finished <= end]

    def acknowledged_since(self, start):
        """How many writes each server acknowledged that were sent after a moment."""
        counts = collections.Counter()
        with self.lock:
            for attempt in reversed(self.attempts):
                if attempt.finished < start:
                    break
                counts[attempt.server] += attempt.acknowledged and attempt.sent >= start
        return counts

    def stand_still(self, server, start, end):
        """The longest time that the server acknowledged nothing, from the last write before start until end."""
        with self.lock:
            times = [attempt.finished for attempt in self.attempts if attempt.server == server and attempt.acknowledged]
        before = [moment for moment in times if moment <= start]
        window = [*before[-1:], *(moment for moment in times if start < moment <= end), end]
        return max(later - earlier for earlier, later in itertools.pairwise(window))


class Writer(threading.Thread):
    """A client that makes persons one after the other, and repeats each write until it is acknowledged.

    It goes to the servers by turns, also when it repeats. Every second writer also updates persons that it made.
    """

    def __init__(self, number, addresses, key, job, record, stop):
        super().__init__(daemon=True)
        self.number = number
        self.clients = [Client(address, key) for address in addresses]
        self.turns = itertools.cycle(range(len(addresses))[:: 1 if number % 2 else -1])
        self.job = job
        self.record = record
        self.stop = stop
        self.updates = number % 2 == 0
        self.own = []
        self.unfinished = None

    def run(self):
        try:
            for count in itertools.count(1):
                if self.stop.is_set():
                    return
                self.create(count)
                if self.updates and self.own:
                    self.update(random.choice(self.own[-10:]))
        except Exception as error:  # Whatever it is, the test must not pass.
            self.record.add_problem(f"writer {self.number} broke: {error!r}")

    def create(self, count):
        mark = f"{self.number}-{count}"
        person = Person(f"external-{mark}", f"person-{mark}@example.com", f"Person {mark}")
        self.unfinished = person
        done = self.write("POST", "/v1/persons", person.creation(self.job), f"create-{mark}")
        if done is None:
            return
        self.unfinished = None
        person.server, data = done
        person.id, person.candidate_id = data["id"], data["candidate_id"]
        self.own.append(person)
        self.record.add_person(person)

    def update(self, person):
        person.tried_title += 1
        number = person.tried_title
        body = {"current_job_title": title(number)}
        done = self.write("PATCH", f"/v1/persons/{person.id}", body, f"update-{person.external_id}-{number}")
        if done is not None:
            person.acknowledged_title = number
            person.server = done[0]

    def write(self, method, path, body, idempotency_key):
        """The server that acknowledged the write and its answer, or None if it was refused or the time is up."""
        give_up = None
        while True:
            server = next(self.turns)
            sent = time.monotonic()
            answer = self.clients[server].send(method, path, body, idempotency_key)
            finished = time.monotonic()
            self.record.add_attempt(Attempt(server, sent, finished, answer.status, answer.is_success(), answer.replayed))
            if answer.is_success():
                time.sleep(PAUSE_BETWEEN_WRITES)
                return server, answer.body["data"]
            if answer.is_refusal():
                self.record.add_problem(f"{method} {path} {body} was refused: {answer.status} {answer.body.get('error')}")
                self.stop.wait(PAUSE_BEFORE_REPEAT)
                return None
            if self.stop.is_set():
                give_up = give_up or finished + LAST_ANSWERS_LIMIT
                if finished > give_up:
                    return None
            time.sleep(PAUSE_BEFORE_REPEAT)


# The kills


@dataclasses.dataclass
class Kill:
    """What one kill led to."""

    killed: str
    successor: str
    stand_still: float
    retries: int
    statuses: collections.Counter
    whole_after: float


class Test:
    """The cluster, the servers and the writers together."""

    def __init__(self, program, base, clients):
        self.program = program
        self.base = base
        self.clients = clients
        self.cluster = None
        self.servers = []
        self.key = None
        self.job = None
        self.record = Record()
        self.stop = threading.Event()
        self.writers = []

    def start_cluster(self):
        self.cluster = Cluster(self.base)
        self.cluster.start()

    def start_servers(self):
        url = self.cluster.url()
        self.key = create_key(self.program, url, self.base)
        for number in (1, 2):
            name = f"slated{number}"
            self.servers.append(Server(name, self.program, url, self.base / "log" / f"{name}.log"))
        for server in self.servers:
            server.wait_until_listening()

    def start_writers(self):
        body = {"name": "Chief Analyst", "client_company_name": "Babbage & Co"}
        answer = self.client(0).send("POST", "/v1/jobs", body, "job")
        if not answer.is_success():
            raise Failure(f"the job could not be created: {answer.status} {answer.body}")
        self.job = answer.body["data"]["id"]
        addresses = [server.address for server in self.servers]
        for number in range(1, self.clients + 1):
            writer = Writer(number, addresses, self.key, self.job, self.record, self.stop)
            self.writers.append(writer)
            writer.start()

    def client(self, server):
        return Client(self.servers[server].address, self.key)

    def wait_for_writes(self, start, count, seconds):
        """Until each server acknowledged so many writes that were sent after start."""

        def condition():
            self.require_healthy()
            counts = self.record.acknowledged_since(start)
            return all(counts[server] >= count for server in range(len(self.servers)))

        wait_for(f"{count} acknowledged writes on each server", seconds, condition)

    def require_healthy(self):
        for server in self.servers:
            server.require_alive()
        if self.record.problems:
            raise Failure(self.record.problems[0])

    def kill_primary(self):
        """Kills the primary, waits for writes to go on, and makes the cluster whole again."""
        self.wait_for_writes(time.monotonic(), WRITES_BETWEEN_KILLS // 2, RECOVERY_LIMIT)
        node = self.cluster.wait_for_primary()
        killed = time.monotonic()
        node.kill()
        dead = time.monotonic()
        self.wait_for_writes(dead, 1, RECOVERY_LIMIT)
        successor = self.cluster.wait_for_primary()
        node.start()
        self.cluster.wait_until_whole()
        whole = time.monotonic()
        self.require_healthy()
        seen = self.record.between(killed, whole)
        return Kill(
            killed=node.name,
            successor=successor.name,
            stand_still=max(self.record.stand_still(server, killed, whole) for server in range(len(self.servers))),
            retries=sum(not attempt.acknowledged for attempt in seen),
            statuses=collections.Counter(attempt.status for attempt in seen),
            whole_after=whole - killed,
        )

    def stop_writers(self):
        """Lets every writer end the write it is at. Gives the persons of those who could not."""
        self.stop.set()
        for writer in self.writers:
            writer.join(LAST_ANSWERS_LIMIT + 2 * ANSWER_LIMIT)
        self.require_healthy()
        return [writer.unfinished for writer in self.writers if writer.unfinished]

    def require_ready(self):
        for number, server in enumerate(self.servers):
            answer = self.client(number).send("GET", "/readyz")
            if answer.status != 200:
                raise Failure(f"/readyz of {server.name} answers {answer.status}")

    def log_files(self):
        return sorted((self.base / "log").glob("*.log"))

    def end(self):
        self.stop.set()
        for server in self.servers:
            server.stop()
        if self.cluster:
            self.cluster.stop()


# The check at the end


class Check:
    """Reads everything back and counts what is lost, doubled or wrong."""

    def __init__(self, test, unfinished):
        self.test = test
        self.persons = {person.id: person for person in test.record.persons}
        self.unfinished = {person.external_id for person in unfinished}
        self.lost = []
        self.doubled = []
        self.wrong = []

    def run(self):
        self.check_acknowledgements()
        for server in range(len(self.test.servers)):
            strangers = self.check_candidates(server)
        found = self.read_persons([(person.id, 1 - person.server) for person in self.test.record.persons])
        for person in self.test.record.persons:
            self.check_person(person, found[person.id])
        found |= self.read_persons([(stranger, 0) for stranger in strangers])
        for stranger in strangers:
            self.check_stranger(found[stranger])
        self.check_unique([data for data in found.values() if data])

    def check_acknowledgements(self):
        """No two writes may have been answered with the same record."""
        for field in ("id", "candidate_id"):
            counts = collections.Counter(getattr(person, field) for person in self.test.record.persons)
            self.doubled += [f"{field} {value} was given to {count} persons" for value, count in counts.items() if count > 1]

    def check_candidates(self, server):
        """Every acknowledged candidate is in the job's list once. Gives the persons in it that nobody acknowledged."""
        where = f"the list of candidates on {self.test.servers[server].name}"
        client = self.test.client(server)
        candidates, total = self.list_candidates(client)
        count = client.read(f"/v1/jobs/{self.test.job}").body["data"]["candidate_count"]
        if not total == count == len(candidates):
            self.wrong.append(f"{where} has {len(candidates)} entries, its total is {total}, candidate_count is {count}")
        counts = collections.Counter(candidate["id"] for candidate in candidates)
        person_counts = collections.Counter(candidate["person_id"] for candidate in candidates)
        for name, times in itertools.chain(counts.items(), person_counts.items()):
            if times > 1:
                self.doubled.append(f"{name} is {times} times in {where}")
        for person in self.persons.values():
            if person.candidate_id not in counts:
                self.lost.append(f"{person.candidate_id} of {person.external_id} is not in {where}")
        return [name for name in person_counts if name not in self.persons]

    def list_candidates(self, client):
        candidates = []
        while True:
            answer = client.read(f"/v1/jobs/{self.test.job}/candidates?limit={PAGE}&offset={len(candidates)}")
            if not answer.is_success():
                raise Failure(f"the candidates could not be listed: {answer.status} {answer.body}")
            candidates += answer.body["data"]
            if not answer.body["data"]:
                return candidates, answer.body["meta"]["total"]

    def read_persons(self, wanted):
        """Reads each person through the given server: by id, the person or None."""
        local = threading.local()

        def read(entry):
            name, server = entry
            if not hasattr(local, "clients"):
                local.clients = [self.test.client(number) for number in range(len(self.test.servers))]
            answer = local.clients[server].read(f"/v1/persons/{name}")
            return name, answer.body["data"] if answer.is_success() else None

        with concurrent.futures.ThreadPoolExecutor(self.test.clients) as pool:
            return dict(pool.map(read, wanted))

    def check_person(self, person, data):
        if data is None:
            self.lost.append(f"{person.id} ({person.external_id}) is not there")
            return
        expected = {
            "name": person.name,
            "external_source_id": person.external_id,
            "emails": [{"contact_data_type": "work", "value": person.email}],
        }
        for field, value in expected.items():
            if data[field] != value:
                self.wrong.append(f"{field} of {person.id} is {data[field]!r} and not {value!r}")
        jobs = [(job["candidate_id"], job["job_id"]) for job in data["jobs"]]
        if jobs != [(person.candidate_id, self.test.job)]:
            self.wrong.append(f"the jobs of {person.id} are {jobs}")
        allowed = range(person.acknowledged_title, person.tried_title + 1)
        if data["current_job_title"] not in map(title, allowed):
            expected_title = title(person.acknowledged_title)
            self.lost.append(f"the title of {person.id} is {data['current_job_title']!r}, acknowledged was {expected_title!r}")

    def check_stranger(self, data):
        """A person that nobody acknowledged must be one whose writer was stopped before the answer came."""
        external_id = data["external_source_id"] if data else None
        if external_id not in self.unfinished:
            self.doubled.append(f"{data and data['id']} ({external_id}) is there beside what was acknowledged")

    def check_unique(self, found):
        external_ids = collections.Counter(data["external_source_id"] for data in found)
        emails = collections.Counter(entry["value"].lower() for data in found for entry in data["emails"])
        for value, count in itertools.chain(external_ids.items(), emails.items()):
            if count > 1:
                self.doubled.append(f"{value} belongs to {count} persons")


# The report


def status_text(statuses):
    ordered = sorted(statuses.items(), key=lambda item: str(item[0]))
    return ", ".join(f"{status}: {count}" for status, count in ordered)


def print_table(kills):
    header = ("kill", "killed", "primary then", "seconds without writes", "retries", "whole again after", "answers")
    rows = [
        (str(number), kill.killed, kill.successor, f"{kill.stand_still:.1f}", str(kill.retries), f"{kill.whole_after:.1f} s",
         status_text(kill.statuses))
        for number, kill in enumerate(kills, start=1)
    ]
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    for row in (header, *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_result(test, kills, check, unfinished):
    attempts = test.record.attempts
    print()
    print_table(kills)
    print()
    print(f"writes acknowledged     {sum(attempt.acknowledged for attempt in attempts)}")
    print(f"of them, persons        {len(test.record.persons)}")
    print(f"repeated requests       {sum(not attempt.acknowledged for attempt in attempts)}")
    print(f"answers given again     {sum(attempt.replayed for attempt in attempts)}")
    print(f"all answers             {status_text(collections.Counter(attempt.status for attempt in attempts))}")
    print(f"in flight at the end    {len(unfinished)}")
    print(f"lost                    {len(check.lost)}")
    print(f"doubled                 {len(check.doubled)}")
    print(f"wrong                   {len(check.wrong)}")
    running = [str(server.process.pid) for server in test.servers if server.process.poll() is None]
    print(f"servers never restarted {len(running)} of {len(test.servers)} (processes {', '.join(running)})")


def require_good(kills, check):
    problems = [
        f"writes stood still for {kill.stand_still:.1f} seconds at kill {number}; it must be less than {LONGEST_STAND_STILL}"
        for number, kill in enumerate(kills, start=1)
        if kill.stand_still >= LONGEST_STAND_STILL
    ]
    for kind, found in (("lost", check.lost), ("doubled", check.doubled), ("wrong", check.wrong)):
        problems += [f"{kind}: {text}" for text in found[:SHOWN_PROBLEMS]]
        if len(found) > SHOWN_PROBLEMS:
            problems.append(f"{kind}: {len(found) - SHOWN_PROBLEMS} more")
    if problems:
        raise Failure("\n".join(problems))


def print_log_tails(test):
    for log in test.log_files():
        lines = log.read_text(errors="replace").splitlines()[-SHOWN_LOG_LINES:]
        print(f"\n-- the end of {log.name}", file=sys.stderr)
        for line in lines:
            print(line[:400], file=sys.stderr)


def run_test(test, kills):
    say("starting three PostgreSQL nodes")
    test.start_cluster()
    say("starting two servers")
    test.start_servers()
    say(f"writing with {test.clients} clients")
    test.start_writers()
    results = []
    for number in range(1, kills + 1):
        results.append(test.kill_primary())
        last = results[-1]
        say(f"kill {number} of {kills}: {last.killed} killed, {last.stand_still:.1f} s without writes, {last.successor} is primary")
    test.wait_for_writes(time.monotonic(), WRITES_BETWEEN_KILLS // 2, RECOVERY_LIMIT)
    unfinished = test.stop_writers()
    say(f"reading back {len(test.record.persons)} persons")
    test.require_ready()
    check = Check(test, unfinished)
    check.run()
    test.require_healthy()
    print_result(test, results, check, unfinished)
    require_good(results, check)


def clean_up(test, keep):
    """Ends all processes and removes the directory, whatever signal comes meanwhile."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    test.end()
    if keep:
        say(f"logs are in {test.base / 'log'}")
    else:
        shutil.rmtree(test.base, ignore_errors=True)


def end_on_signal(number, _frame):
    raise SystemExit(128 + number)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = REPOSITORY / "target/debug/slated"
    parser.add_argument("--program", type=pathlib.Path, default=program, help="the slated to test (default: target/debug/slated)")
    parser.add_argument("--kills", type=int, default=5, help="how often the primary is killed (default: 5)")
    parser.add_argument("--clients", type=int, default=8, help="how many clients write at the same time (default: 8)")
    parser.add_argument("--keep", action="store_true", help="leave logs and data where they are")
    given = parser.parse_args()
    if given.kills < 1 or given.clients < 1:
        parser.error("--kills and --clients must be 1 or more")
    return given


def make_base():
    """The directory of the test; the user postgres must get through it to its own directories."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="slated-cluster-"))
    base.chmod(0o755)
    (base / "log").mkdir()
    return base


def main():
    given = parse_arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_on_signal)
    try:
        if not os.access(given.program, os.X_OK):
            raise Failure(f"{given.program} is not there; build it with: cargo build")
        install_what_is_missing()
    except Failure as failure:
        print(f"cluster_test: {failure}", file=sys.stderr)
        return 1
    test = Test(str(given.program.resolve()), make_base(), given.clients)
    try:
        run_test(test, given.kills)
    except Failure as failure:
        print_log_tails(test)
        print(f"\ncluster_test: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ncluster_test: interrupted", file=sys.stderr)
        return 130
    finally:
        clean_up(test, given.keep)
    say("nothing lost, nothing doubled")
    return 0


if __name__ == "__main__":
    sys.exit(main())
