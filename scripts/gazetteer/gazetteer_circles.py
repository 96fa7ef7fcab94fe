"""Writes circles.gazetteer files: names with a point and a radius around it. Used by scripts/gazetteer/build.

Version 3 of the file. Little-endian, mapped into memory and never parsed. Sections follow one another in this order,
each beginning at a multiple of 64; their places follow from the counts in the header.

    header   64 bytes   magic "CIRCLE\\r\\n" | version u32 | circles u32 | file bytes u64 | string bytes u32 |
                        attribution u32 (string) | greatest reach from a center u32 (m) | 28 zero bytes
    circles  52 each    geocentric x, y, z i32 (1/8 m) of the center | radius u32 (m) | latitude i32, longitude i32
                        (1e-7 degrees) | name u32 (string) | code u32 (string) | population u32, 0 where unknown |
                        geonameid u32, 0 where there is none | half x, y, z i32 (1/8 m): from the center of a line to one of
                        its ends, 0 for a circle. A coordinate within the radius of the line is in the area.
    bands    2 each     4,096 of them, each 3,125 m of z from -6,400,000 m on: the first circle that lies in it or above
    strings  bytes      length u16, then that many bytes of UTF-8; the empty one stands at 0 and means "absent"

Circles are in the order of rising z, so that those around a point lie between two places in the file; a code begins
with the two letters of the country, where there is one.
"""

import bisect
import math
import struct

from build_gazetteer import fixed, geocentric
from gazetteer_tiling import Strings

VERSION = 3
UNITS = 8  # in a meter
BANDS = 4096
BAND_METERS = 3125
LEAST_METERS = -6_400_000


def write(path, circles, attribution):
    """`circles` are (latitude, longitude, radius in meters, name, code, population, geonameid, the two ends of a line or
    None); degrees as text."""
    strings = Strings()
    attribution = strings.place(attribution)
    points = geocentric([(float(circle[0]), float(circle[1])) for circle in circles], UNITS)
    halves = []
    for circle in circles:
        one, other = geocentric(circle[7], UNITS) if circle[7] else ((0, 0, 0), (0, 0, 0))
        halves.append(tuple((a - b) // 2 for a, b in zip(other, one)))
    ordered = sorted(zip(points, circles, halves), key=lambda entry: (entry[0][2], entry[0], entry[1][:7]))
    records = [
        struct.pack("<iiiIiiIIIIiii", *point, radius, fixed(latitude), fixed(longitude), strings.place(name),
                    strings.place(code), population, geonameid, *half)
        for point, (latitude, longitude, radius, name, code, population, geonameid, _), half in ordered]
    heights = [point[2] for point, _, _ in ordered]
    bands = [bisect.bisect_left(heights, (LEAST_METERS + BAND_METERS * band) * UNITS) for band in range(BANDS)]
    body = bytearray()
    for section in (b"".join(records), struct.pack(f"<{BANDS}H", *bands), bytes(strings.bytes)):
        body += bytes(-len(body) % 64) + section
    path.write_bytes(struct.pack(
        "<8sIIQIII28x", b"CIRCLE\r\n", VERSION, len(records), 64 + len(body), len(strings.bytes), attribution,
        max(circle[2] + math.ceil(math.hypot(*half) / UNITS) for circle, half in zip(circles, halves))) + body)
