#!/usr/bin/env python3
"""Checks offline that a list of who asked about a person is complete. Standard library only.

    scripts/verify_proof.py anna.person-proof --policy anna.tlog-policy [--older FILE]
                            [--receipts FILE] [--erasure FILE] [--house KEY] [--allow-erased] [--json]

The proof has every entry of the person's log and the checkpoint that the house signed. The script recomputes from the
contents the Merkle root that was signed, checks the signatures of the house and of the witnesses by the policy, and
prints the entries. It asks nobody.

    --policy FILE    whom you trust (c2sp.org/tlog-policy). --key KEY in its place trusts one log, and no witness.
    --older FILE     a proof or a checkpoint that you had before: the log must continue it, with the same names
    --receipts FILE  receipts that an asker has kept: each must have its entry
    --erasure FILE   the receipts that the person got when they were erased: one must be of this log, and the proof from
                     before it. If the house shows contents of the log later, the receipt and the proof are evidence
    --house KEY      the key of the house, which signs receipts; by default the key of the policy's log
    --allow-erased   accepts entries whose content was erased; otherwise the proof is refused
    --json           prints one JSON object in place of the table

Exit 0: everything is proven. 1: refused, with one sentence. 2: wrong arguments, or a file cannot be read.

    commit = SHA-256(salt ‖ content)
    entry  = CBOR [1, version, recorded at (ms), commit]
    leaf   = SHA-256(0x00 ‖ entry)        node = SHA-256(0x01 ‖ left ‖ right)        (RFC 9162, section 2.1.1)

The entries name people by references. The table shows the names that the house gives in the proof. They are the house's
word: a reference means the same person for ever, so a changed name is noticed with an older proof.

The documentation page "Proof" describes the files, and what such a proof cannot show.
"""
import binascii
import collections
import hashlib
import json
import re
import sys
import time
import unicodedata

BYTES_MAX = 256 << 20
NOTE_BYTES_MAX = 256 << 10
ENTRIES_MAX = 1_000_000
CONTENT_BYTES_MAX = 16 << 10
NAMES_MAX = 100_000
NAME_BYTES_MAX = 256
SIGNATURES_MAX = 64


class Refused(Exception):
    """The reason, as one sentence."""


# Ed25519 (RFC 8032), verification only. Points are (X, Y, Z, T) with x = X/Z, y = Y/Z, xy = T/Z.

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)


def point_add(a, b):
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    m = (y1 - x1) * (y2 - x2) % P
    n = (y1 + x1) * (y2 + x2) % P
    c = 2 * D * t1 * t2 % P
    d = 2 * z1 * z2 % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def point_double(a):
    x, y, z, _ = a
    xx, yy, zz = x * x % P, y * y % P, 2 * z * z % P
    h = xx + yy
    e = (h - (x + y) * (x + y)) % P
    g = xx - yy
    f = zz + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def point_from(data):
    """The point of 32 bytes, or None."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    if y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P != u:
        x = x * ROOT_OF_MINUS_ONE % P
        if v * x * x % P != u:
            return None
    if x == 0 and sign:
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def multiples(point):
    """0 to 15 times a point."""
    table = [NEUTRAL, point]
    for _ in range(14):
        table.append(point_add(table[-1], point))
    return table


BASE_MULTIPLES = multiples(point_from((4 * pow(5, P - 2, P) % P).to_bytes(32, "little")))


def ed25519_verify(public_key, signature, message):
    """Whether the signature is right: encode(S·B − k·A) = R, both multiples in one pass of four bits a step."""
    point = point_from(public_key) if len(public_key) == 32 and len(signature) == 64 else None
    s = int.from_bytes(signature[32:], "little")
    if point is None or s >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public_key + message).digest(), "little") % ORDER
    x, y, z, t = point
    negative = multiples((P - x, y, z, P - t))
    total = NEUTRAL
    for shift in range(252, -1, -4):
        total = point_double(point_double(point_double(point_double(total))))
        digit = s >> shift & 15
        if digit:
            total = point_add(total, BASE_MULTIPLES[digit])
        digit = k >> shift & 15
        if digit:
            total = point_add(total, negative[digit])
    x, y, z, _ = total
    inverse = pow(z, P - 2, P)
    x, y = x * inverse % P, y * inverse % P
    return ((x & 1) << 255 | y).to_bytes(32, "little") == signature[:32]


# Texts: numbers and base 64 have one spelling only.

def number(text):
    if not text.isascii() or not text.isdigit() or len(text) > 19 or len(text) > 1 and text[0] == "0":
        raise ValueError
    value = int(text)
    if value >= 1 << 63:
        raise ValueError
    return value


def base64(text, is_loose=False):
    """Standard base 64; loose about the bits behind the last byte, as in signatures."""
    data = binascii.a2b_base64(text, strict_mode=True)
    if not is_loose and binascii.b2a_base64(data, newline=False).decode() != text:
        raise ValueError
    return data


def digest(text):
    data = base64(text)
    if len(data) != 32:
        raise ValueError
    return data


def note_text(data, what):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(f"{what} is not UTF-8") from None
    if any((c < 32 and c != 10) or c == 127 for c in data):
        raise Refused(f"{what} has control characters")
    return text


# Keys, notes, checkpoints, policies (c2sp.org/signed-note, tlog-checkpoint, tlog-cosignature, tlog-policy).

ED25519, COSIGNATURE, SUBTREE = 1, 4, 6


class Key:
    """A public key, written NAME+HASH+BASE64."""

    def __init__(self, text):
        try:
            self.name, hash_text, encoded = text.split("+", 2)
            key = base64(encoded)
            self.id, self.kind, self.public = bytes.fromhex(hash_text), key[0], key[1:]
        except (ValueError, IndexError):
            raise Refused("a public key is written NAME+HASH+BASE64") from None
        if self.kind not in (ED25519, COSIGNATURE, SUBTREE) or len(self.public) != (1312 if self.kind == SUBTREE else 32):
            raise Refused(f"the key of {printable(self.name)} is of a type that is not known here")
        name = self.name.encode("utf-8", "surrogateescape")
        if not is_key_name(self.name) or hashlib.sha256(name + b"\n" + key).digest()[:4] != self.id:
            raise Refused(f"the hash in the key of {printable(self.name)} is that of another key")


def renamed(key, name):
    """The same Ed25519 key under another name: the house signs as itself, and as each person's log."""
    public = bytes([ED25519]) + key.public
    data = hashlib.sha256(name.encode("utf-8", "surrogateescape") + b"\n" + public).digest()[:4]
    return Key(f"{name}+{data.hex()}+{binascii.b2a_base64(public, newline=False).decode()}")


def house_of(policy):
    """The key of the house, which is the key of a person's log under the house's name."""
    keys = {(log.name.partition("/p/")[0], log.public): log for log in policy.logs if "/p/" in log.name}
    if len(keys) != 1:
        raise Refused("the policy does not have the log of one house alone, so --house must name the key of the receipts")
    (name, _), log = keys.popitem()
    return renamed(log, name)


def is_key_name(name):
    return 0 < len(name) and not any(c == "+" or c.isspace() or ord(c) < 32 or ord(c) == 127 for c in name)


class Note:
    """A text with signatures."""

    def __init__(self, data):
        end = data.rfind(b"\n\n")
        if len(data) > NOTE_BYTES_MAX or end < 0 or end + 2 >= len(data) or not data.endswith(b"\n"):
            raise Refused("a checkpoint is some lines, an empty line, and lines of signature")
        self.text = note_text(data[:end + 1], "the checkpoint")
        self.signatures = []
        for line in note_text(data[end + 2:-1], "a line of signature").split("\n"):
            try:
                dash, name, encoded = line.split(" ")
                signature = base64(encoded, is_loose=True)
                if dash != "\u2014" or len(signature) < 5 or not is_key_name(name):
                    raise ValueError
            except ValueError:
                raise Refused("a line of signature is not of the form \"— NAME BASE64\"") from None
            self.signatures.append((name, signature[:4], signature[4:]))
        if len(self.signatures) > SIGNATURES_MAX:
            raise Refused("the checkpoint has too many signatures")

    def signed_by(self, key):
        """False, or True, or for a witness the newest time; a wrong signature by the key is refused."""
        found = False
        for name, key_id, signature in self.signatures:
            if key.kind == SUBTREE or name != key.name or key_id != key.id:
                continue
            message, stamp = self.text.encode(), True
            if key.kind == COSIGNATURE:
                stamp, signature = int.from_bytes(signature[:8], "big"), signature[8:]
                message = f"cosignature/v1\ntime {stamp}\n".encode() + message
            if stamp >= 1 << 63 or not ed25519_verify(key.public, signature, message):
                raise Refused(f"the signature of {printable(key.name)} is wrong")
            found = stamp if found is False else max(found, stamp)
        return found


class Checkpoint:
    def __init__(self, text):
        lines = text.split("\n")[:-1]
        try:
            self.origin, self.size, self.root = lines[0], number(lines[1]), digest(lines[2])
            if "" in lines or len(lines) > 67:
                raise ValueError
        except (ValueError, IndexError):
            raise Refused("a checkpoint has lines for origin, size and root") from None


class Policy:
    """Which logs to believe, and which witnesses must have cosigned."""

    def __init__(self, data):
        self.logs, self.witnesses, self.quorum = [], {}, None
        members, used, has_quorum = {}, set(), False
        if len(data) > NOTE_BYTES_MAX or any((c < 32 and c not in (9, 10)) or c == 127 for c in data):
            raise Refused("the policy is too long, or has control characters")
        for place, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n"), 1):
            fields = line.replace("\t", " ").split(" ")
            fields = [field for field in fields if field]
            if not fields or fields[0].startswith("#"):
                continue

            def check(is_right, rule):
                if not is_right:
                    raise Refused(f"line {place} of the policy: {rule}")

            kind, count = fields[0], len(fields)
            if kind == "log" and count in (2, 3):
                key = Key(fields[1])
                check(key.kind != COSIGNATURE, "the key is one of a witness")
                check(key.public not in [log.public for log in self.logs], "the key is there twice")
                self.logs.append(key)
            elif kind in ("witness", "group"):
                check(count >= 3 if kind == "witness" else count >= 4, "a field is missing")
                name = fields[1]
                check(name != "none" and name not in members, "the name is taken")
                if kind == "witness":
                    key = Key(fields[2])
                    check(count <= 4 and key.kind != ED25519, "the key is not one for cosignatures")
                    check(key.public not in [other.public for other in self.witnesses.values()], "the key is there twice")
                    self.witnesses[name] = key
                    members[name] = name
                else:
                    for member in fields[3:]:
                        check(member in members and member not in used, "a member is not defined above, or used twice")
                        used.add(member)
                    total = len(fields) - 3
                    try:
                        least = {"any": 1, "all": total}.get(fields[2]) or number(fields[2])
                    except ValueError:
                        least = 0
                    check(1 <= least <= total, "the threshold is any, all, or a number from 1 to that of the members")
                    members[name] = (least, [members[member] for member in fields[3:]])
                check(len(members) <= 128, "there are too many witnesses and groups")
            elif kind == "quorum" and count == 2:
                check(not has_quorum and (fields[1] == "none" or fields[1] in members), "the quorum is not defined above")
                has_quorum, self.quorum = True, members.get(fields[1])
            else:
                check(False, "it is none of log, witness, group, quorum with their fields")
        if not has_quorum:
            raise Refused("the policy has no line quorum")

    def is_met(self, cosigned, member):
        if member is None:
            return True
        if isinstance(member, str):
            return member in cosigned
        least, members = member
        return sum(self.is_met(cosigned, each) for each in members) >= least

    def judge(self, note):
        """The checkpoint, and the witnesses with their times."""
        checkpoint = Checkpoint(note.text)
        if not any([note.signed_by(log) for log in self.logs if log.name == checkpoint.origin and log.kind == ED25519]):
            raise Refused(f"no log of the policy has signed the checkpoint of {printable(checkpoint.origin)}")
        times = {name: note.signed_by(key) for name, key in self.witnesses.items()}
        # A witness whose time is 0 has signed, too.
        cosigned = {name: stamp for name, stamp in times.items() if stamp is not False}
        if not self.is_met(cosigned, self.quorum):
            raise Refused("too few witnesses of the policy have cosigned the checkpoint")
        return checkpoint, cosigned


# Entries.

def cbor_head(major, value):
    if value < 24:
        return bytes([major | value])
    for info, length in ((24, 1), (25, 2), (26, 4)):
        if value < 1 << 8 * length:
            return bytes([major | info]) + value.to_bytes(length, "big")
    return bytes([major | 27]) + value.to_bytes(8, "big")


def cbor_item(data, place, depth):
    """An item and the place after it. Lengths are definite, and text is UTF-8."""
    initial = data[place]
    place += 1
    major, value = initial >> 5, initial & 31
    if 24 <= value <= 27:
        length = 1 << value - 24
        if place + length > len(data):
            raise ValueError
        argument, raw = int.from_bytes(data[place:place + length], "big"), data[place:place + length]
        place += length
    elif value < 24:
        argument, raw = value, b""
    else:
        raise ValueError
    if major == 0:
        return argument, place
    if major == 1:
        return -1 - argument, place
    if major in (2, 3):
        if argument > len(data) - place:
            raise ValueError
        part = data[place:place + argument]
        return part if major == 2 else part.decode("utf-8"), place + argument
    if depth > 16 or argument > len(data) and major < 6:
        raise ValueError
    if major == 4:
        items = []
        for _ in range(argument):
            item, place = cbor_item(data, place, depth + 1)
            items.append(item)
        return items, place
    if major == 5:
        pairs = {}
        for _ in range(argument):
            key, place = cbor_item(data, place, depth + 1)
            if not isinstance(key, (str, int)) or key in pairs:
                raise ValueError
            pairs[key], place = cbor_item(data, place, depth + 1)
        return pairs, place
    if major == 6:
        return cbor_item(data, place, depth + 1)
    if value in (20, 21, 22):
        return (False, True, None)[value - 20], place
    if value in (25, 26, 27):
        import struct
        return struct.unpack({25: ">e", 26: ">f", 27: ">d"}[value], raw)[0], place
    raise ValueError


def content_of(data):
    """What an entry says: a map with texts as keys."""
    try:
        content, end = cbor_item(data, 0, 0)
    except (ValueError, IndexError, UnicodeDecodeError):
        return None
    return content if end == len(data) and isinstance(content, dict) and all(isinstance(k, str) for k in content) else None


class Tree:
    """The roots of the complete subtrees over the leaves so far, largest first."""

    def __init__(self):
        self.size, self.subtrees = 0, []

    def append(self, leaf):
        size, subtrees = self.size, self.subtrees
        self.size += 1
        while size & 1:
            leaf = hashlib.sha256(b"\x01" + subtrees.pop() + leaf).digest()
            size >>= 1
        subtrees.append(leaf)

    def root(self):
        if not self.subtrees:
            return hashlib.sha256(b"").digest()
        node = self.subtrees[-1]
        for subtree in self.subtrees[-2::-1]:
            node = hashlib.sha256(b"\x01" + subtree + node).digest()
        return node


FIRST_LINE = "whereabouts/person-proof@v1"


def parse_names(lines):
    """The names of a proof by their references, from the lines after its first."""
    names, last = {}, ""
    for place, line in enumerate(lines):
        if not line.startswith("name "):
            continue
        if place != len(names):
            raise Refused(f"line {place + 2} of the proof: names come before the entries")
        if len(names) == NAMES_MAX:
            raise Refused(f"a proof has {NAMES_MAX} names at most")
        try:
            _, reference, encoded = line.split(" ")
            data = base64(encoded)
            name = data.decode("utf-8")
            if not re.fullmatch("[A-Za-z0-9_-]{1,64}", reference) or not 1 <= len(data) <= NAME_BYTES_MAX \
                    or any(unicodedata.category(c) == "Cc" for c in name):
                raise ValueError
        except ValueError:
            raise Refused(f"line {place + 2} of the proof is not a name: name REFERENCE BASE64") from None
        if reference <= last:
            raise Refused(f"line {place + 2} of the proof: the references of names ascend, and each is there once")
        names[reference], last = name, reference
    return names


def parse_proof(data):
    """The names, the entries (time, salt or None, content or commit) and the note of the checkpoint."""
    end = data.find(b"\n\n")
    if end < 0 or len(data) > BYTES_MAX:
        raise Refused("a proof is lines of names and entries, an empty line, and a checkpoint")
    lines = note_text(data[:end], "the proof").split("\n")
    if lines[0] != FIRST_LINE:
        raise Refused(f"the first line of a proof is {FIRST_LINE}")
    names = parse_names(lines[1:])
    entries = []
    if len(lines) - 1 - len(names) > ENTRIES_MAX:
        raise Refused(f"a proof has {ENTRIES_MAX} entries at most")
    for version, line in enumerate(lines[1 + len(names):], 1):
        try:
            written, recorded_at, salt, last = line.split(" ")
            recorded_at, last = number(recorded_at), base64(last)
            salt = None if salt == "-" else base64(salt)
            if written != str(version) or len(last) > CONTENT_BYTES_MAX:
                raise ValueError
            if len(last) != 32 if salt is None else len(salt) != 16:
                raise ValueError
        except ValueError:
            raise Refused(f"line {version + 1 + len(names)} of the proof is not entry {version}") from None
        entries.append((recorded_at, salt, last))
    return names, entries, Note(data[end + 2:])


def earlier_proof(data, policy):
    """The names, and the checkpoint signed by a log of the policy, of an older proof; of a note without names."""
    try:
        is_proof = data.startswith(FIRST_LINE.encode() + b"\n")
        names, _, note = parse_proof(data) if is_proof else ({}, None, Note(data))
        return names, policy.judge(note)[0]
    except Refused as refusal:
        raise Refused(f"the older file: {refusal}") from None


def receipts_of(data, house):
    """The receipts of a file: (log, commitment, time) of each."""
    return [(log, commit, stamp) for log, commit, stamp in lines_of(
        data, house, "whereabouts receipt v1", {"log": str, "commit": digest, "time": number})]


def erasures_of(data, house):
    """The receipts of erasures in a file: (log, entries, time, backups left) of each."""
    return lines_of(data, house, "whereabouts erasure v1", {
        "log": str, "entries": number, "time": number, "backups-left": number})


def lines_of(data, house, first, fields):
    """The values of each note in a file, which has an empty line between two. All are signed by the house."""
    blocks = data.strip(b"\n").split(b"\n\n")
    if len(data) > BYTES_MAX or len(blocks) % 2:
        raise Refused("the last receipt of the file is cut off or not a receipt")
    found = []
    for text, signatures in zip(blocks[::2], blocks[1::2]):
        note = Note(text + b"\n\n" + signatures + b"\n")
        try:
            head, *lines, rest = note.text.split("\n")
            if head != first or rest or len(lines) != len(fields):
                raise ValueError
            values = []
            for line, (name, value) in zip(lines, fields.items()):
                if not line.startswith(name + " "):
                    raise ValueError
                values.append(value(line[len(name) + 1:]))
        except ValueError:
            raise Refused(f"a receipt has other lines than \"{first}\", {', '.join(fields)}") from None
        if house.kind != ED25519 or not note.signed_by(house):
            raise Refused("a receipt is not signed by the house")
        found.append(tuple(values))
    return found


def erased(erasures, checkpoint, witnesses, shown):
    """The receipt among `erasures` that is about the log of a verified proof, which is from before the erasure."""
    mine = [receipt for receipt in erasures if receipt[0] == checkpoint.origin]
    if not mine:
        raise Refused(f"no receipt of an erasure is about the log {printable(checkpoint.origin)}")
    _, entries, stamp, _ = receipt = mine[-1]
    readable = [(version, recorded_at) for version, recorded_at, _, is_erased in shown if not is_erased]
    is_later = any(version >= entries or recorded_at > stamp for version, recorded_at in readable)
    if is_later or readable and any(1000 * seen > stamp for seen in witnesses.values()):
        raise Refused(
            f"the house has signed that the keys of this log were destroyed at {moment(stamp)}, and the proof with contents "
            "is newer. Keep the proof and the receipt; together they prove it")
    return receipt


def verify(data, policy, older=None, receipts=(), allow_erased=False):
    """What a proof shows, or raises Refused. `older` is the bytes of a file, `receipts` come from receipts_of."""
    sha256 = hashlib.sha256
    names, entries, note = parse_proof(data)
    checkpoint, witnesses = policy.judge(note)
    if checkpoint.size != len(entries):
        raise Refused(f"the checkpoint is over {checkpoint.size} entries, and the proof has {len(entries)}")
    earlier_names, earlier = earlier_proof(older, policy) if older is not None else ({}, None)
    tree, shown, commits = Tree(), [], set()
    earlier_root = tree.root() if earlier and earlier.size == 0 else None
    for version, (recorded_at, salt, last) in enumerate(entries, 1):
        commit = sha256(salt + last).digest() if salt else last
        entry = b"\x84\x01" + cbor_head(0, version) + cbor_head(0, recorded_at) + b"\x58\x20" + commit
        tree.append(sha256(b"\x00" + entry).digest())
        if earlier and version == earlier.size:
            earlier_root = tree.root()
        shown.append((version, recorded_at, content_of(last) if salt else None, salt is None))
        commits.add((commit, recorded_at))
    if tree.root() != checkpoint.root:
        raise Refused("the entries do not give the root that was signed: one is missing, added or changed")
    for version, _, content, is_erased in shown:
        if is_erased and not allow_erased:
            raise Refused(
                f"entry {version} cannot be read: its content was erased, or its key is lost; --allow-erased accepts that")
        if content is None and not is_erased:
            raise Refused(f"entry {version} has a content that cannot be read")
    if earlier:
        if earlier.origin != checkpoint.origin:
            raise Refused(
                f"the older file is of another log, {printable(earlier.origin)}. After a restore or an accepted loss the logs "
                "have new names, and entries that you have seen may be missing: ask the operator")
        if earlier.size > checkpoint.size:
            raise Refused(f"the log had {earlier.size} entries earlier, and has {checkpoint.size} now")
        if earlier_root != earlier.root:
            raise Refused(
                f"the first {earlier.size} entries are not those of the older file: the house has shown two lists. "
                "Keep both files; together they prove it")
        for reference, name in names.items():
            before = earlier_names.get(reference, name)
            if before != name:
                raise Refused(
                    f"the house calls {reference} {printable(name)}, and called it {printable(before)} in the older proof")
    missing = [receipt for receipt in receipts if receipt[1:] not in commits]
    if missing:
        raise Refused(
            f"{len(missing)} of {len(receipts)} receipts have no entry; the first is of {moment(missing[0][2])}. "
            "If the proof was made after it, the house has answered without recording it")
    return checkpoint, witnesses, names, shown, earlier


# Printing.

def moment(ms):
    try:
        seconds, rest = divmod(ms, 1000)
        return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{rest:03}Z"
    except (ValueError, OverflowError, OSError):
        return f"{ms} ms"


def printable(value):
    """A text that cannot move the cursor."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{printable(k)}: {printable(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(printable, value)) + "]"
    return "".join(c if c.isprintable() else "\ufffd" for c in str(value))


def shown_text(text):
    """A text that cannot be taken for the members beside it."""
    text = printable(text)
    return json.dumps(text, ensure_ascii=False) if re.search('  |:( |$)|"|^ | $|^$', text) else text


class Table:
    """The entries, each in a line: version, time, event, who, why, and the other members with their names."""

    # Members whose values are words of the service or of the person who asked, and never references.
    WORDS = ("event", "purpose", "verdict", "precision", "place")
    # Those that come first behind the purpose.
    FIRST = ("verdict", "precision", "place", "latitude", "longitude")

    def __init__(self, names):
        self.names, self.used = names, set()
        # Two references under one name are told apart.
        self.ambiguous = {name for name, count in collections.Counter(names.values()).items() if count > 1}

    def named(self, value):
        """A value with names in place of references."""
        if isinstance(value, str) and value in self.names:
            self.used.add(value)
            name = shown_text(self.names[value])
            return f"{name} ({value})" if self.names[value] in self.ambiguous else name
        if isinstance(value, dict):
            return "{" + ", ".join(f"{shown_text(str(k))}: {self.named(v)}" for k, v in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.named, value)) + "]"
        if value is None or isinstance(value, bool):
            return {None: "none", True: "yes", False: "no"}[value]
        return shown_text(value) if isinstance(value, str) else printable(value)

    def cells(self, content):
        """Event, who, and the rest of a line."""
        members = {k: v for k, v in content.items() if k != "number" and not isinstance(v, bytes)}
        event = members.pop("event", "(no event)")
        if isinstance(event, str):
            event = re.sub("(?<=[a-z0-9])(?=[A-Z])", " ", event).lower()
        who = next((name for name in ("actor", "requester") if name in members), None)
        person = self.named(members.pop(who)) if who else ""
        for same in ("requester", "reader"):
            if who and members.get(same) == content[who]:
                del members[same]
        rest = []
        if isinstance(members.get("purpose"), str):
            rest.append(json.dumps(printable(members.pop("purpose")), ensure_ascii=False))
        order = [name for name in self.FIRST if name in members] + [name for name in members if name not in self.FIRST]
        for name in order:
            value = members[name]
            is_word = name in self.WORDS and isinstance(value, str)
            rest.append(f"{shown_text(name)}: {shown_text(value) if is_word else self.named(value)}")
        return shown_text(str(event)), person, "  ".join(rest)

    def lines(self, shown):
        rows = [(version, recorded_at, ("(unreadable)", "", "") if is_erased else self.cells(content))
                for version, recorded_at, content, is_erased in shown]
        widths = [min(40, max((len(cells[column]) for _, _, cells in rows), default=0)) for column in (0, 1)]
        for version, recorded_at, (event, who, rest) in rows:
            yield f"{version:6}  {moment(recorded_at)}  {event:{widths[0]}}  {who:{widths[1]}}  {rest}".rstrip()


def plain(value):
    """A value that JSON can write."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def arguments(words):
    """The proof and the options; None if they are wrong."""
    options, files = {}, []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("--json", "--allow-erased"):
            options[word] = True
        elif word in ("--policy", "--key", "--older", "--receipts", "--erasure", "--house") and words \
                and word not in options:
            options[word] = words.pop(0)
        elif not word.startswith("-"):
            files.append(word)
        else:
            return None
    if len(files) != 1 or ("--policy" in options) == ("--key" in options) \
            or ("--house" in options and not {"--receipts", "--erasure"} & options.keys()):
        return None
    return files[0], options


def read(path):
    with open(path, "rb") as file:
        return file.read(BYTES_MAX + 1)


def main(words):
    parsed = arguments(words)
    if parsed is None:
        print(__doc__ if "--help" in words or "-h" in words else __doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    path, options = parsed
    try:
        data = read(path)
        policy_text = read(options["--policy"]) if "--policy" in options else None
        older = read(options["--older"]) if "--older" in options else None
        receipt_text = read(options["--receipts"]) if "--receipts" in options else None
        erasure_text = read(options["--erasure"]) if "--erasure" in options else None
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    try:
        policy = Policy(policy_text if policy_text is not None else f"log {options['--key']}\nquorum none\n".encode())
        house = None
        if receipt_text is not None or erasure_text is not None:
            house = Key(options["--house"]) if "--house" in options else house_of(policy)
        receipts = receipts_of(receipt_text, house) if receipt_text is not None else ()
        erasures = erasures_of(erasure_text, house) if erasure_text is not None else None
        checkpoint, witnesses, names, shown, earlier = verify(data, policy, older, receipts, "--allow-erased" in options)
        erasure = erased(erasures, checkpoint, witnesses, shown) if erasures is not None else None
    except Refused as refusal:
        if "--json" in options:
            print(json.dumps({"proven": False, "reason": str(refusal)}))
        else:
            print(f"Refused: {refusal}.")
        return 1
    if "--json" in options:
        print(json.dumps({
            "proven": True, "origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root.hex(),
            "witnesses": {printable(name): stamp for name, stamp in witnesses.items()},
            "older": earlier.size if earlier else None, "receipts": len(receipts), "names": names,
            "erasedAt": erasure[2] / 1000 if erasure else None,
            "entries": [{"version": version, "recordedAt": recorded_at / 1000,
                         "content": None if is_erased else plain(content)}
                        for version, recorded_at, content, is_erased in shown],
        }))
        return 0
    table = Table(names)
    for line in table.lines(shown):
        print(line)
    for reference in sorted(table.used):
        print(f"{shown_text(names[reference])} is what the house calls {reference}.")
    print(f"These are all {checkpoint.size} entries of {printable(checkpoint.origin)}.")
    for name, stamp in witnesses.items():
        print(f"Witness {printable(name)} has seen the same log at {moment(1000 * stamp)}.")
    if not witnesses:
        print("No witness has cosigned: the house could show others another list.")
    if earlier:
        print(f"The log continues the one that you had, of {earlier.size} entries.")
    if receipts:
        print(f"Each of {len(receipts)} receipts has its entry.")
    if erasure:
        left = f" {erasure[3]} backups could not be reached then." if erasure[3] else ""
        print(f"The house has signed that the keys of this log were destroyed at {moment(erasure[2])}.{left}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
