"""Writes airports.gazetteer, airports with an IATA code, into a folder; called by scripts/build-gazetteer.

An airport is a circle of 2 km around its reference point, because the source has no outlines; only those with an
IATA code are taken, which leaves out fields and pads that nobody goes by.
"""

import csv
import pathlib
import sys
from importlib import resources

import gazetteer_circles

RADIUS_METERS = 2000
ATTRIBUTION = "Airports: airportsdata {version} by Mike Borsetti (https://github.com/mborsetti/airportsdata), MIT licence."


def main(folder, version):
    with (resources.files("airportsdata") / "airports.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["iata"]]
    gazetteer_circles.write(pathlib.Path(folder) / "airports.gazetteer", [
        (f"{float(row['lat']):.5f}", f"{float(row['lon']):.5f}", RADIUS_METERS, row["name"],
         (row["country"] if len(row["country"]) == 2 else "  ") + row["iata"], 0) for row in rows],
        ATTRIBUTION.format(version=version))


if __name__ == "__main__":
    main(*sys.argv[1:])
