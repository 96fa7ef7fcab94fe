"""Writes the large files of scripts/bench import, the same in every run: a walk of one phone, a fix each second.

    python3 import_files.py FOLDER SHARE      Records.json, track.gpx, track.fit and nested.zip

SHARE is the part of the full sizes: 1 makes 1.6 GB of Records.json, 300 MB of GPX and 50 MB of FIT. nested.zip is a zip
in a zip, with a tenth of the first two inside. Each file's records are on standard output: `NAME RECORDS BYTES`.
"""

import pathlib
import random
import struct
import sys
import time
import zipfile

BEGIN = 1_600_000_000
FIT_EPOCH = 631_065_600


def walk(seed):
    """Endless fixes: (seconds, latitude and longitude in units of 1e-7 degrees, meters above the sea)."""
    chance = random.Random(seed)
    latitude, longitude, second = 482_083_333, 163_730_000, BEGIN
    while True:
        for _ in range(100_000):
            latitude += chance.randrange(-400, 401)
            longitude += chance.randrange(-600, 601)
            second += 1
            yield second, latitude, longitude, 150 + second % 97 / 4
        # Back to where it began, so that a long walk stays on land.
        latitude, longitude = 482_083_333, 163_730_000


def iso(second):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))


def records(path, size):
    activity = (
        ',\n    "activity": [{\n      "activity": [{\n        "type": "WALKING",\n        "confidence": 92\n'
        '      }, {\n        "type": "STILL",\n        "confidence": 4\n      }],\n      "timestamp": "%s.000Z"\n    }]'
    )
    written, count = 0, 0
    with open(path, "w") as file:
        file.write('{\n  "locations": [')
        for second, latitude, longitude, altitude in walk(1):
            text = (
                f'{"," if count else ""}{{\n    "latitudeE7": {latitude},\n    "longitudeE7": {longitude},\n'
                f'    "accuracy": {3 + second % 40},\n    "altitude": {int(altitude)},\n    "velocity": {second % 3},\n'
                f'    "source": "GPS",\n    "deviceTag": 1184882232'
                + (activity % iso(second) if count % 4 == 0 else "")
                + f',\n    "timestamp": "{iso(second)}.{second % 1000:03d}Z"\n  }}'
            )
            file.write(text)
            written, count = written + len(text), count + 1
            if written >= size:
                break
        file.write("]\n}\n")
    return count


def gpx(path, size):
    written, count = 0, 0
    with open(path, "w") as file:
        file.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="bench" '
            'xmlns="http://www.topografix.com/GPX/1/1">\n<trk><name>walk</name><trkseg>\n'
        )
        for second, latitude, longitude, altitude in walk(2):
            text = (
                f'<trkpt lat="{latitude / 1e7:.7f}" lon="{longitude / 1e7:.7f}"><ele>{altitude}</ele>'
                f"<time>{iso(second)}Z</time><extensions><hAcc>{3 + second % 40}</hAcc></extensions></trkpt>\n"
            )
            file.write(text)
            written, count = written + len(text), count + 1
            if written >= size:
                break
        file.write("</trkseg></trk>\n</gpx>\n")
    return count


def fit(path, size):
    semicircles = (1 << 31) / 180 / 1e7
    # A definition of message 20, little-endian: time stamp, latitude, longitude, altitude, speed, heart rate.
    fields = [(253, 4, 0x86), (0, 4, 0x85), (1, 4, 0x85), (2, 2, 0x84), (6, 2, 0x84), (3, 1, 0x02)]
    data = bytearray(struct.pack("<BBBHB", 0x40, 0, 0, 20, len(fields)))
    for field in fields:
        data += bytes(field)
    pack, count = struct.Struct("<BIiiHHB").pack, 0
    for second, latitude, longitude, altitude in walk(3):
        data += pack(
            0, second - FIT_EPOCH, round(latitude * semicircles), round(longitude * semicircles),
            int((altitude + 500) * 5), 1400, 90 + second % 60,
        )
        count += 1
        if len(data) >= size:
            break
    head = struct.pack("<BBHI4s", 12, 16, 2132, len(data), b".FIT")
    path.write_bytes(head + data + struct.pack("<H", checksum(head + data)))
    return count


def checksum(data):
    """CRC-16/ARC."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0xA001 if byte & 1 else byte >> 1
        table.append(byte)
    value = 0
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 0xFF]
    return value


def nested(path, parts):
    inner = path.with_name("inner.zip")
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for part in parts:
            archive.write(part, part.name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.write(inner, "inner.zip")
    inner.unlink()


def main():
    folder, share = pathlib.Path(sys.argv[1]), float(sys.argv[2])
    made = {}
    for name, write, megabytes in [("Records.json", records, 1600), ("track.gpx", gpx, 300), ("track.fit", fit, 50)]:
        made[name] = write(folder / name, megabytes * 1e6 * share)
    parts, count = [folder / "part-Records.json", folder / "part-track.gpx"], 0
    for part, write, megabytes in zip(parts, (records, gpx), (160, 30)):
        count += write(part, megabytes * 1e6 * share)
    nested(folder / "nested.zip", parts)
    for part in parts:
        part.unlink()
    made["nested.zip"] = count
    for name, count in made.items():
        print(name, count, (folder / name).stat().st_size)


main()
