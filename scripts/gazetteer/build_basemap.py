"""Writes basemap.cells, the lines of the page's map, into a folder; called by scripts/gazetteer/build.

    build_basemap.py FOLDER NATURAL_EARTH_FOLDER RIVERS.shp

Land, lakes, rivers, borders of countries and of first-order divisions, from Natural Earth's 1:10,000,000 set. A map that
is drawn by the browser needs no more than these: names come from places.gazetteer, the track from the person.

There are three bands, each for some zoom levels (of maps with 256 pixels for the world at zoom 0) and cut into cells, so
that a browser gets only what it shows:

    band  from zoom  cell     simplified by  step     layers
    0     0          world    0.12°          0.05°    land, large lakes and rivers, countries
    1     5          20°      0.02°          0.005°   the same, and more of them
    2     7          5°       0.002°         0.0005°  all, with divisions

The file, numbers in little endian:

    8 bytes   "WHBMAP1\n"
    u32, u32  length of the index, count of cells
    index     JSON: {"format": 1, "hash", "attribution", "bands": [{"zoom", "degrees", "step", "margin", "cells"}]}, where
              `cells` is base64 of one bit for each cell, the lowest bit of a byte first
    table     for each cell, by band and cell: u16 band, u16 cell, u32 offset from the file's start, u32 length
    bodies    each a gzip stream

A cell has the number row * columns + column; rows begin at 90° south, columns at 180° west. Its content is five layers:
land and lakes as rings (filled by the even-odd rule), rivers, borders of countries and borders of divisions as lines. A
layer is a count of paths; a path is a count of points and then, for each, the difference of x and of y from the point
before, the first from the last one of the path before, or from 0. All of them are varints of LEB128, the differences
zigzag. x and y count steps from the cell's south-west corner less `margin` steps: neighbours overlap by that much, so that
no seam shows. An edge of a ring that runs along the cell's outer edge is a cut and no shore; it is not to be drawn.

For example, the ring (10, 10), (30, 10), (30, 20) alone in its layer is the bytes 01 03 14 14 28 00 00 14.
"""

import base64
import gzip
import hashlib
import json
import pathlib
import struct
import sys

import numpy

ATTRIBUTION = "Natural Earth"
# First zoom, degrees of a cell, tolerance and step in degrees, margin in steps, least scale rank left out of rivers,
# smallest ring (degrees across) of land and lakes, whether divisions are drawn.
BANDS = [
    (0, 360, 0.12, 0.05, 0, 4, 0.25, 0.8, False),
    (5, 20, 0.02, 0.005, 4, 7, 0.03, 0.1, False),
    (7, 5, 0.002, 0.0005, 8, 99, 0, 0, True),
]


def shapes(path):
    """The parts of each record of a shapefile of lines or polygons, as arrays of longitude and latitude."""
    data = path.read_bytes()
    at = 100
    while at < len(data):
        length = struct.unpack_from(">i", data, at + 4)[0] * 2
        kind = struct.unpack_from("<i", data, at + 8)[0]
        if kind in (3, 5, 13, 15, 23, 25):
            parts, points = struct.unpack_from("<ii", data, at + 44)
            starts = [*struct.unpack_from(f"<{parts}i", data, at + 52), points]
            every = numpy.frombuffer(data, "<f8", points * 2, at + 52 + 4 * parts).reshape(-1, 2)
            yield [every[a:b].copy() for a, b in zip(starts, starts[1:])]
        elif kind == 0:
            yield []
        else:
            raise SystemExit(f"{path}: shape type {kind}")
        at += 8 + length


def column(path, wanted):
    """One column of a dBASE table as texts."""
    data = path.read_bytes()
    count, head, size = struct.unpack_from("<IHH", data, 4)
    at, start = 32, 1
    while data[at] != 0x0D:
        name = data[at:at + 11].split(b"\0")[0].decode()
        length = data[at + 16]
        if name.lower() == wanted:
            return [data[head + size * row + start:][:length].decode("latin-1").strip() for row in range(count)]
        start += length
        at += 32
    raise SystemExit(f"{path}: no column {wanted}")


def simplified(points, tolerance):
    """Douglas and Peucker's selection, in degrees."""
    count = len(points)
    if count < 3:
        return points
    keep = numpy.zeros(count, bool)
    keep[[0, -1]] = True
    stack = [(0, count - 1)]
    if (points[0] == points[-1]).all():
        # A ring has no chord: it is cut at the point farthest from its start.
        far = int(numpy.argmax(((points - points[0]) ** 2).sum(axis=1)))
        keep[far] = True
        stack = [(0, far), (far, count - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        inner = points[first + 1:last] - points[first]
        chord = points[last] - points[first]
        length = float(chord @ chord)
        if length == 0:
            away = (inner ** 2).sum(axis=1)
        else:
            share = numpy.clip(inner @ chord / length, 0, 1)
            away = ((inner - share[:, None] * chord) ** 2).sum(axis=1)
        worst = int(numpy.argmax(away))
        if away[worst] > tolerance * tolerance:
            middle = first + 1 + worst
            keep[middle] = True
            stack += [(first, middle), (middle, last)]
    return points[keep]


def crossings(points, following, axis, value):
    """Where the edges from points to following cross a line of one coordinate."""
    share = (value - points[:, axis]) / (following[:, axis] - points[:, axis])
    result = points + share[:, None] * (following - points)
    result[:, axis] = value
    return result


def half_ring(ring, axis, value, above):
    """The part of an open ring on one side of a line (Sutherland and Hodgman)."""
    inside = ring[:, axis] >= value if above else ring[:, axis] <= value
    if inside.all():
        return ring
    if not inside.any():
        return ring[:0]
    following = numpy.roll(ring, -1, axis=0)
    cut = inside != numpy.roll(inside, -1)
    places = numpy.cumsum(inside.astype(int) + cut) - cut
    result = numpy.empty((int(inside.sum() + cut.sum()), 2))
    result[places[inside] - 1] = ring[inside]
    result[places[cut]] = crossings(ring[cut], following[cut], axis, value)
    return result


def half_line(line, axis, value, above):
    """The parts of a line on one side of another."""
    inside = line[:, axis] >= value if above else line[:, axis] <= value
    if inside.all():
        return [line]
    if not inside.any():
        return []
    cut = numpy.flatnonzero(inside[:-1] != inside[1:])
    ends = crossings(line[cut], line[cut + 1], axis, value)
    parts, start, entry = [], 0, None
    for index, end in zip(cut, ends):
        if inside[index]:
            head = [] if entry is None else [entry]
            parts.append(numpy.vstack([*head, line[start:index + 1], end]))
        else:
            start, entry = index + 1, end
    if inside[-1]:
        parts.append(numpy.vstack([*([] if entry is None else [entry]), line[start:]]))
    return parts


def cut(paths, closed, axis, cells, degrees, origin, margin):
    """The paths by cell along one axis; cells is a range that is halved until it is one cell."""
    if not paths:
        return
    first, last = cells
    if last - first == 1:
        yield first, paths
        return
    middle = (first + last) // 2
    border = origin + middle * degrees
    for above, part in ((False, (first, middle)), (True, (middle, last))):
        value = border - margin if above else border + margin
        inside = []
        for path in paths:
            if closed:
                ring = half_ring(path, axis, value, above)
                if len(ring) > 2:
                    inside.append(ring)
            else:
                inside += half_line(path, axis, value, above)
        yield from cut(inside, closed, axis, part, degrees, origin, margin)


def varint(value, out):
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def encoded(paths, closed, west, south, step, margin):
    """One layer of a cell."""
    out, kept, last = bytearray(), 0, (0, 0)
    for path in paths:
        grid = numpy.rint((path - (west, south)) / step).astype(int) + margin
        same = numpy.concatenate([[False], (grid[1:] == grid[:-1]).all(axis=1)])
        grid = grid[~same]
        if closed and len(grid) > 1 and (grid[0] == grid[-1]).all():
            grid = grid[:-1]
        if len(grid) < (3 if closed else 2):
            continue
        kept += 1
        varint(len(grid), out)
        for x, y in grid.tolist():
            for difference in (x - last[0], y - last[1]):
                varint(difference * 2 if difference >= 0 else -difference * 2 - 1, out)
            last = (x, y)
    head = bytearray()
    varint(kept, head)
    return bytes(head + out)


def extent(path):
    return float((path.max(axis=0) - path.min(axis=0)).max())


def main():
    folder, earth, rivers = (pathlib.Path(argument) for argument in sys.argv[1:4])
    read = lambda name: [part for record in shapes(earth / f"ne_10m_{name}.shp") for part in record]
    ranks = [float(rank or 99) for rank in column(rivers.with_suffix(".dbf"), "scalerank")]
    layers = [
        ("land", True, [(part, 0) for part in read("land")]),
        ("lakes", True, [(part, 0) for part in read("lakes")]),
        ("rivers", False, [(part, rank) for rank, record in zip(ranks, shapes(rivers)) for part in record]),
        ("countries", False, [(part, 0) for part in read("admin_0_boundary_lines_land")]),
        ("divisions", False, [(part, 0) for part in read("admin_1_states_provinces_lines")]),
    ]
    cells, bands = [], [None] * len(BANDS)
    # The finest band first: the coarser ones are selections from its points.
    for band in reversed(range(len(BANDS))):
        zoom, degrees, tolerance, step, margin, rank, smallest_land, smallest_lake, divisions = BANDS[band]
        columns, rows = max(1, 360 // degrees), max(1, 180 // degrees)
        layers = [(name, closed, [(simplified(path, tolerance), one) for path, one in paths]) for name, closed, paths in layers]
        content = {}
        for layer, (name, closed, paths) in enumerate(layers):
            smallest = {"land": smallest_land, "lakes": smallest_lake}.get(name, 0)
            chosen = [path for path, one in paths if one < rank and extent(path) >= smallest] if divisions or name != "divisions" else []
            wide = []
            for path in chosen:
                path = path[:-1] if closed else path
                # The cut of the world at 180° is no shore: it lies on the outer edge of its cells.
                ends = numpy.abs(path[:, 0]) > 179.999
                path[ends, 0] = numpy.sign(path[ends, 0]) * (180 + margin * step)
                path[path[:, 1] < -89.9, 1] = -90 - margin * step
                wide.append(path)
            for across, strips in cut(wide, closed, 0, (0, columns), degrees, -180, margin * step):
                for up, inside in cut(strips, closed, 1, (0, rows), degrees, -90, margin * step):
                    content.setdefault(up * columns + across, [[]] * 5)
                    content[up * columns + across] = [inside if index == layer else one for index, one in enumerate(content[up * columns + across])]
        present = bytearray((columns * rows + 7) // 8)
        for cell, parts in sorted(content.items()):
            west, south = cell % columns * degrees - 180, cell // columns * degrees - 90
            body = b"".join(encoded(paths, layers[index][1], west, south, step, margin) for index, paths in enumerate(parts))
            if body != bytes(5):
                cells.append((band, cell, gzip.compress(body, 9, mtime=0)))
                present[cell // 8] |= 1 << cell % 8
        bands[band] = {"zoom": zoom, "degrees": degrees, "step": step, "margin": margin, "cells": base64.b64encode(present).decode()}
    cells.sort()
    whole = hashlib.sha256(b"".join(body for _, _, body in cells)).hexdigest()[:16]
    index = json.dumps({"format": 1, "hash": whole, "attribution": ATTRIBUTION, "bands": bands}, separators=(",", ":")).encode()
    offset = 16 + len(index) + 12 * len(cells)
    table = bytearray()
    for band, cell, body in cells:
        table += struct.pack("<HHII", band, cell, offset, len(body))
        offset += len(body)
    (folder / "basemap.cells").write_bytes(
        b"WHBMAP1\n" + struct.pack("<II", len(index), len(cells)) + index + table + b"".join(body for _, _, body in cells))


main()
