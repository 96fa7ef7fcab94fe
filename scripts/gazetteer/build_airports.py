"""Writes airports.gazetteer, airports with an IATA code, into a folder; called by scripts/gazetteer/build.

An airport is a circle of 2 km around its reference point, because the source has no outlines; a large one is also the area
around its runways (gazetteer_runways.py). Only airports with an IATA code are taken: the others have no scheduled flights.
"""

import csv
import pathlib
import sys
from importlib import resources

import gazetteer_circles
from gazetteer_runways import MARGIN_METERS, lines

RADIUS_METERS = 2000
# Corrections where the source has minutes of arc as decimals.
MISPLACED = {"EBBR": {"lat": "50.90139", "lon": "4.48444"}}
ATTRIBUTION = (
    "Airports: airportsdata {version} by Mike Borsetti (https://github.com/mborsetti/airportsdata), MIT licence; runways of "
    "large ones: given for Whereabouts.")


def airports():
    with (resources.files("airportsdata") / "airports.csv").open(encoding="utf-8", newline="") as file:
        return [row | MISPLACED.get(row["icao"], {}) for row in csv.DictReader(file) if row["iata"]]


def main(folder, version):
    rows = airports()
    runways = lines([(row["iata"], (float(row["lat"]), float(row["lon"]))) for row in rows])
    circles = []
    for number, row in enumerate(rows):
        names = row["name"], (row["country"] if len(row["country"]) == 2 else "  ") + row["iata"], 0, 0
        circles.append((f"{float(row['lat']):.5f}", f"{float(row['lon']):.5f}", RADIUS_METERS, *names, None))
        for one, other in runways.get(number, ()):
            circles.append((f"{(one[0] + other[0]) / 2:.5f}", f"{(one[1] + other[1]) / 2:.5f}", MARGIN_METERS, *names,
                            (one, other)))
    gazetteer_circles.write(pathlib.Path(folder) / "airports.gazetteer", circles, ATTRIBUTION.format(version=version))


if __name__ == "__main__":
    main(*sys.argv[1:])
