"""Reads, or writes, one file with a library for Python: the peers of scripts/bench import and scripts/bench export.

    python3 import_peers.py read gpxpy|fitdecode|ijson FILE
    python3 import_peers.py write gpxpy|json|csv FIXES FILE

The points are on standard output.
"""

import sys


def read(library, path):
    if library == "gpxpy":
        import gpxpy

        with open(path) as file:
            track = gpxpy.parse(file)
        return sum(1 for _ in track.walk())
    if library == "fitdecode":
        import fitdecode

        with fitdecode.FitReader(path) as reader:
            return sum(
                1
                for frame in reader
                if isinstance(frame, fitdecode.FitDataMessage) and frame.name == "record"
                and frame.get_value("position_lat", fallback=None) is not None
            )
    import ijson

    with open(path, "rb") as file:
        return sum(1 for record in ijson.items(file, "locations.item") if "latitudeE7" in record)


def fixes(count):
    for index in range(count):
        place = index % 100_000
        yield (
            1_600_000_000 + index, (482_083_333 + place * 7) / 1e7, (163_730_000 + place * 11) / 1e7,
            150 + index % 97 / 4, 3 + index % 40, index % 20 / 8, index % 360,
        )


def write(library, count, path):
    import datetime

    def utc(second):
        return datetime.datetime.fromtimestamp(second, datetime.timezone.utc)

    with open(path, "w", newline="") as file:
        if library == "gpxpy":
            import gpxpy.gpx

            segment = gpxpy.gpx.GPXTrackSegment()
            for second, latitude, longitude, altitude, *_ in fixes(count):
                segment.points.append(
                    gpxpy.gpx.GPXTrackPoint(latitude, longitude, elevation=altitude, time=utc(second)))
            gpx = gpxpy.gpx.GPX()
            gpx.tracks.append(gpxpy.gpx.GPXTrack())
            gpx.tracks[0].segments.append(segment)
            file.write(gpx.to_xml())
        elif library == "csv":
            import csv

            writer = csv.writer(file)
            writer.writerow(["time_utc", "latitude_deg", "longitude_deg", "altitude_m", "accuracy_m", "speed_mps", "course_deg"])
            for second, *numbers in fixes(count):
                writer.writerow([utc(second).isoformat(), *numbers])
        else:
            import json

            names = ["timestamp", "latitude", "longitude", "altitude", "horizontalAccuracy", "speed", "course"]
            for fix in fixes(count):
                file.write(json.dumps(dict(zip(names, fix))) + "\n")
    return count


arguments = sys.argv[2:]
print(read(*arguments) if sys.argv[1] == "read" else write(arguments[0], int(arguments[1]), arguments[2]))
