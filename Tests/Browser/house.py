"""The real service on a temporary data directory, with a lived-in week of two people, for the browser tests.

`walker` and `friend` each have a week of tracks: the demo's day, moved to each of the last seven days, and for `friend` also 6 km to
the east. `work` sees `walker` within a kilometer in working hours, `carl` has to ask each time, and `stranger` has no grant.
The service and its stand-in for APNs listen on loopback only and end with this process.
"""
import atexit
import contextlib
import ctypes
import datetime
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("WHEREABOUTS_TOOL", str(ROOT / ".build/debug/whereabouts"))
# For what never comes; nothing is judged by how long it takes.
PATIENCE_SECONDS = 60
DAY = 86400
BUNDLE = "org.example.walker"
HOME = (48.2020, 16.3480)


def eventually(what, test, seconds=PATIENCE_SECONDS):
    """Waits until `test` gives something true, and gives it back."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError, KeyError, ValueError):
            if found := test():
                return found
        time.sleep(0.05)
    raise TimeoutError(what)


def end_with_parent():
    """Linux ends this process when its parent ends, also when that is killed (prctl 1, PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


@contextlib.contextmanager
def serving(handler):
    """An HTTP server on loopback, each request with a thread; gives its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def configured(house, **keys):
    """Restarts the service with more keys in its configuration, and without them at the end."""
    file = house.data / "config.json"
    before = file.read_text()
    try:
        house.stop_service()
        file.write_text(json.dumps({**json.loads(before), **keys}))
        house.serve()
        yield
    finally:
        house.stop_service()
        file.write_text(before)
        house.serve()


class Problem(Exception):
    """An answer that is no success."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status


class House:
    """The service, its people and their tokens."""

    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="whereabouts-browser-"))
        self.data = self.folder / "data"
        self.processes = []
        atexit.register(self.end)
        self.data.mkdir(parents=True)
        self.start_push_stand_in()
        self.listen = "127.0.0.1:0"
        self.serve()
        # After a restart the page must find the service where it was.
        self.listen = self.url.removeprefix("http://")
        self.operator = (self.data / "admin.token").read_text().strip()
        self.tokens, self.keys, self.ids = {}, {}, {}

    # Processes

    def start(self, name, *command):
        said = open(self.folder / f"{name}.log", "w")
        process = subprocess.Popen(
            [TOOL, *command], stdout=said, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        self.processes.append(process)
        return process

    def start_push_stand_in(self):
        props = self.folder / "stand-in"
        self.start("stand-in", "push-stand-in", "--directory", str(props))
        facts = eventually("the stand-in for APNs starts", lambda: json.loads((props / "stand-in.json").read_text()))
        self.courier = facts["courier"]
        push = {name: facts[name] for name in ("host", "port", "caFile", "teamID", "keyID", "keyFile")}
        push["port"] = int(push["port"])
        (self.data / "config.json").write_text(
            json.dumps({"push": {**push, "bundleIDs": [BUNDLE], "environment": "development"}}))

    def serve(self):
        self.service = self.start("service", "--data", str(self.data), "serve", "--listen", self.listen)
        log = self.folder / "service.log"
        self.url = eventually(
            "the service starts", lambda: re.search(r"http://127\.0\.0\.1:\d+", log.read_text()))[0]
        eventually("the service is ready", lambda: urllib.request.urlopen(self.url + "/readyz").status == 200)

    def stop_service(self):
        self.stop(self.service)

    def stop(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def end(self):
        for process in reversed(self.processes):
            self.stop(process)
        subprocess.run(["rm", "-rf", str(self.folder)], check=False)

    # Requests

    def call(self, method, path, body=None, token=None, headers={}):
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method, headers={
            "Authorization": f"Bearer {token or self.operator}", **headers})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise Problem(error.code, error.read().decode()) from None
        return json.loads(text) if text.startswith((b"{", b"[")) else text.decode()

    def get(self, path, token=None):
        return self.call("GET", path, None, token)

    def post(self, path, body, token=None, **headers):
        return self.call("POST", path, body, token, headers)

    def tool(self, *words):
        return subprocess.run([TOOL, "--data", str(self.data), *words], check=True, capture_output=True, text=True).stdout

    # People

    def add_person(self, handle):
        self.post("/v1/people", {"handle": handle})
        self.tokens[handle] = self.post(
            f"/v1/people/{handle}/tokens", {"scopes": ["query", "audit", "manage"]})["token"]

    def add_phone(self, person):
        phone = self.post(f"/v1/people/{person}/devices", {"handle": f"{person}-phone"})
        self.keys[person] = phone["password"]
        now = round(time.time(), 3)
        self.post("/v1/reports", {"reports": [
            {"type": "authorization", "timestamp": now, "status": "authorizedAlways", "accuracy": "full"}]},
            self.keys[person])

    def start_phone(self, person):
        """A simulated phone, which answers pushes from where the demo's evening ends."""
        props = self.folder / f"{person}-phone"
        props.mkdir()
        (props / "key").write_text(self.keys[person])
        (props / "scenario.json").write_text(json.dumps({
            "service": self.url, "pushStandIn": self.courier, "devices": [{
                "device": f"{person}-phone", "reportingKeyFile": "key", "bundleID": BUNDLE, "environment": "development",
                "track": str(ROOT / "data/demo/evening.gpx"), "at": "end"}]}))
        self.start(f"{person}-phone", "simulate", str(props / "scenario.json"))
        log = self.folder / f"{person}-phone.log"
        eventually("the simulated phone registers", lambda: "tokenUploaded" in log.read_text())

    def import_week(self, person, east_degrees=0.0):
        """The demo's day on each of the last seven days."""
        day = (ROOT / "data/demo/walker-day.gpx").read_text()
        if east_degrees:
            day = re.sub(r'lon="([0-9.]+)"', lambda found: f'lon="{float(found[1]) + east_degrees:.6f}"', day)
        today = datetime.datetime.now(datetime.timezone.utc).date()
        files = []
        for back in range(7, 0, -1):
            date = today - datetime.timedelta(days=back)
            file = self.folder / f"{person}-{date}.gpx"
            file.write_text(day.replace("2026-10-05T", f"{date}T"))
            files.append(str(file))
        self.tool("import", "--person", person, "--device", f"{person}-phone", *files)

    def grant(self, person, requester, **grant):
        self.ids[person, requester] = self.post(
            f"/v1/people/{person}/grants", {"requester": requester, **grant}, self.tokens[person])["id"]

    def report(self, person, latitude, longitude, **more):
        return self.post("/v1/fixes", {
            "timestamp": round(time.time(), 3), "latitude": latitude, "longitude": longitude, "horizontalAccuracy": 8,
            "batteryLevel": 0.71, **more}, self.keys[person])

    def ask(self, requester, subject, purpose, **more):
        return self.post(f"/v1/people/{subject}/location-queries", {"purpose": purpose, **more},
                         self.tokens[requester])["id"]

    def furnish(self):
        """A week has been lived here, and one question waits."""
        for person in ("walker", "friend", "work", "carl", "stranger"):
            self.add_person(person)
        for person in ("walker", "friend"):
            self.add_phone(person)
        walker, friend = self.tokens["walker"], self.tokens["friend"]
        for name, (latitude, longitude), radius in (("home", HOME, 150), ("office", (48.1745, 16.3775), 200)):
            self.post("/v1/people/walker/regions", {"id": name, "circle": {
                "latitude": latitude, "longitude": longitude, "radiusMeters": radius}}, walker)
        ring = [[16.352, 48.247], [16.364, 48.247], [16.364, 48.259], [16.344, 48.259], [16.352, 48.247]]
        self.post("/v1/people/walker/regions", {
            "id": "hills", "polygon": {"type": "Polygon", "coordinates": [ring]}, "notifyOnExit": False}, walker)
        self.import_week("walker")
        self.import_week("friend", 0.08)
        self.post("/v1/people/walker/corrections", {
            "type": "rename", "latitude": HOME[0], "longitude": HOME[1], "name": "Home"}, walker)
        week_ago = time.time() - 8 * DAY
        self.grant("walker", "friend", precision="exact", history=True, **{"from": round(week_ago)}, forSeconds=40 * DAY)
        self.grant("walker", "work", precision="kilometer", forSeconds=90 * DAY)
        self.grant("walker", "carl", precision="city", asksEachTime=True)
        self.grant("friend", "walker", precision="exact", history=True, **{"from": round(week_ago)})
        self.grant("carl", "walker", precision="exact", asksEachTime=True)
        self.post("/v1/people/walker/schedules", {"everySeconds": 7200}, walker)
        self.post("/v1/people/walker/invitations", {"precision": "kilometer", "history": False}, walker)
        self.post("/owntracks", b"{\"_type\":\"location\",\"lat\":\"north\"}", self.keys["walker"])

        self.start_phone("walker")
        late = self.ask("friend", "walker", "late for dinner", maxAgeSeconds=0)
        eventually("the phone answers", lambda: self.get(f"/v1/location-queries/{late}?wait=30", friend)["status"] != "pending")
        self.report("friend", 48.2102, 16.4349)
        day = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)
        self.get(f"/v1/people/walker/visits?day={day}", friend)
        self.get("/v1/people/walker/location", self.tokens["work"])
        self.get("/v1/people/friend/location", walker)
        with contextlib.suppress(Problem):
            self.ask("stranger", "walker", "hi")
        meet = self.ask("walker", "friend", "where do we meet?", maxAgeSeconds=0)
        self.report("friend", 48.2102, 16.4349, answering=meet)
        self.start_phone("friend")
        self.get(f"/v1/location-queries/{meet}?wait=10", walker)
        self.ids["answered"], self.ids["asked"] = late, meet
        self.settle()

    def consent_wanted(self):
        """carl asks, which `walker` has to answer within ten minutes."""
        return self.ask("carl", "walker", "where do we meet?", deadlineSeconds=600)

    def settle(self):
        """Waits until every projection has folded the whole log."""
        def is_folded():
            items = [item for item in self.get("/v1/projections")["items"] if item["role"] == "active"]
            return all(item["place"] >= item["head"] for item in items)
        eventually("the projections are folded", is_folded)


if __name__ == "__main__":
    house = House()
    house.furnish()
    house.consent_wanted()
    print(json.dumps({"url": house.url, "operator": house.operator, "tokens": house.tokens, "folder": str(house.folder)}),
          flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        threading.Event().wait()
