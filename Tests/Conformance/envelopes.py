"""Envelopes by other libraries: cbor2, pyhpke and cryptography, written from envelopes.cddl.

envelopes.py open CDDL    checks the envelopes of the input, each line `identity opener envelope`, and prints what is in them
envelopes.py seal         prints lines `identity opener query-or-period envelope content`
"""
import hashlib
import random
import struct
import sys

import cbor2
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from pyhpke import AEADId, CipherSuite, KDFId, KEMId

SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.CHACHA20_POLY1305)
PREFIX = b"whereabouts/1 envelope "


def head(count):
    return bytes([0x80 | count])


def prefix(members, count):
    """The bytes of an envelope before its member `count`."""
    return head(len(members)) + b"".join(cbor2.dumps(m, canonical=True) for m in members[:count])


def key_id(public):
    return hashlib.sha256(public).digest()[:16]


def info(members, identifier):
    return b"whereabouts/1 " + bytes([members[0]]) + identifier


def unwrap(members, place, secret):
    private = SUITE.kem.deserialize_private_key(secret)
    own = key_id(X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw())
    for identifier, enc, sealed in members[place]:
        if identifier == own:
            context = SUITE.create_recipient_context(enc, private, info=info(members, own))
            return context.open(sealed, aad=prefix(members, place))
    raise AssertionError("not a recipient")


def unpadded(plaintext):
    assert len(plaintext) == 240
    content = plaintext.rstrip(b"\0")
    assert content[-1] == 0x80
    return content[:-1]


def opened(envelope, identity, opener):
    members = cbor2.loads(envelope)
    assert cbor2.dumps(members, canonical=True) == envelope
    Ed25519PublicKey.from_public_bytes(identity).verify(members[-1], PREFIX + prefix(members, len(members) - 1))
    if members[0] == 3:
        return unwrap(members, 5, opener)
    key = unwrap(members, 6, opener) if members[0] == 1 else opener
    place = len(members) - 2
    content = unpadded(ChaCha20Poly1305(key).decrypt(members[place - 1], members[place], prefix(members, place)))
    assert cbor2.loads(content)[1] // 900_000 == members[4]
    return content


def read(cddl):
    import pycddl
    text = open(cddl).read()
    schemas = {number: pycddl.Schema(f"root = {rule}\n{text}")
               for number, rule in ((1, "answer"), (2, "track"), (3, "period"))}
    def fits(value, number):
        try:
            schemas[number].validate_cbor(cbor2.dumps(value))
            return True
        except pycddl.ValidationError:
            return False
    for line in sys.stdin:
        identity, opener, envelope = map(bytes.fromhex, line.split())
        members = cbor2.loads(envelope)
        assert fits(members, members[0])
        for place in range(len(members)):
            assert not fits(members[:place] + members[place + 1:], members[0]), place
            for other in ({}, "text"):
                assert not fits(members[:place] + [other] + members[place + 1:], members[0]), place
        assert not fits(members + [0], members[0])
        print(opened(envelope, identity, opener).hex())


def sealed_fix(members, key, plaintext):
    members.append(random.randbytes(12))
    padded = (plaintext + b"\x80").ljust(240, b"\0")
    # One member for the box and one for the signature follow.
    aad = prefix(members + [0, 0], len(members))
    members.append(ChaCha20Poly1305(key).encrypt(members[-1], padded, aad))


def wrapped(members, following, secret, publics):
    aad = prefix(members + [0] * following, len(members))
    entries = []
    for public in publics:
        identifier = key_id(public)
        enc, context = SUITE.create_sender_context(
            SUITE.kem.deserialize_public_key(public), info=info(members, identifier))
        entries.append([identifier, enc, context.seal(secret, aad=aad)])
    members.append(sorted(entries))


def write():
    random.seed(21)
    for n in range(30):
        seed, opener, key = (random.randbytes(32) for _ in range(3))
        identity = Ed25519PrivateKey.from_private_bytes(seed)
        publics = [X25519PrivateKey.from_private_bytes(s).public_key().public_bytes_raw()
                   for s in [opener] + [random.randbytes(32) for _ in range(n % 5)]]
        time = random.randrange(100_000_000_000, 4_000_000_000_000)
        fix = {1: time, 2: random.randrange(-900_000_000, 900_000_000), 3: random.randrange(-1_800_000_000, 1_800_000_000),
               4: random.randrange(1, 100)}
        plaintext = cbor2.dumps(fix, canonical=True)
        kind = n % 3 + 1
        number, one, two = random.randrange(1, 1 << 40), random.randbytes(16), random.randbytes(16)
        if kind == 1:
            members = [1, number, one, two, time // 900_000, 2]
            wrapped(members, 4, key, publics)
            sealed_fix(members, key, plaintext)
        elif kind == 2:
            members = [2, number, one, two, time // 900_000, 2]
            sealed_fix(members, opener, plaintext)
        else:
            members = [3, number, one, time, 1 + n % 2]
            wrapped(members, 2, key, publics)
            plaintext = key
        members.append(identity.sign(PREFIX + prefix(members + [0], len(members))))
        parts = [identity.public_key().public_bytes_raw(), opener, one, cbor2.dumps(members, canonical=True), plaintext]
        print(*(p.hex() for p in parts))


read(sys.argv[2]) if sys.argv[1] == "open" else write()
