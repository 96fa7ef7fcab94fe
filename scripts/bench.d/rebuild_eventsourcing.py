#!/usr/bin/env python3
"""Rebuilds newest locations with PyPI `eventsourcing` on an SQLite file, for comparison.

    rebuild_eventsourcing.py --dir DIR [--events 200000] [--devices 1000]

The events are stored by the library's application recorder: fixes of so many devices as JSON with the members of ours, not
sealed. The rebuild reads them as the library's followers do, by `select_notifications` a thousand at a time, keeps the
newest fix of each device and writes it into a table. Prints one JSON object.
"""
import argparse
import json
import pathlib
import sqlite3
import time
import uuid

from eventsourcing.persistence import InfrastructureFactory, StoredEvent

PAGE = 1000


def fix(device, number):
    return {"device": device, "timestamp": 1767225600000 + number * 1000, "latitude": 52 + device / 1000,
            "longitude": 13 + number / 1e5, "horizontalAccuracy": 8, "altitude": 34.5, "verticalAccuracy": 4,
            "speed": 1.25, "course": 270, "batteryLevel": 0.5}


def main():
    arguments = argparse.ArgumentParser(description="Rebuilds newest locations with PyPI eventsourcing.")
    arguments.add_argument("--dir", type=pathlib.Path, required=True)
    arguments.add_argument("--events", type=int, default=200_000)
    arguments.add_argument("--devices", type=int, default=1000)
    options = arguments.parse_args()
    options.dir.mkdir(parents=True, exist_ok=True)
    path = options.dir / "rebuild_eventsourcing.sqlite"
    for end in ("", "-wal", "-shm"):
        pathlib.Path(f"{path}{end}").unlink(missing_ok=True)
    factory = InfrastructureFactory.construct(
        {"PERSISTENCE_MODULE": "eventsourcing.sqlite", "SQLITE_DBNAME": str(path), "SQLITE_LOCK_TIMEOUT": "60"})
    recorder = factory.application_recorder()
    originators = [uuid.UUID(int=device + 1, version=4) for device in range(options.devices)]
    for begin in range(0, options.events, PAGE):
        recorder.insert_events([
            StoredEvent(originator_id=originators[number % options.devices],
                        originator_version=number // options.devices + 1, topic="whereabouts.events:FixReported",
                        state=json.dumps(fix(number % options.devices, number // options.devices)).encode())
            for number in range(begin, min(begin + PAGE, options.events))])

    table = sqlite3.connect(":memory:")
    table.execute("CREATE TABLE current (device INTEGER PRIMARY KEY, timestamp INTEGER, latitude REAL, longitude REAL)")
    began, cpu = time.perf_counter(), time.process_time()
    newest, place, events = {}, 0, 0
    while page := recorder.select_notifications(place + 1, PAGE):
        for notification in page:
            state = json.loads(notification.state)
            known = newest.get(state["device"])
            if known is None or known["timestamp"] <= state["timestamp"]:
                newest[state["device"]] = state
        events, place = events + len(page), page[-1].id
        table.executemany(
            "INSERT OR REPLACE INTO current VALUES (?, ?, ?, ?)",
            [(key, state["timestamp"], state["latitude"], state["longitude"]) for key, state in newest.items()])
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    assert events == options.events, f"{events} of {options.events} events are there"
    assert len(newest) == options.devices
    factory.close()
    print(json.dumps({"benchmark": "rebuild_eventsourcing", "events": events,
                      "eventsPerSecond": round(events / seconds), "eventsPerCPUSecond": round(events / cpu)},
                     separators=(",", ":")))


if __name__ == "__main__":
    main()
