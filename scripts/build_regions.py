"""Writes regions.gazetteer, first-order divisions with ISO 3166-2 codes; called by scripts/build-gazetteer.

The polygons are Natural Earth's (10 m; borders and coasts about 1 km coarse), so they only say which region of a
country: the country comes from the zones. Every cell that a country reaches names the regions of that country in it, or
the nearest within a few cells, so that a point off the coarse outline still finds the region it belongs to.

Codes and names are those of iso-codes by name within the country. Where Natural Earth draws the divisions of a division
(departments, provinces, counties), the label has the region it lies in as its parent.
"""

import collections
import json
import pathlib
import re
import sqlite3
import sys
import unicodedata

from build_zones import rings_of
from gazetteer_tiling import NONE, Tiling, read

TOLERANCE = 200  # meters: the source is good to about a kilometer
PER_DEGREE = 2
REACH = 1  # cells of half a degree that a region may be away from a cell it is named in
ATTRIBUTION = (
    "First-order divisions: made with Natural Earth (https://www.naturalearthdata.com, public domain); codes and names "
    "of ISO 3166-2 from iso-codes (https://salsa.debian.org/iso-codes-team/iso-codes), LGPL 2.1 or later.")
# Words for the kind of a division, which one list has and the other leaves out.
KINDS = set(
    "province provincia state district region county of the oblast governorate department departement prefecture "
    "municipality republic city kray krai rayon autonomous okrug parish canton division territory governorate "
    "wilaya muhafazat voivodeship".split())


def folded(text):
    """Lower case, without marks, punctuation and words for kinds."""
    text = unicodedata.normalize("NFKD", text or "")
    text = "".join(letter for letter in text if not unicodedata.combining(letter)).lower()
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


def parent_of(code, entries):
    parent = entries[code].get("parent")
    if parent is None:
        return None
    return parent if "-" in parent else f"{code[:2]}-{parent}"


def main(folder, world_map, iso):
    entries, names = divisions(iso)
    connection = sqlite3.connect(f"file:{world_map}?mode=ro&immutable=1", uri=True)
    labels, faces = [], []
    numbers = {}

    def label(name, code, country, parent):
        """One label for one division, however many outlines it has."""
        key = (name, code, country, parent)
        if key not in numbers:
            numbers[key] = len(labels)
            labels.append(key)
            faces.append([])
        return numbers[key]

    rows = connection.execute(
        "SELECT iso_a2, name, woe_name, gn_name, geom FROM states_provinces ORDER BY fid").fetchall()
    for country, name, woe, gn, blob in rows:
        if not re.fullmatch("[A-Z]{2}", country or ""):
            continue
        # An exact match in a higher division is worth more than one in a lower of the same name.
        code = ""
        for text in (name, woe, gn):
            found = names.get((country, folded(text)), set()) if folded(text) else set()
            top = {other for other in found if parent_of(other, entries) is None}
            if len(found) == 1 or len(top) == 1:
                code = min(found if len(found) == 1 else top)
                break
        parent = NONE
        if code:
            above = parent_of(code, entries)
            while above in entries and parent_of(above, entries) in entries:
                above = parent_of(above, entries)
            if above in entries:
                parent = label(entries[above]["name"], above, country, NONE)
        if not name and not code:
            continue
        number = label(name or entries[code]["name"], code, country, parent)
        for polygon in rings_of(blob):
            faces[number] += polygon

    zones = read(pathlib.Path(folder) / "zones.gazetteer")
    ranks = {number: number for number in range(len(labels))}
    country_of = [country for _, _, country, _ in labels]
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
