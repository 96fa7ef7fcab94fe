"""What the first-order divisions of GeoNames are called, and which of ISO 3166-2 they are. Used by
scripts/build-gazetteer.
"""

import collections
import gzip
import importlib.util
import json
import pathlib

from gazetteer_tiling import NONE


def states_by_area(cities, package):
    """Names of divisions by (country, code), from the package that has them by coordinate."""
    # Found without importing it: its code needs more than its data.
    folder = pathlib.Path(importlib.util.find_spec(package).origin).parent
    with gzip.open(folder / "geocode.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    at = {(f"{row['latitude']:.4f}", f"{row['longitude']:.4f}", row["country_code"]): row.get("state") for row in rows}
    votes = collections.defaultdict(collections.Counter)
    for city in cities:
        state = at.get((f"{float(city['latitude']):.4f}", f"{float(city['longitude']):.4f}", city["countrycode"]))
        if state:
            votes[city["countrycode"], city["admin1code"]][state] += 1
    return {area: min(counter, key=lambda name: (-counter[name], name)) for area, counter in votes.items()}


def outlines_by_area(cities, regions):
    """ISO 3166-2 codes and names of outlines by (country, code): those that most of the area's places lie in."""
    by_area = collections.defaultdict(list)
    for city in cities:
        by_area[city["countrycode"], city["admin1code"]].append(city)
    out = {}
    for (country, code), members in by_area.items():
        votes = collections.Counter()
        for city in sorted(members, key=lambda city: (-city["population"], city["geonameid"]))[:25]:
            for label in regions.holding(float(city["latitude"]), float(city["longitude"])):
                if regions.country[label] == country:
                    parent = regions.labels[label][3]
                    votes[label if parent == NONE else parent] += 1
                    break
        if votes:
            label = min(votes, key=lambda label: (-votes[label], label))
            if 2 * votes[label] > sum(votes.values()):
                name, iso = (regions.text(regions.labels[label][part]) for part in (0, 1))
                out[country, code] = (iso, name)
    return out
