"""Reads data/divisions.tsv, the checked table that gives each first-order division of GeoNames its ISO 3166-2 code and
today's name. Used by scripts/gazetteer/build.
"""

import collections
import pathlib
import typing

import numpy

PATH = pathlib.Path(__file__).resolve().parents[2] / "data" / "divisions.tsv"
# The table's mark for a division that ISO 3166-2 has no code for.
NO_CODE = "-"


class Division(typing.NamedTuple):
    """`code` is empty if ISO 3166-2 has none; `local` is empty if the local name is the English one."""
    code: str
    name: str
    local: str


def divisions():
    """Divisions by (country, code in GeoNames)."""
    out, codes = {}, set()
    for number, line in enumerate(PATH.read_text("utf-8").splitlines(), 1):
        if line.startswith("#"):
            continue
        code, name, local, areas = line.split("\t")
        if code != NO_CODE and (code in codes or not name):
            raise SystemExit(f"{PATH.name}:{number}: {code} is listed twice or has no name.")
        codes.add(code)
        for area in areas.split():
            key = tuple(area.split(".", 1))
            if key in out:
                raise SystemExit(f"{PATH.name}:{number}: {area} is listed twice.")
            out[key] = Division("" if code == NO_CODE else code, name, local)
    return out


def divisions_of(cities):
    """As `divisions`, after a check that the table has every division of these places."""
    known = divisions()
    unknown = sorted({(city["countrycode"], city["admin1code"]) for city in cities} - set(known))
    if unknown:
        raise SystemExit(f"{PATH.name} lacks divisions: {unknown}")
    return known


def votes_within(rings, places):
    """How many of some places lie within rings, by code. Places are arrays of x, y (1e-7 degrees) and a list of codes."""
    x, y, codes = places
    west, south, east, north = (
        bound(bound(ring[:, axis]) for ring in rings) for bound, axis in ((min, 0), (min, 1), (max, 0), (max, 1)))
    near = numpy.flatnonzero((x >= west) & (x <= east) & (y >= south) & (y <= north))
    inside = numpy.zeros(len(near), dtype=bool)
    px, py = x[near], y[near]
    for ring in rings:
        for (ax, ay), (bx, by) in zip(ring.tolist(), numpy.roll(ring, -1, axis=0).tolist()):
            if ax == bx:
                continue
            crossed = (px < max(ax, bx)) & (px >= min(ax, bx))
            if crossed.any():
                inside ^= crossed & (ay + (px - ax) * ((by - ay) / (bx - ax)) > py)
    return collections.Counter(codes[number] for number in near[inside])
