#!/usr/bin/env python3
"""Checks the whole log of a house, as an auditor whom the operator has appointed. Standard library only.

    scripts/audit_house.py URL --token FILE --key KEY [--state FILE] [--proof FILE]… [--receipts FILE]… [--erasure FILE]…

Needs verify_proof.py in the same folder. Reads the checkpoint, the tiles and the entries of the log from the service, and
checks that

  - the entries give the root that the house signed, and each stream of events is a chain without gaps;
  - each HeadsCommitted has the heads of all persons' logs, recomputed from the entries before it;
  - the log continues the checkpoint of the last audit;
  - each proof that a person hands over is the log that the house has committed to, and each receipt has its entry;
  - each erasure that the house has signed a receipt for is in the log.

    --token FILE      the auditor's token; "whereabouts token add --auditor" makes it
    --key KEY         the key of the house, from the operator by another way; GET /v1/log/key shows it
    --state FILE      the checkpoint of the last audit; written after a good one
    --proof FILE      a person's *.person-proof, or a checkpoint of theirs
    --receipts FILE   receipts that an asker has kept
    --erasure FILE    receipts that an erased person has kept: the log must have each erasure
    --accept-new-log  continues after a restore: the log in --state has ended
    --ca FILE         the certificate authority of the service; --no-ca accepts every certificate
    --json            prints one JSON object

Exit 0: everything is as it must be. 1: refused, with one sentence that says who was deceived about what. 2: wrong
arguments, or something cannot be read.

The documentation page "Proof" describes the formats, and the limits of an audit.
"""
import bisect
import hashlib
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request

from verify_proof import (
    BYTES_MAX, ED25519, FIRST_LINE, Checkpoint, Key, Note, Refused, Tree, cbor_head, erasures_of, moment, parse_proof,
    printable, read, receipts_of, renamed)

PERSON_ERASED, LOG_RESTORED, LOSS_ACCEPTED, HEADS_COMMITTED = 20, 22, 58, 71
ENTRIES_IN_BUNDLE = 256


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


class Items:
    """Reads deterministic CBOR: integers, byte strings, texts, arrays and maps."""

    def __init__(self, data):
        self.data, self.place = data, 0

    def take(self, count):
        if self.place + count > len(self.data):
            raise ValueError
        self.place += count
        return self.data[self.place - count:self.place]

    def item(self):
        first = self.take(1)[0]
        major, value = first >> 5, first & 31
        if value >= 24:
            if value > 27:
                raise ValueError
            value = int.from_bytes(self.take(1 << value - 24), "big")
        if major == 0:
            return value
        if major == 1:
            return -1 - value
        if major == 2:
            return self.take(value)
        if major == 3:
            return self.take(value).decode("utf-8")
        if major == 4:
            return [self.item() for _ in range(value)]
        if major == 5:
            return {self.item(): self.item() for _ in range(value)}
        raise ValueError


def decoded(data, what):
    try:
        items = Items(data)
        value = items.item()
        if items.place != len(data):
            raise ValueError
        return value
    except (ValueError, UnicodeDecodeError, TypeError):
        raise Refused(f"{what} cannot be read") from None


class House:
    """The service, asked with the auditor's token."""

    def __init__(self, url, token, context):
        self.url, self.token, self.context = url.rstrip("/"), token, context

    def get(self, path):
        request = urllib.request.Request(self.url + "/v1/log/" + path, headers={"Authorization": "Bearer " + self.token})
        for attempt in range(600):
            try:
                with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
                    return answer.read(BYTES_MAX)
            except urllib.error.HTTPError as error:
                if error.code != 503:
                    raise Refused(
                        f"the service answers {error.code} for /v1/log/{path}" + (
                            ": it withholds what its checkpoint covers, or the token is not an auditor's"
                            if error.code in (401, 404) else "")) from None
            time.sleep(0.2)
        raise Refused(f"the service answers 503 for /v1/log/{path} again and again")


def tile_path(kind, index, count):
    parts = [f"{index % 1000:03}"]
    index //= 1000
    while index:
        parts.insert(0, f"x{index % 1000:03}")
        index //= 1000
    return f"tile/{kind}/" + "/".join(parts) + ("" if count == ENTRIES_IN_BUNDLE else f".p/{count}")


def leaf_of(first, second, last):
    """The leaf of the CBOR array [1, first, second, 32 bytes]: an entry of a person's log, or the head of one."""
    return sha256(b"\x00\x84\x01", cbor_head(0, first), cbor_head(0, second), b"\x58\x20", last)


class Person:
    """A person's own log, as the house's log has it: (time, commitment) of each entry."""

    def __init__(self):
        self.entries, self.tree = [], Tree()

    def append(self, commit, recorded_at):
        self.entries.append((recorded_at, commit))
        self.tree.append(leaf_of(len(self.entries), recorded_at, commit))

    def root(self, size):
        return root_of(leaf_of(version, *entry) for version, entry in enumerate(self.entries[:size], 1))


class Heads:
    """The persons' logs, folded from the entries and the commitments of the house's log."""

    def __init__(self):
        self.name, self.up_to, self.persons, self.covered = None, 0, {}, {}

    def fold(self, body, number, audits):
        """Folds the HeadsCommitted of this number; `audits` are (number, person, version, time) of all audits so far."""
        what = f"event {number}"
        value = decoded(body, what)
        if not isinstance(value, list) or len(value) != 1 or not isinstance(value[0], dict):
            raise Refused(f"{what} is not a commitment to heads")
        size, root, up_to, name, commits = (value[0].get(key) for key in (1, 2, 3, 4, 5))
        if not isinstance(up_to, int) or not isinstance(name, str) or not isinstance(commits, bytes):
            raise Refused(f"{what} is not a commitment to heads")
        if name != self.name:
            # The house has another name, for example after a restore: the persons' logs begin anew.
            self.__init__()
            self.name = name
        if not self.up_to <= up_to < number:
            raise Refused(f"{what} commits to the events up to {up_to}, and {self.up_to} are committed before")
        covered = audits[bisect.bisect(audits, (self.up_to + 1,)):bisect.bisect(audits, (up_to + 1,))]
        if len(commits) != 32 * len(covered):
            raise Refused(
                f"{what} has {len(commits) // 32} commitments for {len(covered)} events about persons: the house has "
                "left an entry out of a person's log, or added one")
        for place, (_, person, version, recorded_at) in enumerate(covered):
            log = self.persons.setdefault(person, Person())
            if version != len(log.entries) + 1:
                raise Refused(f"{what} commits to version {version} of a person's log, {len(log.entries) + 1} is due")
            log.append(commits[32 * place:32 * place + 32], recorded_at)
        self.up_to = up_to
        tree = Tree()
        last = max(self.persons, default=-1)
        empty = sha256()
        for index in range(last + 1):
            log = self.persons.get(index)
            tree.append(leaf_of(index, len(log.entries), log.tree.root()) if log else leaf_of(index, 0, empty))
        if (size, root) != (last + 1, tree.root()):
            raise Refused(f"{what} names another root than that of the persons' logs before it")


def read_log(house, checkpoint):
    """All entries up to the checkpoint, checked: the leaves, the heads, the numbers of restores, and erasures."""
    leaves, streams, audits, heads, restores, erasures, last_kind = [], {}, [], Heads(), [], set(), None
    for index in range((checkpoint.size + ENTRIES_IN_BUNDLE - 1) // ENTRIES_IN_BUNDLE):
        count = min(ENTRIES_IN_BUNDLE, checkpoint.size - index * ENTRIES_IN_BUNDLE)
        hashes = house.get(tile_path(0, index, count))
        data, place, found = house.get(tile_path("entries", index, count)), 0, 0
        while place < len(data):
            length = int.from_bytes(data[place:place + 2], "big")
            entry = data[place + 2:place + 2 + length]
            place, found = place + 2 + length, found + 1
            number = len(leaves) + 1
            header, body_hash = decoded(entry[:-32], f"the entry of event {number}"), entry[-32:]
            if not isinstance(header, list) or len(header) != 10 or header[0] != 1 or header[1] != number:
                raise Refused(f"the entry in the place of event {number} is another one")
            _, _, stream, version, kind, recorded_at, _, _, cause, previous = header
            last_version, last_leaf = streams.get(stream, (0, b""))
            if version != last_version + 1 or previous != last_leaf:
                raise Refused(
                    f"event {number} does not continue its stream: it is version {version}, and {last_version + 1} is due")
            if not 0 <= cause < number:
                raise Refused(f"event {number} names a cause that is not before it")
            leaf = sha256(b"\x00", entry)
            if leaf != hashes[32 * (found - 1):32 * found]:
                raise Refused(f"the tile of hashes and the entry of event {number} are not of the same log")
            leaves.append(leaf)
            streams[stream] = (version, leaf)
            last_kind = kind
            if stream >= 5 and stream % 2:
                audits.append((number, stream // 2, version, recorded_at))
            if kind in (LOG_RESTORED, LOSS_ACCEPTED):
                restores.append((number, recorded_at))
            if kind == PERSON_ERASED:
                erasures.add((version, recorded_at))
            if kind == HEADS_COMMITTED:
                body = house.get(f"heads/{number}")
                if sha256(body) != body_hash:
                    raise Refused(f"the commitment to heads of event {number} is not the one that is in the log")
                heads.fold(body, number, audits)
        if found != count:
            raise Refused(f"a bundle has {found} entries where the checkpoint has {count}: the house withholds entries")
    if checkpoint.size and last_kind != HEADS_COMMITTED:
        raise Refused("the checkpoint does not end with a commitment to the persons' logs")
    return leaves, heads, restores, erasures


def root_of(leaves):
    tree = Tree()
    for leaf in leaves:
        tree.append(leaf)
    return tree.root()


def check_earlier(note, key, checkpoint, leaves, accepts_new_log):
    """Whether the log continues the checkpoint of the last audit; returns its size."""
    earlier = Checkpoint(note.text)
    if earlier.origin != checkpoint.origin:
        if accepts_new_log:
            return None
        raise Refused(
            f"this is another log: {printable(checkpoint.origin)}, and the last audit was of {printable(earlier.origin)}. "
            "After a restore or an accepted loss the operator must say so; events that you and the persons have seen may be "
            "missing. --accept-new-log continues with it")
    if not note.signed_by(key):
        raise Refused("the checkpoint of the last audit is not signed by this house")
    if earlier.size > checkpoint.size:
        raise Refused(
            f"the log had {earlier.size} events at the last audit and has {checkpoint.size} now: the house has cut the tail "
            "or restored an old backup, and deceives everyone who saw the rest. Keep both checkpoints; together they prove it")
    if root_of(leaves[:earlier.size]) != earlier.root:
        raise Refused(
            f"the first {earlier.size} events are not those of the last audit: the house has rewritten its log. Keep both "
            "checkpoints; together they prove it")
    return earlier.size


def check_person(path, data, house_key, heads):
    """Whether the log that a person was shown is the one that the house's log has; returns a sentence."""
    name = os.path.basename(path)
    is_proof = data.startswith(FIRST_LINE.encode() + b"\n")
    _, shown, note = parse_proof(data) if is_proof else ({}, None, Note(data))
    checkpoint = Checkpoint(note.text)
    if not checkpoint.origin.startswith((heads.name or "") + "/p/"):
        raise Refused(
            f"{name} is of {printable(checkpoint.origin)}, which is no log of {printable(heads.name or 'this house')}: "
            "it is older than a restore, or of another house")
    if not note.signed_by(renamed(house_key, checkpoint.origin)):
        raise Refused(f"{name} is not signed by this house")
    if shown is None:
        for person in heads.persons.values():
            if len(person.entries) >= checkpoint.size and person.root(checkpoint.size) == checkpoint.root:
                return f"{name}: these {checkpoint.size} entries are those in the house's log."
        raise Refused(
            f"{name}: no person's log in the house's log has this root at {checkpoint.size} entries. The house has shown "
            "the person another list than the auditor, or the checkpoint is newer than the house's")
    given = Person()
    for recorded_at, salt, last in shown:
        given.append(sha256(salt, last) if salt else last, recorded_at)
    entries = given.entries
    if (checkpoint.size, checkpoint.root) != (len(entries), given.tree.root()):
        raise Refused(f"{name}: the entries do not give the root that the house signed for the person")
    commits = {commit for _, commit in entries}
    found = [person for person in heads.persons.values() if any(commit in commits for _, commit in person.entries)]
    if not found:
        raise Refused(f"{name}: none of its entries is in the house's log: the house keeps two logs")
    person = max(found, key=lambda one: sum(commit in commits for _, commit in one.entries))
    for version, (entry, committed) in enumerate(zip(entries, person.entries), 1):
        if entry != committed:
            raise Refused(
                f"{name}: entry {version} of {moment(entry[0])} is not the one that the house's log has committed to "
                f"(of {moment(committed[0])}): the house has shown the person another list than the auditor. It hid, added "
                "or rewrote this entry. Keep the proof and the checkpoint; together they prove it")
    both = min(len(entries), len(person.entries))
    rest = len(entries) - both
    return f"{name}: {both} entries are those in the house's log." + (
        f" {rest} are newer than its last commitment; audit again." if rest else "")


def check_receipts(path, data, house_key, heads):
    receipts = receipts_of(data, house_key)
    commits = {commit for person in heads.persons.values() for _, commit in person.entries}
    missing = [receipt for receipt in receipts if receipt[1] not in commits]
    if missing:
        raise Refused(
            f"{os.path.basename(path)}: {len(missing)} of {len(receipts)} receipts have no entry in any person's log; the "
            f"first is of {moment(missing[0][2])}. The house has answered without recording it, unless the receipt is newer "
            "than the checkpoint, or of a log that a restore has ended")
    return f"{os.path.basename(path)}: each of {len(receipts)} receipts has its entry."


def check_erasures(path, data, house_key, found):
    receipts = erasures_of(data, house_key)
    for log, entries, stamp, _ in receipts:
        if (entries, stamp) not in found:
            raise Refused(
                f"{os.path.basename(path)}: the house has signed that {printable(log)} was erased at {moment(stamp)}, and its "
                "log has no such erasure, unless the receipt is newer than the checkpoint. Keep the receipt and the "
                "checkpoint; together they prove it")
    return f"{os.path.basename(path)}: each of {len(receipts)} erasures is in the house's log."


def arguments(words):
    """The address and the options; None if they are wrong."""
    options, urls, words = {"--proof": [], "--receipts": [], "--erasure": []}, [], list(words)
    while words:
        word = words.pop(0)
        if word in ("--json", "--no-ca", "--accept-new-log"):
            options[word] = True
        elif word in ("--proof", "--receipts", "--erasure") and words:
            options[word].append(words.pop(0))
        elif word in ("--token", "--key", "--state", "--ca") and words and word not in options:
            options[word] = words.pop(0)
        elif not word.startswith("-"):
            urls.append(word)
        else:
            return None
    if len(urls) != 1 or not urls[0].startswith(("http://", "https://")) or not {"--token", "--key"} <= options.keys():
        return None
    return urls[0], options


def audit(url, options, files):
    token, state, proofs, receipts, erasures = files
    context = ssl.create_default_context(cafile=options.get("--ca")) if url.startswith("https://") else None
    if context and "--no-ca" in options:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    key = Key(options["--key"])
    house = House(url, token, context)
    data = house.get("checkpoint")
    note = Note(data)
    checkpoint = Checkpoint(note.text)
    if key.kind != ED25519 or not note.signed_by(key):
        raise Refused("the checkpoint is not signed by the key of this house" + (
            f": it is of {printable(checkpoint.origin)}, and the key is of {printable(key.name)}. After a restore the name "
            "of the house is another one; ask the operator for its key" if checkpoint.origin != key.name else ""))
    if checkpoint.origin != key.name:
        raise Refused("the checkpoint has another origin than the key")
    leaves, heads, restores, erased = read_log(house, checkpoint)
    if root_of(leaves) != checkpoint.root:
        raise Refused("the entries do not give the root that the house signed: it shows other entries than it signed")
    if heads.name != checkpoint.origin:
        raise Refused("the newest commitment is to the logs of another house")
    earlier = check_earlier(Note(state), key, checkpoint, leaves, "--accept-new-log" in options) if state else None
    sentences = [check_person(path, data, key, heads) for path, data in proofs]
    sentences += [check_receipts(path, data, key, heads) for path, data in receipts]
    sentences += [check_erasures(path, data, key, erased) for path, data in erasures]
    return data, checkpoint, heads, restores, earlier, sentences


def main(words):
    parsed = arguments(words)
    if parsed is None:
        print(__doc__ if "--help" in words or "-h" in words else __doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    url, options = parsed
    state_path = options.get("--state")
    try:
        token = read(options["--token"]).decode("ascii").strip()
        state = read(state_path) if state_path and os.path.exists(state_path) else None
        words = ("--proof", "--receipts", "--erasure")
        files = token, state, *([(path, read(path)) for path in options[word]] for word in words)
    except (OSError, UnicodeDecodeError) as error:
        print(error, file=sys.stderr)
        return 2
    try:
        data, checkpoint, heads, restores, earlier, sentences = audit(url, options, files)
    except Refused as refusal:
        print(json.dumps({"good": False, "reason": str(refusal)}) if "--json" in options else f"Refused: {refusal}.")
        return 1
    except (OSError, urllib.error.URLError, ssl.SSLError) as error:
        print(f"{url}: {error}", file=sys.stderr)
        return 2
    if state_path:
        with open(state_path + ".new", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(state_path + ".new", state_path)
    if "--json" in options:
        print(json.dumps({
            "good": True, "origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root.hex(),
            "persons": len(heads.persons), "earlier": earlier, "restores": [number for number, _ in restores],
            "sentences": sentences}))
        return 0
    print(f"These are all {checkpoint.size} events of {printable(checkpoint.origin)}, and the logs of {len(heads.persons)} "
          "persons are in it.")
    for number, recorded_at in restores:
        print(f"Event {number}: at {moment(recorded_at)} the log was restored, or a loss was accepted.")
    if earlier is not None:
        print(f"The log continues the one of the last audit, of {earlier} events.")
    for sentence in sentences:
        print(sentence)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
