"""Writes circles.gazetteer files: names with a point and a radius around it. Used by scripts/build-gazetteer.

Version 1 of the file. Little-endian, mapped into memory and never parsed. Sections follow one another in this order,
each beginning at a multiple of 64; their places follow from the counts in the header.

    header   64 bytes   magic "CIRCLE\\r\\n" | version u32 | circles u32 | file bytes u64 | string bytes u32 |
                        attribution u32 (string) | greatest radius u32 (m) | 28 zero bytes
    circles  36 each    geocentric x, y, z i32 (1/8 m) of the center | radius u32 (m) | latitude i32, longitude i32
                        (1e-7 degrees) | name u32 (string) | code u32 (string) | population u32, 0 where unknown
    strings  bytes      length u16, then that many bytes of UTF-8; the empty one stands at 0 and means "absent"

Circles are in the order of rising z, so that those around a point lie between two places in the file; a code begins
with the two letters of the country, where there is one.
"""

import struct

from build_gazetteer import fixed, geocentric
from gazetteer_tiling import Strings

VERSION = 1
UNITS = 8  # in a meter


def write(path, circles, attribution):
    """`circles` are (latitude, longitude, radius in meters, name, code, population); degrees as text."""
    strings = Strings()
    attribution = strings.place(attribution)
    points = geocentric([(float(circle[0]), float(circle[1])) for circle in circles], UNITS)
    records = [
        struct.pack("<iiiIiiIII", *point, radius, fixed(latitude), fixed(longitude), strings.place(name),
                    strings.place(code), population)
        for point, (latitude, longitude, radius, name, code, population)
        in sorted(zip(points, circles), key=lambda pair: (pair[0][2], pair[0], pair[1]))]
    begin = 64 + -(-36 * len(records) // 64) * 64
    size = begin + len(strings.bytes)
    out = struct.pack("<8sIIQIII28x", b"CIRCLE\r\n", VERSION, len(records), size, len(strings.bytes), attribution,
                      max(circle[2] for circle in circles)) + b"".join(records)
    path.write_bytes(out + bytes(begin - len(out)) + strings.bytes)
