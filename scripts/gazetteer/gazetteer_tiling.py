"""Writes a tiling: polygons cut into square cells, so that a question reads one cell. Used by scripts/gazetteer/build.

Version 3 of the file. Little-endian, mapped into memory and never parsed. Sections follow one another in this order,
each beginning at a multiple of 64; their places follow from the counts in the header.

    header   64 bytes   magic "TILING\\r\\n" | version u32 | cells per degree u32 | file bytes u64 | block bytes u32 |
                        cells u32 | shape bytes u32 | labels u32 | string bytes u32 | attribution u32 (string) |
                        16 zero bytes
    degrees  4 each     180 x 360 entries from the south-west corner, row by row eastwards: below 0x80000000 the label
                        of the whole square degree (0x7fffffff none), else 0x80000000 + the byte its block begins at
    blocks   bytes      a block is: first cell u32 | labels u8 | that many labels u16, 0x7fff for none | one u8 a cell of
                        the degree, row by row from the south-west: below 0x80 one of those labels, counted from 0,
                        else 0x80 + k for cell (first cell + k)
    cells    4 each     where the cell's shapes begin, in bytes
    shapes   bytes      a cell is: candidates u8; then for each: label u16 | rings u16, plus 0x8000 if inverted; then
                        for each ring: vertices u16 | that many times x and y, 12 bits each in three bytes, x in the
                        low ones, in 1/4000 of the cell's side from its south-west corner. A candidate holds a point if
                        an odd number of its edges lies north of it (an even number if inverted); one without rings
                        holds every point if inverted, else none.
    labels   16 each    name u32 (string) | code u32 (string) | country, two letters or two zero bytes |
                        label it is part of u16, 0x7fff for none | kind u32, what the file needs
    strings  bytes      length u16, then that many bytes of UTF-8; the empty one stands at 0 and means "absent"

A point on the southern or western side of a cell belongs to the cell, one on the others to the next.
"""

import struct

import numpy

VERSION = 3
STEPS = 4000  # steps in the side of a cell: 2.8 m in a cell of 0.1 degrees
DEGREE = 10**7
NONE = 0x7FFF


class Strings:
    """Length-prefixed strings, each stored once; the empty one is at 0."""

    def __init__(self):
        self.bytes = bytearray(2)
        self.places = {"": 0}

    def place(self, text):
        if text not in self.places:
            encoded = text.encode("utf-8")
            self.places[text] = len(self.bytes)
            self.bytes += struct.pack("<H", len(encoded)) + encoded
        return self.places[text]


def half(ring, axis, line, low):
    """The part of a ring on one side of a line (Sutherland and Hodgman 1974); None if there is none.

    Where the part is in several pieces they stay joined along the line, which changes no parity off the line.
    """
    values = ring[:, axis]
    inside = values <= line if low else values >= line
    if inside.all():
        return ring
    if not inside.any():
        return None
    after = numpy.roll(ring, -1, axis=0)
    crossing = inside != numpy.roll(inside, -1)
    a, b = ring[crossing], after[crossing]
    # Ends in one order, so that two neighbours who share an edge in opposite directions cut it at one point.
    swapped = (a[:, 0] > b[:, 0]) | ((a[:, 0] == b[:, 0]) & (a[:, 1] > b[:, 1]))
    a, b = numpy.where(swapped[:, None], b, a), numpy.where(swapped[:, None], a, b)
    share = (line - a[:, axis]) / (b[:, axis] - a[:, axis])
    cut = numpy.empty_like(a)
    cut[:, axis] = line
    cut[:, 1 - axis] = a[:, 1 - axis] + numpy.rint(share * (b[:, 1 - axis] - a[:, 1 - axis])).astype(numpy.int64)
    counts = inside.astype(numpy.int64) + crossing
    ends = numpy.cumsum(counts)
    out = numpy.empty((ends[-1], 2), dtype=numpy.int64)
    out[(ends - counts)[inside]] = ring[inside]
    out[ends[crossing] - 1] = cut
    return out


def on_border(ring, rectangle):
    x0, y0, x1, y1 = rectangle
    x, y = ring[:, 0], ring[:, 1]
    return (x == x0) | (x == x1) | (y == y0) | (y == y1)


def twice_area(ring, origin):
    x, y = ring[:, 0] - origin[0], ring[:, 1] - origin[1]
    return abs(int((x * numpy.roll(y, -1) - numpy.roll(x, -1) * y).sum()))


def simplified(chain, tolerance, scale):
    """Douglas and Peucker 1973 on a list of (x, y); both ends stay."""
    keep = [False] * len(chain)
    keep[0] = keep[-1] = True
    stack = [(0, len(chain) - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        ax, ay = chain[first]
        dx, dy = (chain[last][0] - ax) * scale, chain[last][1] - ay
        length = dx * dx + dy * dy
        worst, at = -1.0, first
        for i in range(first + 1, last):
            px, py = (chain[i][0] - ax) * scale, chain[i][1] - ay
            along = (px * dx + py * dy) / length if length else 0.0
            along = 0.0 if along < 0 else 1.0 if along > 1 else along
            ox, oy = px - along * dx, py - along * dy
            square = ox * ox + oy * oy
            if square > worst:
                worst, at = square, i
        if worst > tolerance * tolerance:
            keep[at] = True
            stack += [(first, at), (at, last)]
    return [point for point, kept in zip(chain, keep) if kept]


class Tiling:
    """Cells of 1/`per_degree` degrees over faces, each a list of rings of (longitude, latitude) in 1e-7 degrees.

    `ranks` orders the faces: of several that hold a point the lowest answers. With `whole`, every point has an answer:
    the last candidate of a cell holds whatever the others do not. `tolerance` is in meters. `drop(faces, cell)` may
    take candidates from a cell.
    """

    def __init__(self, faces, per_degree, ranks, whole, tolerance, drop=None):
        self.per_degree, self.ranks, self.whole = per_degree, ranks, whole
        self.drop = drop
        self.side = DEGREE // per_degree
        self.tolerance = tolerance / 111_320 * DEGREE
        self.grid = numpy.full((180 * per_degree, 360 * per_degree), NONE, dtype=numpy.int32)
        self.shapes = {}
        items = [(face, ring) for face, rings in enumerate(faces) for ring in rings]
        self.divide((0, 0, 360 * per_degree, 180 * per_degree), items)

    def rectangle(self, cells):
        x0, y0, x1, y1 = cells
        s = self.side
        return x0 * s - 180 * DEGREE, y0 * s - 90 * DEGREE, x1 * s - 180 * DEGREE, y1 * s - 90 * DEGREE

    def divide(self, cells, items):
        if not items:
            return
        x0, y0, x1, y1 = cells
        if x1 - x0 <= 10 * self.per_degree and y1 - y0 <= 10 * self.per_degree:
            items, full = self.sorted_out(self.rectangle(cells), items)
            partial = {face for face, _ in items}
            if not partial or (x1 - x0 == 1 and y1 - y0 == 1):
                self.settle(cells, items, full)
                return
            items += [(face, self.corners(cells)) for face in sorted(full)]
        axis = 0 if x1 - x0 >= y1 - y0 else 1
        middle = (cells[axis] + cells[axis + 2]) // 2
        line = self.rectangle((middle, middle, middle, middle))[axis]
        for low in (True, False):
            part = list(cells)
            part[axis + 2 if low else axis] = middle
            kept = [(face, half(ring, axis, line, low)) for face, ring in items]
            self.divide(tuple(part), [(face, ring) for face, ring in kept if ring is not None])

    def corners(self, cells):
        x0, y0, x1, y1 = self.rectangle(cells)
        return numpy.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], dtype=numpy.int64)

    def sorted_out(self, rectangle, items):
        """Rings that cross the rectangle, and the faces that cover it but for those rings."""
        whole = 2 * (rectangle[2] - rectangle[0]) * (rectangle[3] - rectangle[1])
        kept, full = [], set()
        for face, ring in items:
            if len(ring) > 64 or not on_border(ring, rectangle).all():
                kept.append((face, ring))
                continue
            area = twice_area(ring, rectangle)
            if area == whole:
                full ^= {face}
            elif area:
                kept.append((face, ring))
        return kept, full

    def settle(self, cells, items, full):
        x0, y0, x1, y1 = cells
        present = sorted({face for face, _ in items} | full, key=lambda face: self.ranks[face])
        if self.drop:
            present = self.drop(present, cells)
        partial = {face for face, _ in items}
        for number, face in enumerate(present):
            if face in full and face not in partial and self.whole:
                present = present[:number + 1]
                break
        if not present:
            return
        if len(present) == 1 and (self.whole or present[0] not in partial):
            self.grid[y0:y1, x0:x1] = present[0]
            return
        rectangle = self.rectangle(cells)
        if x1 - x0 > 1 or y1 - y0 > 1:
            # Covered alike, but by several: each cell says so for itself.
            for x in range(x0, x1):
                for y in range(y0, y1):
                    self.settle((x, y, x + 1, y + 1), [], full)
            return
        words = [len(present)]
        for face in present:
            last = self.whole and face == present[-1]
            rings = [] if last else [self.packed(ring, rectangle) for other, ring in items if other == face]
            words += [face, len(rings) + (0x8000 if last or face in full else 0)]
            for ring in rings:
                words += [len(ring)] + [word for point in ring for word in point]
        self.shapes[y0, x0] = words

    def name_also(self, y, x, faces):
        """Names further faces in a cell, without a shape there."""
        words = self.shapes.get((y, x))
        if words is None:
            words = [0] if self.grid[y, x] == NONE else [1, int(self.grid[y, x]), 0x8000]
        self.shapes[y, x] = [words[0] + len(faces)] + words[1:] + [word for face in faces for word in (face, 0)]

    @staticmethod
    def named(words):
        """The faces that the words of a cell name."""
        faces, at = [], 1
        for _ in range(words[0]):
            faces.append(words[at])
            rings = words[at + 1] & 0x7FFF
            at += 2
            for _ in range(rings):
                at += 1 + 2 * words[at]
        return faces

    def packed(self, ring, rectangle):
        """A ring within a cell in the file's steps, simplified between the points where it meets the cell's border."""
        border = on_border(ring, rectangle)
        points = [tuple(point) for point in ring.tolist()]
        anchors = numpy.flatnonzero(border).tolist()
        if not anchors:
            start = points.index(min(points))
            far = max(range(len(points)), key=lambda i: abs(points[i][0] - points[start][0])
                      + abs(points[i][1] - points[start][1]))
            anchors = sorted({start, far})
        middle = (rectangle[1] + rectangle[3]) / 2 / DEGREE
        scale = float(numpy.cos(numpy.radians(middle)))
        out = []
        for number, first in enumerate(anchors):
            last = anchors[(number + 1) % len(anchors)]
            chain = points[first:last + 1] if last > first else points[first:] + points[:last + 1]
            out += simplified(chain, self.tolerance, scale)[:-1]
        if len(out) < 3:
            out = points
        step = self.side // STEPS
        steps = []
        for x, y in out:
            point = ((x - rectangle[0] + step // 2) // step, (y - rectangle[1] + step // 2) // step)
            if not steps or steps[-1] != point:
                steps.append(point)
        # A vertex on one side of the cell between two others on that side says nothing.
        lean = []
        for point in steps:
            while len(lean) > 1 and any(
                    lean[-1][axis] == lean[-2][axis] == point[axis] and point[axis] in (0, STEPS) for axis in (0, 1)):
                lean.pop()
            lean.append(point)
        return lean

    @staticmethod
    def shape_bytes(words):
        """The words of a cell as the file has them."""
        out = bytearray(struct.pack("<B", words[0]))
        at = 1
        for _ in range(words[0]):
            face, rings = words[at], words[at + 1]
            out += struct.pack("<HH", face, rings)
            at += 2
            for _ in range(rings & 0x7FFF):
                count = words[at]
                out += struct.pack("<H", count)
                at += 1
                for x, y in zip(words[at:at + 2 * count:2], words[at + 1:at + 2 * count:2]):
                    out += (x | y << 12).to_bytes(3, "little")
                at += 2 * count
        return out

    def write(self, path, labels, attribution):
        """Writes the file; `labels` are (name, code, country, label it is part of or NONE[, kind]) by face."""
        n = self.per_degree
        strings = Strings()
        attribution = strings.place(attribution)
        degrees, blocks, offsets, shapes = [], bytearray(), [], bytearray()
        for row in range(180):
            for column in range(360):
                square = self.grid[row * n:row * n + n, column * n:column * n + n]
                keys = [key for y in range(row * n, row * n + n) for x in range(column * n, column * n + n)
                        if (key := (y, x)) in self.shapes]
                if not keys and (square == square[0, 0]).all():
                    degrees.append(0x7FFFFFFF if square[0, 0] == NONE else int(square[0, 0]))
                    continue
                degrees.append(0x80000000 + len(blocks))
                filled = square.flatten().tolist()
                palette = sorted(set(filled))
                entries = [palette.index(label) for label in filled]
                first = len(offsets)
                for key in keys:
                    entries[(key[0] - row * n) * n + key[1] - column * n] = 0x80 + len(offsets) - first
                    offsets.append(len(shapes))
                    shapes += self.shape_bytes(self.shapes[key])
                assert len(palette) <= 0x80 and len(keys) <= 0x80
                blocks += struct.pack(f"<IB{len(palette)}H{n * n}B", first, len(palette), *palette, *entries)
        entries = [struct.pack("<II2sHI", strings.place(name), strings.place(code), country.encode(), parent,
                               *(kind or (0,)))
                   for name, code, country, parent, *kind in labels]
        assert len(labels) < NONE
        sections = [
            struct.pack(f"<{len(degrees)}I", *degrees), bytes(blocks), struct.pack(f"<{len(offsets)}I", *offsets),
            bytes(shapes), b"".join(entries), bytes(strings.bytes)]
        size = 64
        for section in sections:
            size = -(-size // 64) * 64 + len(section)
        out = bytearray(struct.pack(
            "<8sIIQIIIIII16x", b"TILING\r\n", VERSION, n, size, len(blocks), len(offsets), len(shapes), len(labels),
            len(strings.bytes), attribution))
        for section in sections:
            out += bytes(-len(out) % 64) + section
        assert len(out) == size
        path.write_bytes(out)


class Written:
    """A tiling as it was written, to ask which countries reach a cell and what is at a point."""

    def __init__(self, content):
        header = struct.unpack_from("<8sIIQIIIIII", content)
        self.per_degree = header[2]
        counts = (180 * 360, header[4], header[5], header[6], header[7], header[8])
        strides = (4, 1, 4, 1, 16, 1)
        end, parts = 64, []
        for count, stride in zip(counts, strides):
            begin = -(-end // 64) * 64
            end = begin + count * stride
            parts.append(content[begin:end])
        self.degrees = struct.unpack(f"<{counts[0]}I", parts[0])
        self.blocks = parts[1]
        self.cells = struct.unpack(f"<{counts[2]}I", parts[2])
        self.shapes = parts[3]
        self.strings = parts[5]
        self.labels = [struct.unpack_from("<II2sHI", parts[4], i * 16) for i in range(counts[4])]
        self.country = [label[2].decode().strip("\0") for label in self.labels]

    def text(self, offset):
        (length,) = struct.unpack_from("<H", self.strings, offset)
        return self.strings[offset + 2:offset + 2 + length].decode("utf-8")

    def content(self, y, x):
        """The candidates of a cell: (label, inverted, rings of (x, y) in steps)."""
        n = self.per_degree
        entry = self.degrees[y // n * 360 + x // n]
        if entry < 0x80000000:
            return [] if entry == 0x7FFFFFFF else [(entry, True, [])]
        at = entry - 0x80000000
        first, palette = struct.unpack_from("<IB", self.blocks, at)
        value = self.blocks[at + 5 + 2 * palette + y % n * n + x % n]
        if value < 0x80:
            (label,) = struct.unpack_from("<H", self.blocks, at + 5 + 2 * value)
            return [] if label == NONE else [(label, True, [])]
        at = self.cells[first + value - 0x80]
        candidates, out = self.shapes[at], []
        at += 1
        for _ in range(candidates):
            label, rings = struct.unpack_from("<HH", self.shapes, at)
            at += 4
            parts = []
            for _ in range(rings & 0x7FFF):
                (count,) = struct.unpack_from("<H", self.shapes, at)
                pairs = [int.from_bytes(self.shapes[at + 2 + 3 * i:at + 5 + 3 * i], "little") for i in range(count)]
                parts.append([(pair & 0xFFF, pair >> 12) for pair in pairs])
                at += 2 + 3 * count
            out.append((label, bool(rings & 0x8000), parts))
        return out

    def countries(self, y, x, side):
        """The countries in a square of cells."""
        faces = {label for row in range(y, y + side) for column in range(x, x + side)
                 for label, _, _ in self.content(row, column)}
        return {self.country[face] for face in faces} - {""}

    def holding(self, latitude, longitude):
        """The labels that hold a point, in the order they are listed."""
        n = self.per_degree
        column, x = divmod((longitude + 180) % 360 * n, 1)
        row, y = divmod((latitude + 90) * n, 1)
        x, y = x * STEPS, y * STEPS
        found = []
        for label, inside, rings in self.content(int(row), int(column)):
            for ring in rings:
                for (ax, ay), (bx, by) in zip(ring[-1:] + ring[:-1], ring):
                    if (ax > x) != (bx > x) and ay + (x - ax) / (bx - ax) * (by - ay) > y:
                        inside = not inside
            if inside:
                found.append(label)
        return found


def read(path):
    return Written(path.read_bytes())
