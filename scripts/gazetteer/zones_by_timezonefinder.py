"""Prints points with every zone that full-resolution polygons put there: a second opinion for ZonesTests.

A line is: latitude longitude zone ... (several where the polygons overlap). Left out are points within 60 m of where
the answer changes, found by asking again at eight points around: more than twice the simplification of the file.
"""

import numpy
from timezonefinder import TimezoneFinder

REACH = 60 / 111_320


def zones(finder, latitude, longitude):
    x, y = round(longitude * 1e7), round(latitude * 1e7)
    return sorted({
        finder.zone_name_from_boundary_id(boundary)
        for boundary in finder._iter_boundaries_in_shortcut(lng=longitude, lat=latitude)
        if finder.inside_of_polygon(boundary, x, y)
    } or {finder.timezone_at(lng=longitude, lat=latitude)})


def main():
    finder = TimezoneFinder(in_memory=True)
    chance = numpy.random.default_rng(2026)
    points = list(zip(numpy.degrees(numpy.arcsin(chance.uniform(-1, 1, 2500))).tolist(),
                      chance.uniform(-179.9, 179.9, 2500).tolist()))
    sizes = numpy.array([finder.coords_of(boundary).shape[1] for boundary in range(finder.nr_of_polygons)])
    for boundary in chance.choice(len(sizes), 2500, p=sizes / sizes.sum()):
        ring = finder.coords_of(int(boundary))
        longitude, latitude = (ring[:, chance.integers(ring.shape[1])] / 1e7).tolist()
        meters, angle = chance.uniform(100, 1000), chance.uniform(0, 2 * numpy.pi)
        if abs(latitude) < 85 and abs(longitude) < 179.5:
            points.append((latitude + meters / 111_320 * numpy.cos(angle),
                           longitude + meters / 111_320 * numpy.sin(angle) / numpy.cos(numpy.radians(latitude))))
    for latitude, longitude in points:
        found = zones(finder, latitude, longitude)
        east = REACH / max(numpy.cos(numpy.radians(latitude)), 1e-3)
        around = [zones(finder, min(max(latitude + REACH * a, -90), 90), min(max(longitude + east * b, -180), 180))
                  for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        if all(other == found for other in around):
            print(float(latitude), float(longitude), *found)


if __name__ == "__main__":
    main()
