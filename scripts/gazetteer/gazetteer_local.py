"""Local names of places and countries whose language is written in Latin letters; used by scripts/gazetteer/build.

GeoNames' main names are a mixture: English for places that have an English name ("Vienna", "Munich"), local for others
("Neubau", "Pasing"). With the local names, an answer is in one language. For languages in other scripts, GeoNames' names in
Latin letters are kept, because the sources do not have the local spelling of smaller places.
"""

import gazetteer_fold

# Catalogs of iso-codes and libgeonames-common by country, and by division where languages differ within it.
LANGUAGES = {
    country: language for language, countries in {
        "bs": "BA", "cs": "CZ", "da": "DK", "de": "AT DE LI", "es": (
            "AR BO CL CO CR CU DO EC ES GQ GT HN MX NI PA PE PR PY SV UY VE"), "et": "EE", "fi": "FI",
        "fr": "BF BJ BL CD CG CI CM FR GA GF GN GP MC MF ML MQ NC NE PF PM RE SN TG WF YT", "hr": "HR", "hu": "HU",
        "id": "ID", "is": "IS", "it": "IT SM VA", "lt": "LT", "lv": "LV", "ms": "MY", "nb": "NO SJ", "nl": "AW CW NL SR SX",
        "pl": "PL", "pt": "AO BR CV GW MZ PT ST", "ro": "MD RO", "sk": "SK", "sl": "SI", "sq": "AL", "sv": "AX SE",
        "tr": "TR", "vi": "VN",
    }.items() for country in countries.split()}
LANGUAGES_OF_DIVISIONS = {
    code: language for language, codes in {
        "de": "CH-AG CH-AI CH-AR CH-BE CH-BL CH-BS CH-GL CH-GR CH-LU CH-NW CH-OW CH-SG CH-SH CH-SO CH-SZ CH-TG CH-UR CH-ZG "
              "CH-ZH", "fr": "BE-BRU BE-WAL CA-QC CH-FR CH-GE CH-JU CH-NE CH-VD CH-VS", "it": "CH-TI", "nl": "BE-VLG",
    }.items() for code in codes.split()}
# Local names of countries with several such languages.
COUNTRIES = {"BE": "België / Belgique", "CH": "Schweiz / Suisse / Svizzera"}
# Cities whose parts are named by number, for example "Paris 18e".
ARRONDISSEMENTS = ("Paris", "Lyon", "Marseille")


def language_of(country, division):
    """The catalog of a country, or of one of its divisions if it has several languages; None if there is none."""
    return LANGUAGES_OF_DIVISIONS.get(division) or LANGUAGES.get(country)


def local_name(city, catalog):
    """The local name of a place if it differs from the main one, else None.

    Another spelling, a longer form ("Freiburg im Breisgau") or a description does not count as different.
    """
    words = city["name"].split()
    if city["countrycode"] == "FR" and len(words) > 2 and words[0] in ARRONDISSEMENTS and words[1].isdigit():
        return f"{words[0]} {int(words[1])}{'er' if int(words[1]) == 1 else 'e'}"
    text = catalog.get(str(city["geonameid"]))
    if not text or text == city["name"] or any(mark in text for mark in "/(),") or not text[0].isupper():
        return None
    one, other = gazetteer_fold.key(text), gazetteer_fold.key(city["name"])
    if one in other or other in one:
        return None
    return text
