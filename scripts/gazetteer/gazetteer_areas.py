"""Names of GeoNames' first-order divisions that data/divisions.tsv does not have. Used by scripts/gazetteer/build.
"""

import collections
import gzip
import importlib.util
import json
import pathlib


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



