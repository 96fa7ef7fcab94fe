#!/usr/bin/env python3
"""Appends with PyPI `eventsourcing` on an SQLite file, for comparison: the same payload sizes, the same durability.

    append_eventsourcing.py --dir DIR [--events 20000] [--batch-events 200000] [--clients 64] [--batch 1000]

Uses the library's application recorder (`insert_events`) directly: no aggregates and no transcoding, which would only
slow it down. Two measurements: `clients` threads each appending one event per call, and one thread appending `batch`
events per call. Prints one JSON object.

Durability: the library sets journal_mode=WAL itself and leaves `synchronous` at SQLite's default, which depends on how
SQLite was compiled; it is set to FULL here and the default found is reported as `defaultSynchronous` (2 = FULL).
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import random
import sqlite3
import threading
import time
import uuid

from eventsourcing.persistence import InfrastructureFactory, StoredEvent

BODY_BYTES = 170  # as in append_baseline.c; the library stores neither a leaf nor a correlation
STREAMS = 10_000
TOPIC = "whereabouts.events:FixReported"


def remove_database(path):
    for end in ("", "-wal", "-shm"):
        pathlib.Path(f"{path}{end}").unlink(missing_ok=True)


def open_recorder(path):
    """The recorder over a fresh file, every connection with synchronous=FULL; and what the library would have had."""
    remove_database(path)
    factory = InfrastructureFactory.construct({
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": str(path),
        "SQLITE_LOCK_TIMEOUT": "60",
    })
    pool = factory.datastore.pool
    pool.pool_timeout = 600  # 64 clients wait for the pool of 15 connections longer than its 5 s
    create, defaults = pool._create_connection, set()

    def create_full():
        connection = create()
        cursor = connection.cursor()
        cursor.execute("PRAGMA synchronous")
        defaults.add(cursor.fetchone()[0])
        cursor.execute("PRAGMA synchronous=FULL")
        return connection

    pool._create_connection = create_full
    return factory, factory.application_recorder(), defaults


class Stream:
    """Where one writer's next events go: streams of its own, so that versions never conflict."""

    def __init__(self, share, seed):
        self.random = random.Random(seed)
        self.originators = [uuid.UUID(int=self.random.getrandbits(128), version=4) for _ in range(share)]
        self.versions = [0] * share

    def next_event(self):
        index = self.random.randrange(len(self.originators))
        self.versions[index] += 1
        return StoredEvent(
            originator_id=self.originators[index],
            originator_version=self.versions[index],
            topic=TOPIC,
            state=self.random.randbytes(BODY_BYTES),
        )


def measure(path, writers, calls, batch):
    """`writers` threads, `calls` calls each, of `batch` events prepared beforehand."""
    factory, recorder, defaults = open_recorder(path)
    prepared = []
    for writer in range(writers):
        stream = Stream(max(STREAMS // writers, 1), writer)
        prepared.append([[stream.next_event() for _ in range(batch)] for _ in range(calls)])
    latencies, failures = [], []

    def work(batches):
        own = []
        try:
            for events in batches:
                began = time.perf_counter()
                recorder.insert_events(events)
                own.append(time.perf_counter() - began)
        except Exception as error:  # told after the threads have ended
            failures.append(error)
        latencies.extend(own)

    threads = [threading.Thread(target=work, args=(batches,)) for batches in prepared]
    cpu, began = time.process_time(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    if failures:
        raise failures[0]
    factory.close()
    database = sqlite3.connect(path)
    count, events = database.execute("SELECT count(*) FROM stored_events").fetchone()[0], writers * calls * batch
    mode = database.execute("PRAGMA journal_mode").fetchone()[0]
    database.close()
    assert count == events, f"{count} of {events} events are there"
    size = os.path.getsize(path)
    remove_database(path)
    latencies.sort()
    return {
        "clients": writers,
        "batch": batch,
        "events": events,
        "seconds": round(seconds, 3),
        "eventsPerSecond": round(events / seconds),
        "ackP50Microseconds": round(latencies[len(latencies) // 2] * 1e6),
        "ackP99Microseconds": round(latencies[len(latencies) * 99 // 100] * 1e6),
        "cpuMicrosecondsPerEvent": round(cpu / events * 1e6, 2),
        "bytesPerEvent": round(size / events),
        "journalMode": mode,
        "defaultSynchronous": sorted(defaults),
    }


def main():
    arguments = argparse.ArgumentParser(description="Appends with PyPI eventsourcing on SQLite.")
    arguments.add_argument("--dir", type=pathlib.Path, required=True)
    arguments.add_argument("--events", type=int, default=20_000)
    arguments.add_argument("--batch-events", type=int, default=200_000)
    arguments.add_argument("--clients", type=int, default=64)
    arguments.add_argument("--batch", type=int, default=1000)
    options = arguments.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    path = options.dir / "append_eventsourcing.sqlite"
    print(json.dumps({
        "benchmark": "append_eventsourcing",
        "version": importlib.metadata.version("eventsourcing"),
        "oneByOne": measure(path, options.clients, max(options.events // options.clients, 1), 1),
        "batched": measure(path, 1, max(options.batch_events // options.batch, 1), options.batch),
    }))


if __name__ == "__main__":
    main()
