"""Writes zones.gazetteer, time zones with their countries, into a folder; called by scripts/gazetteer/build.

The polygons are those of timezone-boundary-builder through the package timezonefinder-data, the countries those of
tzdata's zone.tab. Three zones are cut where zone.tab has one country and the ground has two: the parts of
Asia/Bangkok that lie in Viet Nam, and the part of Europe/Belgrade in Kosovo (Natural Earth's outline, which only
matters towards Serbia, because other neighbours go first). Where zones overlap, the smaller in area answers.
"""

import pathlib
import sqlite3
import struct
import sys
from importlib import resources

import numpy
from timezonefinder import TimezoneFinder

from gazetteer_tiling import NONE, Tiling

TOLERANCE = 25  # meters
ATTRIBUTION = (
    "Time zone and country boundaries: OpenStreetMap contributors (https://www.openstreetmap.org/copyright), through "
    "timezone-boundary-builder {release} and timezonefinder-data, simplified and cut into cells; this file is made "
    "available under the Open Database License 1.0 (https://opendatacommons.org/licenses/odbl/1-0/). The outline of "
    "Kosovo: Natural Earth (public domain).")


def rings_of(blob):
    """Rings of a GeoPackage multipolygon in 1e-7 degrees, polygon by polygon."""
    envelope = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}[blob[3] >> 1 & 7]
    at = 8 + envelope
    order, kind, polygons = struct.unpack_from("<BII", blob, at)
    assert order == 1 and kind == 6
    at += 9
    out = []
    for _ in range(polygons):
        order, kind, rings = struct.unpack_from("<BII", blob, at)
        assert order == 1 and kind == 3
        at += 9
        polygon = []
        for _ in range(rings):
            (count,) = struct.unpack_from("<I", blob, at)
            points = numpy.frombuffer(blob, "<f8", 2 * count, at + 4).reshape(count, 2)
            polygon.append(numpy.rint(points * 1e7).astype(numpy.int64)[:-1])
            at += 4 + 16 * count
        out.append(polygon)
    return out


def holds(rings, point):
    inside = False
    for ring in rings:
        x, y = ring[:, 0].astype(float), ring[:, 1].astype(float)
        nx, ny = numpy.roll(x, -1), numpy.roll(y, -1)
        across = (x > point[0]) != (nx > point[0])
        with numpy.errstate(divide="ignore", invalid="ignore"):
            height = y + (point[0] - x) / (nx - x) * (ny - y)
        inside ^= bool((across & (height > point[1])).sum() % 2)
    return inside


def size(rings):
    """Area on a sphere in parts that only matter against each other."""
    total = 0.0
    for number, ring in enumerate(rings):
        x, y = numpy.radians(ring[:, 0] / 1e7), numpy.sin(numpy.radians(ring[:, 1] / 1e7))
        part = abs(float((x * numpy.roll(y, -1) - numpy.roll(x, -1) * y).sum())) / 2
        total += part if number == 0 else -part
    return total


def countries_by_zone():
    text = (resources.files("tzdata") / "zoneinfo" / "zone.tab").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[2]: row[0] for row in rows}


def natural_earth(path, query):
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    return [(*row[:-1], rings_of(row[-1])) for row in connection.execute(query)]


def main(folder, world_map):
    finder = TimezoneFinder(in_memory=True)
    country = countries_by_zone()
    outlines = {name: polygons for name, polygons in natural_earth(
        world_map, "SELECT iso_a2, geom FROM countries WHERE iso_a2 IN ('VN', 'XK') ORDER BY fid")}
    viet_nam = [ring for polygon in outlines["VN"] for ring in polygon]
    kosovo = [ring for polygon in outlines["XK"] for ring in polygon]

    labels, faces, sizes = [], [], []

    def face(label):
        if label not in labels:
            labels.append(label)
            faces.append([])
            sizes.append(0.0)
        return labels.index(label)

    for boundary in range(finder.nr_of_polygons):
        rings = [finder.coords_of(boundary).T.astype(numpy.int64)]
        rings += [hole.T.astype(numpy.int64) for hole in finder._holes_of_poly(boundary)]
        zone = finder.zone_name_from_boundary_id(boundary)
        code = country.get(zone, "")
        if not code and not zone.startswith("Etc/"):
            sys.exit(f"{zone} has no country in zone.tab.")
        if zone == "Asia/Bangkok":
            middle = rings[0].mean(axis=0)
            samples = rings[0][:: max(1, len(rings[0]) // 200)]
            in_viet_nam = sum(holds(viet_nam, point) for point in samples) + 10 * holds(viet_nam, middle)
            code = "VN" if in_viet_nam > 10 else "TH"
        number = face((zone, "", code))
        faces[number] += rings
        sizes[number] += size(rings)
    belgrade = labels.index(("Europe/Belgrade", "", "RS"))
    pristina = face(("Europe/Belgrade", "", "XK"))
    faces[pristina] = kosovo
    sizes[pristina] = sizes[belgrade] * (1 - 1e-9)

    order = sorted(range(len(labels)), key=lambda number: (sizes[number], labels[number]))
    ranks = {number: rank for rank, number in enumerate(order)}

    def only_in_serbia(present, cells):
        return [number for number in present if number != pristina or belgrade in present]

    tiling = Tiling(faces, 10, ranks, True, TOLERANCE, drop=only_in_serbia)
    tiling.write(pathlib.Path(folder) / "zones.gazetteer", [(*label, NONE) for label in labels],
                 ATTRIBUTION.format(release=finder.data_version))


if __name__ == "__main__":
    main(*sys.argv[1:])
