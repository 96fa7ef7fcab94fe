"""Shared by the scripts of this folder: the tool's `serve` on a directory, requests to it, and the shim that makes its files and
clock fail."""
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import threading
import time

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
tool = os.environ.get("WHEREABOUTS_TOOL", os.path.join(root, ".build/debug/whereabouts"))


class Failed(Exception):
    pass


def expect(condition, sentence):
    if not condition:
        raise Failed(sentence)


def wait_until(sentence, seconds, condition):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise Failed("after %d s: %s" % (seconds, sentence))


class Wire:
    """A connection that sends given bytes."""

    def __init__(self, port, receiving=None):
        self.socket = socket.socket()
        if receiving:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receiving)
        self.socket.settimeout(40)
        self.socket.connect(("127.0.0.1", port))

    def send(self, method, target, token=None, body="", more=""):
        head = "%s %s HTTP/1.1\r\nHost: h\r\n%s" % (method, target, more)
        if token:
            head += "Authorization: Bearer %s\r\n" % token
        self.raw("%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body))
        return self

    def raw(self, text):
        self.socket.sendall(text.encode())
        return self

    def rest(self):
        """All that comes until the connection ends."""
        received = b""
        with contextlib.suppress(ConnectionError):
            while True:
                piece = self.socket.recv(65536)
                if not piece:
                    break
                received += piece
        return received

    def answer(self):
        """Status, head and content; status 0 when the connection ends without one."""
        received = b""
        while True:
            head, separator, content = received.partition(b"\r\n\r\n")
            if separator:
                length = re.search(rb"content-length: (\d+)", head, re.I)
                if length and len(content) >= int(length[1]):
                    break
                if re.search(rb"transfer-encoding: chunked", head, re.I) and content.endswith(b"0\r\n\r\n"):
                    break
            try:
                piece = self.socket.recv(65536)
            except ConnectionError:
                piece = b""
            if not piece:
                break
            received += piece
        head, _, content = received.partition(b"\r\n\r\n")
        status = int(head[9:12]) if head.startswith(b"HTTP/1.1 ") else 0
        return status, head.decode(), content


class Service:
    """The tool's `serve` on a directory."""

    def __init__(self, data, control=None, shim=None):
        self.data, self.control, self.shim = data, control, shim
        self.start()

    def start(self):
        environment = dict(os.environ)
        if self.control:
            environment.update(LD_PRELOAD=self.shim, WHEREABOUTS_FAIL_CONTROL=self.control)
        self.diagnostics = open(self.data + ".diagnostics", "ab")
        self.process = subprocess.Popen(
            [tool, "--data", self.data, "serve", "--listen", "127.0.0.1:0"], env=environment,
            stdout=subprocess.PIPE, stderr=self.diagnostics)
        for line in self.process.stdout:
            found = re.search(rb"http://127\.0\.0\.1:(\d+)/", line)
            if found:
                self.port = int(found[1])
                break
        else:
            raise Failed("the service does not start; exit code %d" % self.process.wait())
        self.drain = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.drain.start()
        self.token = open(self.data + "/admin.token").read().strip()

    def wire(self, **options):
        return Wire(self.port, **options)

    def ask(self, method, target, body=None, token=None, status=None, headers=""):
        text = "" if body is None else json.dumps(body)
        found, head, content = self.wire().send(method, target, token or self.token, text, headers).answer()
        if status:
            expect(found == status, "%s %s gives %d, not %d: %s" % (method, target, found, status, content[:300]))
        return found, json.loads(content) if content.startswith(b"{") else content.decode(), head

    def make(self):
        """Anna with a phone, Bert who may ask about her; sets their tokens."""
        tokens = {}
        for person in ["anna", "bert"]:
            self.ask("POST", "/v1/people", {"handle": person}, status=201)
            made = self.ask("POST", "/v1/people/%s/tokens" % person, {"scopes": ["query", "audit", "manage"]}, status=201)
            tokens[person] = made[1]["token"]
        made = self.ask("POST", "/v1/people/anna/devices", {"handle": "phone"}, status=201)
        self.phone = made[1]["password"]
        self.ask("POST", "/v1/people/anna/grants", {"requester": "bert", "precision": "exact", "history": True}, status=201)
        self.anna, self.bert = tokens["anna"], tokens["bert"]
        self.reported = []

    def report(self, second):
        """Reports another fix and returns the status."""
        body = {"fixes": [{"timestamp": int(time.time()) - 3600 + second, "latitude": 48.2, "longitude": 16.3 + second / 1e4,
                           "horizontalAccuracy": 5}]}
        status, content, _ = self.ask("POST", "/v1/fixes", body, token=self.phone)
        return status, content

    def end(self):
        """Sends SIGTERM; the seconds until it has exited, and how."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        return time.monotonic() - start, code

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def metric(self, line):
        return line in self.ask("GET", "/metrics")[1].splitlines()

    def run(self, *words):
        return subprocess.run([tool, "--data", self.data, *words], capture_output=True, text=True, timeout=300)


def free_port():
    """A port to listen at again and again: the system gives it to no connection of other programs in the meantime."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        lowest = int(file.read().split()[0])
    while True:
        port = random.randrange(1024, lowest)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port


def set_control(path, *lines):
    with open(path + ".new", "w") as file:
        file.write("".join(line + "\n" for line in lines) or "\n")
    os.rename(path + ".new", path)


def build_shim(folder):
    """Builds the library that fails as the lines of a control file say; returns its path."""
    path = os.path.join(folder, "fail.so")
    source = os.path.join(root, "scripts/faults/fail.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", path, source, "-ldl"], check=True)
    return path
