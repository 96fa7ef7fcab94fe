"""Checks APNs provider tokens with PyPI cryptography: provider_token.py KEY.p8 < TOKENS.

Reads a JWT a line and prints, for all of them, the distinct headers and claims without their `iat`, the range of `iat`,
how many there were, how many of them are distinct, and in how many r or s begins with a zero byte.
"""
import base64
import json
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils


def decode(text):
    assert "=" not in text
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


with open(sys.argv[1], "rb") as file:
    key = serialization.load_pem_private_key(file.read(), password=None)
assert isinstance(key.curve, ec.SECP256R1)
public = key.public_key()
forms, times, signatures, short_r, short_s = set(), [], set(), 0, 0
for line in sys.stdin:
    header, claims, signature = line.rstrip("\n").split(".")
    raw = decode(signature)
    assert len(raw) == 64
    der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    public.verify(der, f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    said = json.loads(decode(claims))
    times.append(said.pop("iat"))
    assert type(times[-1]) is int
    forms.add((decode(header).decode(), json.dumps(said, separators=(",", ":"))))
    signatures.add(raw)
    short_r += raw[0] == 0
    short_s += raw[32] == 0
for form in sorted(forms):
    print(*form)
print(min(times), max(times), len(times), len(signatures), short_r, short_s)
