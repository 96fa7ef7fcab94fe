"""Answers the questions of GeodesyTests with PyPI geographiclib and pyproj: one line in, one line out.

    python geodesy_reference.py OPERATION < questions > answers

inverse      lat1 lon1 lat2 lon2   -> meters azimuth1 azimuth2         (geographiclib)
area         lat lon lat lon ...   -> square meters, perimeter         (geographiclib)
cart         lat lon height        -> x y z                            (pyproj, EPSG:4979 to 4978)
egm96        lat lon               -> meters of the geoid above the ellipsoid (pyproj, grid of Debian's proj-data)
xy CODE      lat lon               -> x y of the system, easting first (pyproj, always_xy)
register CODE  lat lon             -> the same two numbers in the register's order (pyproj, authority order)
latlon CODE  x y                   -> lat lon (pyproj, always_xy)
edition      any number            -> major and minor version of the PROJ inside pyproj
"""

import sys


def main():
    operation, *arguments = sys.argv[1:]
    questions = [list(map(float, line.split())) for line in sys.stdin.read().splitlines()]
    answers = globals()["answer_" + operation](*arguments)
    for question in questions:
        print(*map(repr, map(float, answers(*question))))


def answer_inverse():
    from geographiclib.geodesic import Geodesic

    def answer(lat1, lon1, lat2, lon2):
        line = Geodesic.WGS84.Inverse(lat1, lon1, lat2, lon2)
        return line["s12"], line["azi1"], line["azi2"]

    return answer


def answer_area():
    from geographiclib.geodesic import Geodesic

    def answer(*numbers):
        ring = Geodesic.WGS84.Polygon()
        for lat, lon in zip(numbers[::2], numbers[1::2]):
            ring.AddPoint(lat, lon)
        _, perimeter, area = ring.Compute()
        return area, perimeter

    return answer


def transformer(source, target, **options):
    import pyproj

    pyproj.network.set_network_enabled(False)
    return pyproj.Transformer.from_crs(source, target, **options)


def answer_cart():
    conversion = transformer("EPSG:4979", "EPSG:4978", always_xy=True)
    return lambda lat, lon, height: conversion.transform(lon, lat, height, errcheck=True)


def answer_egm96():
    import pyproj

    pyproj.datadir.append_data_dir("/usr/share/proj")
    grid = pyproj.Transformer.from_pipeline(
        "+proj=pipeline +step +proj=unitconvert +xy_in=deg +xy_out=rad"
        " +step +proj=vgridshift +grids=egm96_15.gtx +multiplier=1"
    )
    return lambda lat, lon: grid.transform(lon, lat, 0, errcheck=True)[2:]


def answer_xy(code):
    conversion = transformer("EPSG:4326", code, always_xy=True, allow_ballpark=False)
    return lambda lat, lon: conversion.transform(lon, lat, errcheck=True)


def answer_register(code):
    conversion = transformer("EPSG:4326", code, allow_ballpark=False)
    return lambda lat, lon: conversion.transform(lat, lon, errcheck=True)


def answer_latlon(code):
    conversion = transformer(code, "EPSG:4326", always_xy=True, allow_ballpark=False)
    return lambda x, y: conversion.transform(x, y, errcheck=True)[::-1]


def answer_edition():
    import pyproj

    return lambda _: pyproj.proj_version_str.split(".")[:2]


if __name__ == "__main__":
    main()
