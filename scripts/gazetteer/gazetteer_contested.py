"""Contested land and ice shelves for regions.gazetteer, drawn by hand after the usual maps; used by
scripts/gazetteer/build.

An outline is as coarse as can be: it counts only where the zones say that the first country governs, so their borders
and not these lines are the edges. Left out are the sectors of Antarctica, whose claims the Antarctic Treaty suspends, and
countries that claim one another whole.
"""

import numpy


def box(west, south, east, north):
    return [(west, south), (east, south), (east, north), (west, north)]


# Who governs and who else claims, then outlines in degrees (longitude, latitude) or names of divisions of a country.
CONTESTED = [
    ("UA RU", [box(32.2, 44, 36.9, 46.25), ("UA", "Donets'k"), ("UA", "Luhans'k"), ("UA", "Zaporizhzhya"),
               ("UA", "Kherson")]),
    ("XK RS", [box(19.9, 41.7, 22, 43.4)]), ("TW CN", [box(117.9, 20.4, 122.8, 26.6)]),
    ("PS IL", [box(34, 31.1, 35.8, 32.7)]),
    ("IL SY", [[(35.62, 32.7), (35.8, 32.7), (36, 32.9), (36, 33.4), (35.68, 33.4), (35.62, 33.25), (35.645, 33)]]),
    ("IN PK", [("IN", "Jammu and Kashmir"), ("-1", "Kashmir")]),
    ("PK IN", [("PK", "Northern Areas"), ("PK", "Azad Kashmir")]), ("IN CN", [("IN", "Arunachal Pradesh")]),
    ("CN IN", [[(77.8, 35.4), (79.4, 36), (80.4, 35.6), (80.3, 34.5), (79.4, 34.3), (78.6, 34.3), (77.8, 35)]]),
    ("CN IN PK", [[(74.8, 37), (76, 36.9), (77.8, 35.6), (77.6, 35.4), (76, 35.8), (74.8, 36.6)]]),
    ("BT CN", [box(88.85, 27.2, 89.15, 27.45), box(90.2, 27.9, 91.1, 28.4)]),
    ("EH MA", [box(-17.5, 20.6, -8.6, 27.8)]), ("FK AR", [box(-62, -53, -57, -50.5)]),
    ("GS AR", [box(-39, -60, -25, -53)]), ("GI ES", [box(-5.5, 36, -5.2, 36.3)]),
    ("ES MA", [box(-5.5, 35.8, -5.2, 36), box(-3.1, 35.1, -2.8, 35.4), box(-4.5, 35.1, -3.8, 35.3),
               box(-2.5, 35.1, -2.3, 35.3)]),
    ("ES PT", [box(-7.3, 38.45, -6.95, 38.9)]), ("RU JP", [box(145.2, 43.2, 149.2, 45.7)]),
    ("KR JP", [box(131.7, 37.1, 132, 37.4)]), ("JP CN TW", [box(123.2, 25.5, 124.8, 26.2)]),
    ("CN TW VN", [box(110.9, 15.5, 113, 17.4)]),
    *[(f"{first} {' '.join(other for other in ('CN', 'MY', 'PH', 'TW', 'VN') if other != first)}", [box(111, 7, 116.5, 11.9)])
      for first in ("CN", "MY", "PH", "TW", "VN")],
    ("PH CN TW", [box(117.5, 14.9, 118, 15.4)]), ("CN PH TW", [box(117.5, 14.9, 118, 15.4)]),
    ("GY VE", [[(-62, 1), (-59.2, 1.2), (-58.6, 2), (-58.3, 3), (-58.5, 4), (-58.6, 5), (-58.55, 6.4), (-58.4, 7),
                (-58, 7.6), (-60, 9), (-62, 8.5)]]),
    ("GY SR", [[(-58.2, 1.4), (-56.3, 1.8), (-57.2, 3.5), (-57.4, 3.4)]]), ("GF SR", [box(-54.6, 2, -53.7, 3.4)]),
    ("BZ GT", [box(-89.4, 15.7, -87.8, 17.25)]), ("EG SD", [[(33.9, 22), (37.4, 22), (36, 23.4), (35.5, 23.1), (34.6, 22.3)]]),
    ("SD SS", [box(27.8, 9.3, 29.1, 10.3)]), ("SS SD", [box(27.8, 9.3, 29.1, 10.3)]),
    ("KE SS", [[(33.9, 4.25), (35.98, 4.65), (35.3, 5.55), (33.9, 4.8)]]), ("IO MU", [box(70, -8, 73.5, -4)]),
    ("YT KM", [box(44.8, -13.2, 45.5, -12.4)]), ("TF MU", [box(54.3, -16.1, 54.8, -15.6)]),
    ("TF MG", [box(39.4, -22.6, 43, -16.8), box(47.1, -11.7, 47.5, -11.3)]),
]

# The floating edge of Antarctica, which Natural Earth leaves to the sea.
ICE_SHELVES = [
    [(-180, -78), (-170, -78.1), (-163, -78.2), (-158, -77.4), (-154, -77), (-150, -76.4), (-147, -75.7), (-144, -75.4), (-137, -75),
     (-133, -74.5), (-127, -74.2), (-122, -74.2), (-115, -74), (-110, -74.8), (-105, -75.1), (-102, -74.8), (-100.5, -72.6),
     (-96, -72.5), (-90, -72.9), (-85, -73.3), (-80, -73.2), (-76, -73), (-76, -90), (-180, -90)],
    [(-76, -73), (-75, -71.8), (-72, -70.3), (-69, -69.2), (-66, -67.5), (-64.5, -66), (-61.5, -65.8), (-60.8, -67.5),
     (-61, -69), (-60.8, -71), (-60.5, -73), (-60.5, -74.6), (-55, -76), (-50, -77.2), (-44, -78), (-37, -78), (-34, -77.4),
     (-31, -76.4), (-27, -75.6), (-25.5, -74.3), (-20, -73.2), (-16, -72.5), (-12, -71.2), (-7, -70.4), (-3, -70.3), (0, -69.8),
     (16, -69.7), (27, -70), (33, -68.7), (36, -69.4), (36, -90), (-76, -90)],
    [(68, -70.5), (70, -68.5), (73.5, -68.4), (74.5, -70), (72, -72)],
    # Wilkins, Stange, Venable, Thwaites; Publications, Totten, Moscow University, Voyeykov, Cook, Nansen and Drygalski.
    [(-76, -73), (-75, -71.8), (-74.6, -70.3), (-72.5, -69.8), (-71, -70.5), (-72, -72)],
    [(-78.5, -73.5), (-78, -72.8), (-75.8, -72.7), (-75.5, -73.5)], [(-88.5, -73.5), (-88.3, -72.9), (-86, -72.9), (-86, -73.5)],
    [(-108.5, -75.4), (-107.5, -74.7), (-105.5, -74.8), (-105, -75.4)],
    [(74, -70), (74.5, -69.4), (76.3, -69.3), (76.3, -69.9)], [(114.5, -67.3), (115, -66.5), (117, -66.6), (118, -67.3)],
    [(118.5, -67.3), (119, -66.7), (122.5, -66.5), (122.5, -67.2)], [(122.5, -66.8), (123, -66.1), (126, -66), (126.5, -66.7)],
    [(149.8, -69.3), (149.8, -68.4), (151.5, -68.3), (154, -68.4), (154, -69.5)],
    [(160, -75.8), (165.5, -75.55), (165.5, -75.2), (163.8, -75), (163.8, -74.5), (161.5, -74.3)],
    [(81, -67.3), (82, -66.3), (88, -66.3), (89, -67.3)], [(94.5, -66.8), (95.5, -65.2), (102, -64.9), (104, -66.3)],
    [(160, -79), (163, -77.5), (167, -77.3), (172, -77.7), (180, -78), (180, -90), (160, -90)],
]


def units(ring):
    return numpy.rint(numpy.array(ring) * 1e7).astype(numpy.int64)


def contested(divisions):
    """(countries as one text, rings) of contested land, each outline for itself because some overlap; `divisions` are
    rings by (country, name) of Natural Earth."""
    return [(claims, divisions[outline] if isinstance(outline, tuple) else [units(outline)])
            for claims, outlines in CONTESTED for outline in outlines]
