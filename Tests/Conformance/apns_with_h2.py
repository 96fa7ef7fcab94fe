"""An APNs of another make, on PyPI h2 and cryptography: apns_with_h2.py DIRECTORY TROUBLE.

DIRECTORY holds server.pem, server-key.pem, provider.json and AuthKey_<key id>.p8. Prints the port, then a JSON line for
each push ({"id","status","reason"}; status 0 when it was not answered) until its input ends, then the totals
{"connections","resets","broken"}: connections made, streams reset by senders, connections that broke the protocol.
TROUBLE is one of the words below.
"""
import base64
import json
import selectors
import socket
import ssl
import sys
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from hpack import NeverIndexedHeaderTuple

directory, trouble = sys.argv[1:]
assert trouble in ("none", "goaway", "refused", "limit", "reset", "busy", "expired", "ping"), trouble
with open(f"{directory}/provider.json") as file:
    provider = json.load(file)
with open(f"{directory}/AuthKey_{provider['keyID']}.p8", "rb") as file:
    key = serialization.load_pem_private_key(file.read(), password=None).public_key()

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{directory}/server.pem", f"{directory}/server-key.pem")
context.set_alpn_protocols(["h2"])
lock = threading.Lock()
totals = {"connections": 0, "resets": 0, "broken": 0}
arrivals = 0
tokens = []


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def judge_token(text):
    """The reason to refuse a provider token, or None."""
    if text not in tokens:
        try:
            header, claims, signature = text.split(".")
            raw = decode(signature)
            assert len(raw) == 64
            der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
            key.verify(der, f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
            assert json.loads(decode(header)) == {"alg": "ES256", "kid": provider["keyID"]}
            assert json.loads(decode(claims))["iss"] == provider["teamID"]
            assert abs(json.loads(decode(claims))["iat"] - time.time()) < 7200
        except (AssertionError, ValueError, KeyError, InvalidSignature):
            return "InvalidProviderToken"
        tokens.append(text)
    return None


def judge(headers, body):
    """Status and reason for a request."""
    names = [name for name, _ in headers]
    fields = dict(headers)
    if len(set(names)) != len(names):
        return 400, "DuplicateHeaders"
    if fields[":method"] != "POST" or not fields[":path"].startswith("/3/device/"):
        return 404, "BadPath"
    hidden = {header[0] for header in headers if isinstance(header, NeverIndexedHeaderTuple)}
    if not {":path", "authorization"} <= hidden:
        return 400, "SecretsInTheTable"
    if not fields.get("apns-topic", "").endswith(".location-query") or fields.get("apns-push-type") != "location":
        return 400, "BadTopic"
    if fields.get("apns-priority") not in ("5", "10") or not fields.get("apns-expiration", "").isdigit():
        return 400, "BadPriority"
    if not isinstance(json.loads(body), dict):
        return 400, "PayloadEmpty"
    reason = judge_token(fields["authorization"].removeprefix("bearer "))
    return (403, reason) if reason else (200, None)


class Connection:
    def __init__(self, line):
        self.line = line
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        # Not by assignment, which would announce the old value and enforce the new one.
        self.http.local_settings = h2.settings.Settings(
            client=False, initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: 1})
        self.http.initiate_connection()
        self.requests = {}
        self.trusted = False
        self.gathered = None
        self.flush()

    def flush(self):
        data = self.http.data_to_send()
        if data:
            self.line.sendall(data)

    def limit(self, streams):
        self.http.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: streams})

    def serve(self):
        while True:
            data = self.line.recv(65536)
            if not data:
                return
            for event in self.http.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.requests[event.stream_id] = [event.headers, b""]
                elif isinstance(event, h2.events.DataReceived):
                    self.requests[event.stream_id][1] += event.data
                    self.http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamReset):
                    with lock:
                        totals["resets"] += 1
                elif isinstance(event, h2.events.StreamEnded):
                    if not self.arrived(event.stream_id, *self.requests.pop(event.stream_id)):
                        return
            self.flush()

    def answer(self, stream, identity, status, reason=None, retry_after=None):
        say(id=identity, status=status, reason=reason)
        headers = [(":status", str(status)), ("apns-id", identity)]
        if retry_after is not None:
            headers.append(("retry-after", str(retry_after)))
        if reason is None:
            self.http.send_headers(stream, headers, end_stream=True)
        else:
            self.http.send_headers(stream, headers)
            self.http.send_data(stream, json.dumps({"reason": reason}).encode(), end_stream=True)

    def arrived(self, stream, headers, body):
        """Deals with a request; false when the connection is to end."""
        global arrivals
        with lock:
            arrivals += 1
            place = arrivals
        identity = dict(headers).get("apns-id", "")
        if self.gathered is not None:
            say(id=identity, status=0, reason=None)
            self.gathered.append(stream)
            if len(self.gathered) == 20:
                self.http.close_connection(
                    last_stream_id=self.gathered[0] - 2, additional_data=b'{"reason":"Shutdown"}')
                self.flush()
                self.line.shutdown(socket.SHUT_WR)
                return False
            return True
        if trouble == "goaway" and place == 60:
            say(id=identity, status=0, reason=None)
            self.gathered = [stream]
            return True
        if trouble in ("refused", "reset") and place % 50 == 7:
            say(id=identity, status=0, reason=None)
            refused = h2.errors.ErrorCodes.REFUSED_STREAM
            self.http.reset_stream(
                stream, refused if trouble == "refused" else h2.errors.ErrorCodes.INTERNAL_ERROR)
            return True
        if trouble == "busy" and 60 <= place < 70:
            if place % 2:
                self.answer(stream, identity, 429, "TooManyRequests", 1)
            else:
                self.answer(stream, identity, 503, "ServiceUnavailable", 1)
            return True
        if trouble == "expired" and len(tokens) <= 1 and place > 1:
            token = dict(headers)["authorization"].removeprefix("bearer ")
            if token in tokens or not tokens:
                self.answer(stream, identity, 403, "ExpiredProviderToken")
                return True
        status, reason = judge(headers, body)
        self.answer(stream, identity, status, reason)
        if status == 200 and not self.trusted:
            self.trusted = True
            self.limit(1000)
        if trouble == "limit" and place in (60, 150):
            self.limit(1 if place == 60 else 1000)
        if trouble == "ping" and place == 60:
            # Silence from now on: nothing more is read, so no PING is answered.
            self.flush()
            threading.Event().wait()
        return True


def handle(line):
    with lock:
        totals["connections"] += 1
    try:
        with context.wrap_socket(line, server_side=True) as secure:
            connection = Connection(secure)
            connection.serve()
            # What the sender still says is read, so that closing does not cut off what was said to it.
            secure.settimeout(1)
            while secure.recv(65536):
                pass
    except h2.exceptions.ProtocolError as error:
        with lock:
            totals["broken"] += 1
        print(repr(error), file=sys.stderr)
    except OSError:
        pass


listener = socket.create_server(("127.0.0.1", 0), backlog=64)
say(port=listener.getsockname()[1])
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
selector.register(sys.stdin, selectors.EVENT_READ)
while True:
    ready = [key.fileobj for key, _ in selector.select()]
    if sys.stdin in ready:
        break
    threading.Thread(target=handle, args=(listener.accept()[0],), daemon=True).start()
with lock:
    say(**totals)
