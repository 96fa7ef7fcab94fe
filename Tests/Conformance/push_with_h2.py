"""Pushes to an APNs stand-in with PyPI h2: push_with_h2.py PORT CA.pem KEY.p8 KEYID TEAMID TOKEN TOPIC.

The provider token is made with PyPI cryptography. Prints one line for each request: status and body. The requests are
a good one, one with a field twice, one with another topic, and one to no token.
"""
import base64
import json
import socket
import ssl
import sys
import time

import h2.config
import h2.connection
import h2.events
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils

port, trust, key_file, key_id, team_id, token, topic = sys.argv[1:]


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


with open(key_file, "rb") as file:
    key = serialization.load_pem_private_key(file.read(), password=None)
signed = ".".join(
    encode(json.dumps(part).encode())
    for part in ({"alg": "ES256", "kid": key_id}, {"iss": team_id, "iat": int(time.time())})
)
r, s = utils.decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
jwt = signed + "." + encode(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

context = ssl.create_default_context(cafile=trust)
context.set_alpn_protocols(["h2"])
line = context.wrap_socket(socket.create_connection(("localhost", int(port))), server_hostname="localhost")
assert line.selected_alpn_protocol() == "h2"
connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding="utf-8"))
connection.initiate_connection()
line.sendall(connection.data_to_send())


def push(token, topic, extra=()):
    stream = connection.get_next_available_stream_id()
    headers = [
        (":method", "POST"), (":scheme", "https"), (":authority", "localhost"), (":path", f"/3/device/{token}"),
        ("authorization", f"bearer {jwt}"), ("apns-push-type", "location"), ("apns-topic", topic),
        ("apns-id", "11111111-2222-3333-4444-555555555555"), *extra,
    ]
    connection.send_headers(stream, headers)
    connection.send_data(stream, b'{"aps":{}}', end_stream=True)
    line.sendall(connection.data_to_send())
    status, identity, body = None, None, b""
    while True:
        data = line.recv(65536)
        assert data, "the stand-in closed the connection"
        for event in connection.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                fields = dict(event.headers)
                status, identity = fields[":status"], fields["apns-id"]
            elif isinstance(event, h2.events.DataReceived):
                body += event.data
            elif isinstance(event, h2.events.StreamEnded):
                line.sendall(connection.data_to_send())
                assert identity == "11111111-2222-3333-4444-555555555555"
                print(status, body.decode(), connection.remote_settings.max_concurrent_streams)
                return
        line.sendall(connection.data_to_send())


push(token, topic)
push(token, topic, [("apns-priority", "5"), ("apns-priority", "10")])
push(token, "org.example.other.location-query")
push("", topic)
