"""Writes airports.gazetteer, airports with an IATA code, into a folder; called by scripts/build-gazetteer.

An airport is an octagon of 2 km around its reference point, because the source has no outlines; only those with an
IATA code are taken, which leaves out fields and pads that nobody goes by.
"""

import csv
import math
import pathlib
import sys
from importlib import resources

import numpy

from gazetteer_tiling import NONE, Tiling

RADIUS = 2000 / 111_320
ATTRIBUTION = "Airports: airportsdata {version} by Mike Borsetti (https://github.com/mborsetti/airportsdata), MIT licence."


def octagon(latitude, longitude):
    east = RADIUS / math.cos(math.radians(latitude))
    corners = [math.pi / 8 + math.pi / 4 * k for k in range(8)]
    return numpy.array([(round((longitude + east * math.sin(a)) * 1e7), round((latitude + RADIUS * math.cos(a)) * 1e7))
                        for a in corners], dtype=numpy.int64)


def main(folder, version):
    with (resources.files("airportsdata") / "airports.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["iata"] and abs(float(row["lat"])) < 85
                and abs(float(row["lon"])) < 179.5]
    rows.sort(key=lambda row: row["iata"])
    faces = [[octagon(float(row["lat"]), float(row["lon"]))] for row in rows]
    tiling = Tiling(faces, 5, {number: number for number in range(len(faces))}, False, 0)
    tiling.write(pathlib.Path(folder) / "airports.gazetteer",
                 [(row["name"], row["iata"], row["country"] if len(row["country"]) == 2 else "", NONE) for row in rows],
                 ATTRIBUTION.format(version=version))


if __name__ == "__main__":
    main(*sys.argv[1:])
