"""Writes places.gazetteer into a folder; called by scripts/gazetteer/build.

Version 5 of the file. Little-endian, fixed width, mapped into memory and never parsed. Sections follow one another in
this order, each beginning at a multiple of 64; their places follow from the counts in the header.

    header     64 bytes   magic "PLACES\\r\\n" | version u32 | nodes u32 | file bytes u64 | places u32 | areas u32 |
                          countries u32 | zones u32 | string bytes u32 | attribution u32 (string) |
                          edition u64, the first bytes of the SHA-256 of what follows | quarters u32 | 4 zero bytes
    nodes      4 each     axis u8 (0 x, 1 y, 2 z) | split i24 (meters)
    points     15 each    area u16 | geocentric x, y, z i24 (meters) | population u32: what a search looks at; its highest
                          bit is set if the place is a quarter
    records    14 each    latitude i32, longitude i32 (1e-7 degrees) | geonameid u24 | name u24 (string)
    areas      16 each    code u32 (string) | name u32 (string) | code in ISO 3166-2 u32 (string) | country u16 |
                          zone u16; a division with several zones stands here several times
    countries  48 each    code u32 (string) | name u32 (string) | first place u32 | places u32 | first node u32 |
                          levels u32 | least x, y, z i32 | greatest x, y, z i32 (meters) of its places
    zones      4 each     name u32 (string)
    quarters   6 each     place u24 | the city it is a part of u24, both numbers of places, in rising order
    strings    bytes      length u16, then that many bytes of UTF-8; a string is named by the offset of its length;
                          the empty string stands at 0 and means "absent"

Points and records stand country by country, those of a country in the order of a static k-d tree over geocentric
coordinates. With n places and l levels, node j of level k covers the places (j*n) >> k up to ((j+1)*n) >> k of the
country and stands at its first node + 2^k - 1 + j. Its left half holds no coordinate above, its right half none below
the split on its axis. The ranges of level l are the leaves.
"""

import collections
import ctypes
import hashlib
import json
import math
import pathlib
import struct
import sys
from decimal import Decimal
from importlib import resources

from gazetteer_divisions import divisions_of
from gazetteer_tiling import Strings

VERSION = 5
LEAF = 8  # places a leaf holds at most: 120 bytes of points, two or three cache lines
DEGREES = 10**7
# Parts of a meter. Coarse enough that no coordinate lies near a rounding boundary (checked below), so the file does
# not depend on the last digits that two versions of PROJ or of the C library disagree about.
UNITS = 1
BOUNDARY_METERS = 5e-8
# A section of a populated place in GeoNames is a quarter of the city it lies deepest in, as LocalityRule measures depth. The
# city has at least LEAST_CITY people and CITY_TO_QUARTER times those of the quarter, and is at most QUARTER_DEPTH reaches away.
SECTION = "PPLX"
LEAST_CITY = 50_000
CITY_TO_QUARTER = 2
QUARTER_DEPTH = 2.5
PEOPLE_PER_SQUARE_METER = 0.005
QUARTER_BIT = 1 << 31


def say(text):
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def geocentric(places, units=UNITS):
    """x, y, z in parts of a meter for (latitude, longitude) in degrees: PROJ's cart, as the service computes it for a
    question."""
    proj = ctypes.CDLL("libproj.so.25")
    proj.proj_create.restype = ctypes.c_void_p
    proj.proj_create.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    proj.proj_trans_array.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p]
    cart = proj.proj_create(None, b"+proj=cart +ellps=WGS84")
    if not cart:
        sys.exit("PROJ could not create the geocentric conversion.")
    coordinates = (ctypes.c_double * (4 * len(places)))()
    for i, (latitude, longitude) in enumerate(places):
        coordinates[4 * i] = longitude * (math.pi / 180)
        coordinates[4 * i + 1] = latitude * (math.pi / 180)
    if proj.proj_trans_array(cart, 1, len(places), coordinates) != 0:
        sys.exit("PROJ could not convert every place.")
    points = []
    for i in range(len(places)):
        exact = [coordinates[4 * i + axis] * units for axis in range(3)]
        rounded = [math.floor(value + 0.5) for value in exact]
        if any(0.5 - abs(a - b) < BOUNDARY_METERS * units for a, b in zip(exact, rounded)):
            sys.exit(f"Place {places[i]} lies on a rounding boundary; choose other parts of a meter.")
        points.append(tuple(rounded))
    return points


def tree(order, points, ids):
    """The order of some places, and the nodes level by level. Ties go by geonameid, so the order is the only one."""
    count = len(order)
    levels = 0
    while -(-count // 2**levels) > LEAF:
        levels += 1
    nodes = []
    for level in range(levels):
        for j in range(2**level):
            low, high = j * count >> level, (j + 1) * count >> level
            middle = (2 * j + 1) * count >> (level + 1)
            part = order[low:high]
            columns = [[points[i][axis] for i in part] for axis in range(3)]
            extents = [max(column) - min(column) for column in columns]
            axis = extents.index(max(extents))
            part.sort(key=lambda i: (points[i][axis], ids[i]))
            order[low:high] = part
            nodes.append((points[order[middle]][axis], axis))
    return levels, nodes


def fixed(text):
    """Degrees in units of 1e-7; a source that says more is refused rather than rounded."""
    value = Decimal(text) * DEGREES
    if value != int(value):
        sys.exit(f"{text} degrees has more than seven decimals.")
    return int(value)


def reach(population):
    """The radius in meters of a circle in which a city's people would live at 5,000 per square kilometer."""
    return math.sqrt(population / math.pi / PEOPLE_PER_SQUARE_METER)


def cities_of_quarters(order, cities, points, quarter_ids):
    """Pairs (quarter, city) of indices into `order`. The city is the one of the same division that the quarter lies deepest
    in."""
    by_area = collections.defaultdict(list)
    for number, i in enumerate(order):
        if cities[i]["population"] >= LEAST_CITY and cities[i]["geonameid"] not in quarter_ids:
            by_area[cities[i]["countrycode"], cities[i]["admin1code"]].append(number)
    pairs = []
    for number, i in enumerate(order):
        city = cities[i]
        if city["geonameid"] not in quarter_ids:
            continue
        depths = sorted(
            (math.dist(points[i], points[order[other]]) / reach(cities[order[other]]["population"]), other)
            for other in by_area[city["countrycode"], city["admin1code"]]
            if cities[order[other]]["population"] >= CITY_TO_QUARTER * city["population"])
        if depths and depths[0][0] <= QUARTER_DEPTH:
            pairs.append((number, depths[0][1]))
    return pairs


def area_of(city):
    """Country, code of the first-order division and zone: what many places have in common."""
    return city["countrycode"], city["admin1code"], city["timezone"]


def main(folder, package, version, sections_path):
    source = resources.files(package) / "data"

    def load(name):
        return json.loads((source / name).read_text("utf-8"), parse_float=str)

    say("reading")
    cities = sorted(load("cities500.json").values(), key=lambda city: city["geonameid"])
    names = {code: country["name"] for code, country in load("countries.json").items()}
    divisions = divisions_of(cities)
    with open(sections_path, encoding="utf-8") as file:
        rows = [line.split("\t") for line in file]
    quarter_ids = {int(row[0]) for row in rows if row[7] == SECTION}

    strings = Strings()
    attribution = strings.place(
        "Place names, coordinates, populations and time zones: GeoNames (https://www.geonames.org), licensed under "
        f"CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), taken from {package} {version}, "
        "selected and rearranged, with names of divisions checked for Whereabouts, and which of them are quarters, by "
        "libtimezonemap.")
    # Sorted lists, so that the numbers of areas, countries and zones follow from the content alone.
    area_keys = sorted({area_of(city) for city in cities})
    country_keys = sorted({country for country, _, _ in area_keys})
    zone_keys = sorted({city["timezone"] for city in cities})
    area_numbers = {key: number for number, key in enumerate(area_keys)}
    country_numbers = {key: number for number, key in enumerate(country_keys)}
    zone_numbers = {key: number for number, key in enumerate(zone_keys)}
    zones = [struct.pack("<I", strings.place(zone)) for zone in zone_keys]
    areas = []
    for country, code, zone in area_keys:
        division = divisions[country, code]
        areas.append(struct.pack(
            "<IIIHH", strings.place(code), strings.place(division.name), strings.place(division.code),
            country_numbers[country], zone_numbers[zone]))

    say("computing geocentric coordinates")
    points = geocentric([(float(city["latitude"]), float(city["longitude"])) for city in cities])
    ids = [city["geonameid"] for city in cities]
    order, nodes, countries = [], [], []
    for country in country_keys:
        say(f"tree: {country}")
        own = [i for i, city in enumerate(cities) if city["countrycode"] == country]
        first_node = len(nodes)
        levels, own_nodes = tree(own, points, ids)
        bounds = [bound(points[i][axis] for i in own) for bound in (min, max) for axis in range(3)]
        countries.append(struct.pack(
            "<6I6i", strings.place(country), strings.place(names[country]), len(order), len(own), first_node, levels,
            *bounds))
        order += own
        nodes += own_nodes

    say("writing")
    pairs = cities_of_quarters(order, cities, points, quarter_ids)
    quarters = {number for number, _ in pairs}
    records, searched = [], []
    for number, i in enumerate(order):
        city = cities[i]
        if not city["name"] or not city["timezone"]:
            sys.exit(f"Place {city['geonameid']} has no name or no time zone.")
        searched.append(
            struct.pack("<H", area_numbers[area_of(city)])
            + b"".join(value.to_bytes(3, "little", signed=True) for value in points[i])
            + struct.pack("<I", city["population"] | (QUARTER_BIT if number in quarters else 0)))
        records.append(
            struct.pack("<ii", fixed(city["latitude"]), fixed(city["longitude"]))
            + city["geonameid"].to_bytes(3, "little") + strings.place(city["name"]).to_bytes(3, "little"))

    sections = [
        b"".join(struct.pack("<i", split * 256 + axis) for split, axis in nodes), b"".join(searched), b"".join(records),
        b"".join(areas),
        b"".join(countries), b"".join(zones),
        b"".join(quarter.to_bytes(3, "little") + city.to_bytes(3, "little") for quarter, city in pairs),
        bytes(strings.bytes),
    ]
    size = 64
    for section in sections:
        size = -(-size // 64) * 64 + len(section)
    body = bytearray()
    for section in sections:
        body += bytes(-len(body) % 64) + section
    edition = hashlib.sha256(body).digest()[:8]
    out = struct.pack(
        "<8sIIQIIIIII8sI4x", b"PLACES\r\n", VERSION, len(nodes), size, len(records), len(areas), len(countries), len(zones),
        len(strings.bytes), attribution, edition, len(pairs)) + body
    assert len(out) == size

    (pathlib.Path(folder) / "places.gazetteer").write_bytes(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
