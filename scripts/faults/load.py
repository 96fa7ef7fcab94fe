"""Load for the fault scripts: a service under a supervisor, phones that report until they are acknowledged, and a reader."""
import collections
import http.client
import json
import random
import signal
import subprocess
import threading
import time

from life import Service, expect, free_port, tool, wait_until

# As RestartSec of systemd.
RESTART_SECONDS = 0.1
# For an answer; a stopped process gives none.
PATIENCE_SECONDS = 10
RETRY_SECONDS = 0.05
LARGEST_BATCH = 8
# Between two reports of a phone. Logs of some ten thousand events are verified after each round, so more would take long.
LONGEST_PAUSE_SECONDS = 0.03
DAY_SECONDS = 86400


End = collections.namedtuple("End", "code words at")


class Supervised(Service):
    """The tool's `serve`, started again whenever it ends. `exits` has each end: its code, and what the process said."""

    def __init__(self, data):
        self.exits, self.is_wanted = [], True
        self.ended = threading.Event()
        self.port = free_port()
        super().__init__(data)

    def start(self):
        self.process = None
        self.supervisor = threading.Thread(target=self.supervise, daemon=True)
        self.supervisor.start()

    def supervise(self):
        while self.is_wanted:
            with open(self.data + ".diagnostics", "ab") as diagnostics:
                begin = diagnostics.tell()
                self.process = subprocess.Popen(
                    [tool, "--data", self.data, "serve", "--listen", "127.0.0.1:%d" % self.port], stdin=subprocess.DEVNULL,
                    stdout=diagnostics, stderr=diagnostics)
                # `kill` may have come before there was a process.
                if not self.is_wanted:
                    self.process.kill()
                code = self.process.wait()
            with open(self.data + ".diagnostics", "rb") as diagnostics:
                diagnostics.seek(begin)
                self.exits.append(End(code, diagnostics.read().decode(errors="replace"), time.monotonic()))
            self.ended.wait(RESTART_SECONDS)

    @property
    def token(self):
        with open(self.data + "/admin.token") as file:
            return file.read().strip()

    def readiness(self):
        """The status of /readyz; 0 without an answer."""
        try:
            return self.ask("GET", "/readyz")[0]
        except (OSError, ValueError):
            return 0

    def is_ready(self):
        return self.readiness() == 200

    def await_ready(self, seconds=60):
        wait_until("the service is ready; it ended with %s" % self.exits[-1:], seconds, self.is_ready)

    def await_exit(self, count, seconds=60):
        """Waits until it has ended more than `count` times; the end after those."""
        wait_until("the service ends", seconds, lambda: len(self.exits) > count)
        return self.exits[count]

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.is_wanted = False
        self.ended.set()
        if self.process and self.process.poll() is None:
            # It may be stopped, and then SIGKILL is the only signal that reaches it.
            self.process.send_signal(signal.SIGKILL)
        self.supervisor.join(PATIENCE_SECONDS)


class Gate:
    """Lets the clients of a load work, or holds them between two requests."""

    def __init__(self):
        self.is_open, self.is_over = threading.Event(), False
        self.clients = []

    def start(self):
        for client in self.clients:
            client.start()

    def open(self):
        self.is_open.set()

    def close(self, seconds=90):
        """Returns when every client has its last request acknowledged."""
        self.is_open.clear()
        wait_until("every phone has its last report acknowledged", seconds, lambda: all(one.is_idle for one in self.clients))

    def end(self):
        self.is_over = True
        self.is_open.set()
        for client in self.clients:
            if client.is_alive():
                client.join(PATIENCE_SECONDS * 2)

    def failed(self):
        return next((client.failure for client in self.clients if client.failure), None)


class Client(threading.Thread):
    """Sends requests over one connection, and opens another after a failure."""

    def __init__(self, gate, services, key, seed):
        """With several services, another one is asked after each failure."""
        super().__init__(daemon=True)
        self.gate, self.services, self.service, self.key = gate, services, services[0], key
        self.dice = random.Random(seed)
        self.connection, self.connected_to, self.failure, self.is_idle = None, None, None, True
        self.unavailable_without_retry = 0
        gate.clients.append(self)

    def exchange(self, method, target, body=None, headers=None):
        """Status, request id and content; status 0 without an answer."""
        # `services` may be set to others at any time.
        if self.service not in self.services:
            self.service = self.services[0]
        service = self.service
        if self.connection and self.connected_to is not service:
            self.connection.close()
            self.connection = None
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_SECONDS)
            self.connected_to = service
        try:
            words = {"Authorization": "Bearer " + self.key, **(headers or {})}
            self.connection.request(method, target, body, words)
            answer = self.connection.getresponse()
            content = answer.read()
            request = answer.headers.get("Whereabouts-Request")
            if answer.status == 503 and not answer.headers.get("Retry-After"):
                self.unavailable_without_retry += 1
            if answer.will_close:
                self.connection.close()
                self.connection = None
            status = answer.status
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            status, request, content = 0, None, b""
        if status in (0, 503):
            self.move(service)
        return status, request, content

    def move(self, service):
        """To the service after one that did not answer."""
        services = self.services
        if service in services:
            self.service = services[(services.index(service) + 1) % len(services)]

    def run(self):
        try:
            while not self.gate.is_over:
                if not self.gate.is_open.is_set():
                    self.is_idle = True
                    self.gate.is_open.wait()
                    continue
                self.is_idle = False
                self.work()
        except Exception as error:
            # A thread's end is seen only if somebody looks for it.
            self.failure = error
        self.is_idle = True


class Acknowledged:
    """A report that was acknowledged: the request, its fixes' timestamps, how many were new, and when."""

    def __init__(self, request, timestamps, new):
        self.request, self.timestamps, self.new, self.at = request, timestamps, new, time.monotonic()


class Phone(Client):
    """Reports fixes, each with a timestamp that no other fix has, again and again until they are acknowledged."""

    def __init__(self, gate, services, key, index, of, file):
        super().__init__(gate, services, key, index)
        self.index, self.of, self.file = index, of, file
        self.serial, self.base = 0, int(time.time()) - 20 * DAY_SECONDS
        self.acknowledged = []

    def work(self):
        timestamps = []
        for _ in range(self.dice.randint(1, LARGEST_BATCH)):
            timestamps.append(self.base + self.serial * self.of + self.index)
            self.serial += 1
        fixes = [{"timestamp": at, "latitude": 48.2 + self.index / 10, "longitude": 16.3 + (at - self.base) % 5000 / 1e5,
                  "horizontalAccuracy": 5} for at in timestamps]
        while not self.gate.is_over:
            status, request, content = self.exchange("POST", "/v1/fixes", json.dumps({"fixes": fixes}))
            if status == 200:
                answer = json.loads(content)
                expect(answer["new"] + answer["duplicate"] == len(fixes) and not answer["rejected"],
                       "a report is answered %s" % answer)
                self.note(Acknowledged(request, timestamps, answer["new"]))
                time.sleep(self.dice.uniform(0, LONGEST_PAUSE_SECONDS))
                return
            expect(status in (0, 503), "a report is answered %d: %s" % (status, content[:300]))
            time.sleep(RETRY_SECONDS)

    def note(self, report):
        self.file.write("%s %d %s\n" % (report.request, report.new, report.timestamps))
        self.acknowledged.append(report)


class Reader(Client):
    """Reads a track with its owner's token, and asks where the owner is with a friend's; `recorded` has what was answered."""

    PAUSE_SECONDS = 0.05

    def __init__(self, gate, services, own, friend):
        super().__init__(gate, services, own, 0)
        self.own, self.friend, self.recorded = own, friend, []

    def work(self):
        self.key = self.own
        status, request, content = self.exchange("GET", "/v1/people/p0/track?limit=5")
        self.note(status, request, content)
        if self.dice.random() < 0.3:
            self.key = self.friend
            status, request, content = self.exchange("POST", "/v1/people/p0/location-queries", '{"purpose":"test"}')
            self.note(status, request, content)
        time.sleep(self.PAUSE_SECONDS)

    def note(self, status, request, content):
        # 429 is the limit for questions.
        expect(status in (0, 200, 202, 429, 503), "a reader is answered %d: %s" % (status, content[:300]))
        if status in (200, 202):
            self.recorded.append(request)


Look = collections.namedtuple("Look", "request as_of timestamp")


class Watcher(Client):
    """Reads where p0 is, with the operator's token, each time at least as of the answer before; `looks` has the answers."""

    PAUSE_SECONDS = 0.1

    def __init__(self, gate, services, token):
        super().__init__(gate, services, token, 1)
        self.looks = []

    def work(self):
        least = self.looks[-1].as_of if self.looks else 0
        status, request, content = self.exchange(
            "GET", "/v1/people/p0/location?at-least=%d" % least, headers={"Whereabouts-Purpose": "test"})
        # 404 before the first fix.
        expect(status in (0, 200, 404, 503), "the watcher is answered %d: %s" % (status, content[:300]))
        if status == 200:
            answer = json.loads(content)
            if answer["location"]:
                self.looks.append(Look(request, answer["asOf"], answer["location"]["timestamp"]))
        time.sleep(self.PAUSE_SECONDS)


def settle(service, count):
    """Adds people who each have a phone; the phones' keys, a token of the first person, and one of a friend who may ask."""
    keys = []
    for index in range(count):
        service.ask("POST", "/v1/people", {"handle": "p%d" % index}, status=201)
        made = service.ask("POST", "/v1/people/p%d/devices" % index, {"handle": "phone%d" % index}, status=201)
        keys.append(made[1]["password"])
    service.ask("POST", "/v1/people", {"handle": "friend"}, status=201)
    own, friend = (service.ask("POST", "/v1/people/%s/tokens" % person, {"scopes": ["query"]}, status=201)[1]["token"]
                   for person in ("p0", "friend"))
    service.ask("POST", "/v1/people/p0/grants", {"requester": "friend", "precision": "exact", "history": True}, status=201)
    return keys, own, friend
