#!/usr/bin/env python3
"""Verifies a log from outside: an independent second reading of its specification, standard library only.

    scripts/dev/verify_log.py [--leaves] log.sqlite

Recomputes every leaf from the event's columns, and checks the numbers (1, 2, 3 … without gaps), the versions of each
stream (likewise), the chain of leaves within each stream, the heads of the persons' own logs in each HeadsCommitted,
and the row of the table `log`: size, head, and the Merkle tree over all leaves (RFC 9162, section 2.1.1). Prints "N events, root HEX", with --leaves first a line "number leaf"
for each event. Exit 1 with the first number that is wrong; exit 2 if the file cannot be read. Opens read-only, in one
transaction, so the log may be in use.

    leaf   = SHA-256(0x00 ‖ header ‖ SHA-256(body))
    header = deterministic CBOR (RFC 8949, section 4.2) of [1, number, stream, version, kind, recorded_at_ms, actor,
             correlation, cause, leaf of the previous event of the same stream or an empty byte string]
    node   = SHA-256(0x01 ‖ left ‖ right)

    HeadsCommitted (kind 71) = [{1: size, 2: root, 3: up to, 4: name, 5: commitments of 32 bytes}], one for each event of
    a person's audit (an odd stream from 5 on) after the previous one; another name begins again with event 1. The root
    is that of the tree whose leaf i = SHA-256(0x00 ‖ [1, i, entries, root]) is the log of person i = stream // 2: its
    leaves are SHA-256(0x00 ‖ [1, version, recorded_at_ms, commitment]). A number without a log has 0 entries.
"""
import argparse
import hashlib
import os
import pathlib
import sqlite3
import sys


class Wrong(Exception):
    """What is wrong with the log, naming the number."""


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def cbor_head(major, value):
    """The shortest form of a CBOR head, as deterministic encoding demands."""
    if value < 24:
        return bytes([major << 5 | value])
    for info, length in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << 8 * length:
            return bytes([major << 5 | info]) + value.to_bytes(length, "big")
    raise ValueError(value)


def cbor(value):
    """Integers, byte strings and lists of them are all that a header holds."""
    if isinstance(value, int):
        return cbor_head(0, value) if value >= 0 else cbor_head(1, -1 - value)
    if isinstance(value, bytes):
        return cbor_head(2, len(value)) + value
    return cbor_head(4, len(value)) + b"".join(map(cbor, value))


def parsed(data, place=0):
    """The CBOR item at a place, and the place after it. Only what a HeadsCommitted has."""
    major, value, place = data[place] >> 5, data[place] & 31, place + 1
    if value >= 24:
        length = 1 << value - 24
        value, place = int.from_bytes(data[place:place + length], "big"), place + length
    if major == 0:
        return value, place
    if major in (2, 3):
        if place + value > len(data):
            raise IndexError
        return data[place:place + value], place + value
    if major == 4:
        items = []
        for _ in range(value):
            item, place = parsed(data, place)
            items.append(item)
        return items, place
    if major == 5:
        items = {}
        for _ in range(value):
            key, place = parsed(data, place)
            items[key], place = parsed(data, place)
        return items, place
    raise ValueError


class Heads:
    """The persons' own logs, folded from the HeadsCommitted events."""

    KIND = 71

    def __init__(self):
        self.name, self.up_to, self.logs = None, 0, {}

    def check(self, number, body, audits):
        try:
            (fields,), _ = parsed(body)
            size, root, up_to, name, commits = (fields[key] for key in (1, 2, 3, 4, 5))
        except (ValueError, IndexError, KeyError, TypeError):
            raise Wrong(f"event {number} is not a commitment to heads") from None
        if name != self.name:
            self.name, self.up_to, self.logs = name, 0, {}
        if not self.up_to <= up_to < number:
            raise Wrong(f"event {number} covers the events up to {up_to}, and {self.up_to} are covered before it")
        covered = [audit for audit in audits if self.up_to < audit[0] <= up_to]
        if len(commits) != 32 * len(covered):
            raise Wrong(f"event {number} has {len(commits) // 32} commitments for {len(covered)} events of audits")
        for place, (_, person, version, recorded_at_ms) in enumerate(covered):
            commit = commits[32 * place:32 * place + 32]
            entry = cbor([1, version, recorded_at_ms, commit])
            self.logs.setdefault(person, []).append(sha256(b"\x00", entry))
        self.up_to = up_to
        leaves = []
        for person in range(max(self.logs, default=-1) + 1):
            log = self.logs.get(person, [])
            leaves.append(sha256(b"\x00", cbor([1, person, len(log), tree_root(log, 0, len(log))])))
        if (size, root) != (len(leaves), tree_root(leaves, 0, len(leaves))):
            raise Wrong(f"event {number}: the heads of the persons' logs are others than it says")


def tree_root(leaves, start, end):
    """MTH of RFC 9162 over leaves[start:end], by its recursive definition (leaf hashes are taken before)."""
    count = end - start
    if count == 0:
        return sha256()
    if count == 1:
        return leaves[start]
    split = 1 << (count - 1).bit_length() - 1  # the largest power of two smaller than count
    return sha256(b"\x01", tree_root(leaves, start, start + split), tree_root(leaves, start + split, end))


def compact_range(leaves):
    """The roots of the maximal perfect subtrees, largest (leftmost) first: one for each bit of the size."""
    roots, start = [], 0
    for bit in reversed(range(len(leaves).bit_length())):
        if len(leaves) & 1 << bit:
            roots.append(tree_root(leaves, start, start + (1 << bit)))
            start += 1 << bit
    return b"".join(roots)


def readable(rows, leaves):
    """The rows, as far as SQLite can read them: a damaged page must name its event too."""
    try:
        yield from rows
    except sqlite3.Error as error:
        raise Wrong(f"event {len(leaves) + 1} cannot be read: {error}") from error


def read_leaves(database):
    """The leaves of all events, recomputed; each compared with the stored one."""
    leaves, streams, audits, heads = [], {}, [], Heads()
    rows = database.execute(
        "SELECT number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf"
        " FROM event ORDER BY number"
    )
    for row in readable(rows, leaves):
        number, stream, version, kind, recorded_at_ms, actor, correlation, cause, body, leaf = row
        if [type(value) for value in row] != [int] * 6 + [bytes, int] + [bytes] * 2:
            raise Wrong(f"event {len(leaves) + 1} has a column of another type")
        if number != len(leaves) + 1:
            raise Wrong(f"event {len(leaves) + 1} is missing: the next one is {number}")
        last_version, last_leaf = streams.get(stream, (0, b""))
        if version != last_version + 1:
            raise Wrong(f"event {number} has version {version} of stream {stream}, {last_version + 1} is due")
        if len(correlation) != 16:
            raise Wrong(f"event {number} has a correlation of {len(correlation)} bytes instead of 16")
        if not 0 <= cause < number:
            raise Wrong(f"event {number} claims to be caused by {cause}, which is not before it")
        header = cbor([1, number, stream, version, kind, recorded_at_ms, actor, correlation, cause, last_leaf])
        expected = sha256(b"\x00", header, sha256(body))
        if leaf != expected:
            raise Wrong(f"event {number} does not match its leaf")
        if kind == Heads.KIND:
            heads.check(number, body, audits)
        if stream >= 5 and stream % 2:
            audits.append((number, stream // 2, version, recorded_at_ms))
        leaves.append(expected)
        streams[stream] = (version, expected)
    return leaves


def check_log_row(database, leaves):
    rows = database.execute("SELECT size, compact_range, head FROM log").fetchall()
    if len(rows) != 1:
        raise Wrong(f"the table log has {len(rows)} rows instead of one")
    size, stored_range, head = rows[0]
    if size != len(leaves):
        raise Wrong(f"event {min(size, len(leaves)) + 1}: the log says it has {size} events, it has {len(leaves)}")
    if head != (leaves[-1] if leaves else b""):
        raise Wrong(f"event {size} is not the head that the log has stored")
    if stored_range != compact_range(leaves):
        raise Wrong(f"event {size}: the stored compact range is not that of the tree over the leaves")


def main():
    arguments = argparse.ArgumentParser(description="Verifies a log from outside.")
    arguments.add_argument("--leaves", action="store_true", help="print number and leaf of each event")
    arguments.add_argument("log", type=pathlib.Path)
    options = arguments.parse_args()
    uri = options.log.resolve().as_uri() + "?mode=ro"
    # A log that was closed properly has no WAL file; in a directory that may not be written to, SQLite then opens it
    # only when told that nobody else will change it.
    if not os.path.exists(f"{options.log}-wal") and not os.access(options.log.resolve().parent, os.W_OK):
        uri += "&immutable=1"
    try:
        database = sqlite3.connect(uri, uri=True, isolation_level=None)
        database.execute("BEGIN")
        leaves = read_leaves(database)
        check_log_row(database, leaves)
    except Wrong as wrong:
        sys.exit(str(wrong))
    except sqlite3.Error as error:
        print(f"{options.log}: {error}", file=sys.stderr)
        sys.exit(2)
    if options.leaves:
        for number, leaf in enumerate(leaves, 1):
            print(number, leaf.hex())
    print(f"{len(leaves)} events, root {tree_root(leaves, 0, len(leaves)).hex()}")


if __name__ == "__main__":
    main()
