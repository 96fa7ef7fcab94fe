"""Checks an APNs provider token with PyPI cryptography: provider_token.py KEY.p8 JWT; prints header and claims."""
import base64
import sys

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


with open(sys.argv[1], "rb") as file:
    key = serialization.load_pem_private_key(file.read(), password=None)
assert isinstance(key.curve, ec.SECP256R1)
header, claims, signature = sys.argv[2].split(".")
assert "=" not in sys.argv[2]
raw = decode(signature)
assert len(raw) == 64
der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
key.public_key().verify(der, f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
print(decode(header).decode())
print(decode(claims).decode())
