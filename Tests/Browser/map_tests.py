"""The map's geometry and the basemap's cells, judged by the formulas and by a second reader of the file."""
import gzip
import json
import math
import struct

from browser import expect
from house import ROOT
from modules import in_modules


def cells():
    """The cells of data/basemap.cells: band and cell with their content, and the index."""
    data = (ROOT / "data/basemap.cells").read_bytes()
    expect(data[:8] == b"WHBMAP1\n", "The file does not begin as it must.")
    length, count = struct.unpack_from("<II", data, 8)
    index = json.loads(data[16:16 + length])
    table = [struct.unpack_from("<HHII", data, 16 + length + 12 * number) for number in range(count)]
    return index, {(band, cell): (gzip.decompress(data[offset:offset + size]), size) for band, cell, offset, size in table}


def decoded(content):
    """The layers of a cell, read by other code than the page's."""
    numbers, value, shift = [], 0, 0
    for byte in content:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(value)
            value = shift = 0
    numbers, layers = iter(numbers), []
    for _ in range(5):
        x = y = 0
        layer = []
        for _ in range(next(numbers)):
            path = []
            for _ in range(next(numbers)):
                across, up = next(numbers), next(numbers)
                x, y = x + (across >> 1 ^ -(across & 1)), y + (up >> 1 ^ -(up & 1))
                path.append((x, y))
            layer.append(path)
        layers.append(layer)
    expect(next(numbers, None) is None, "A cell has more than five layers.")
    return layers


def is_inside(rings, x, y):
    """The even-odd rule."""
    crossed = 0
    for ring in rings:
        for (x1, y1), (x2, y2) in zip(ring, ring[1:] + ring[:1]):
            if (y1 > y) != (y2 > y) and x < x1 + (y - y1) / (y2 - y1) * (x2 - x1):
                crossed += 1
    return crossed % 2 == 1


def test_places_are_where_web_mercator_has_them(world):
    places = [(48.2, 16.35), (0, 0), (-33.9, 151.2), (84.9, -179.9), (-84.9, 179.9), (35.68, 139.69)]
    found = in_modules(world, "return argument.map(([latitude, longitude]) => [basemap.worldX(longitude), basemap.worldY(latitude), basemap.longitudeOf(basemap.worldX(longitude)), basemap.latitudeOf(basemap.worldY(latitude))]);", places)
    for (latitude, longitude), (x, y, back_longitude, back_latitude) in zip(places, found):
        want_y = (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2
        expect(abs(x - (longitude + 180) / 360) < 1e-12 and abs(y - want_y) < 1e-12, f"{latitude}, {longitude}: {x}, {y}")
        expect(abs(back_longitude - longitude) < 1e-9 and abs(back_latitude - latitude) < 1e-9, f"{latitude}, {longitude}: back at {back_latitude}, {back_longitude}")


def test_a_track_over_the_date_line_does_not_jump(world):
    found = in_modules(world, """
        const track = map.makeTrack(4);
        for (const [longitude, seconds] of [[179.8, 0], [179.95, 10], [-179.9, 20], [-179.7, 30]]) map.addFix(track, -17, longitude, seconds, 5);
        return { x: [...track.x], first: [5, 10, 31].map(seconds => map.firstAt(track, seconds)), places: map.unwrapped([[-17, 179.8], [-17, -179.9], [-17, 179.9]]) };
    """)
    steps = [b - a for a, b in zip(found["x"], found["x"][1:])]
    expect(all(0 < step < 0.001 for step in steps), f"{found['x']}")
    expect(found["first"] == [1, 1, 4], f"{found['first']}")
    expect([round(longitude, 6) for _, longitude in found["places"]] == [179.8, 180.1, 179.9], f"{found['places']}")


def test_fixes_in_one_square_of_pixels_are_painted_once(world):
    found = in_modules(world, """
        const track = map.makeTrack(100000);
        for (let n = 0; n < 100000; n++) map.addFix(track, 48 + (n % 100) * 1e-5, 16 + Math.floor(n / 1000) * 1e-5, n, 5);
        let painted = 0;
        const view = { scale: 256 * 2 ** 16, width: 800, height: 600 };
        view.left = basemap.worldX(16) * view.scale - 100;
        view.top = basemap.worldY(48) * view.scale - 100;
        map.drawDots({ fillRect: () => { painted++; } }, view, track, 0, 100000);
        return painted;
    """)
    # A ten-thousandth of a degree has 4.7 pixels at zoom 16: 100 × 100 places lie on about 23 × 35 squares of 2 × 2.
    expect(0 < found < 1200, f"{found} squares were painted for 100,000 fixes at 10,000 places.")


def test_the_example_of_the_format_is_read_as_it_is_described(world):
    found = in_modules(world, "return basemap.decode(new Uint8Array(argument)).map(layer => layer.map(path => [...path]));", [1, 3, 0x14, 0x14, 0x28, 0, 0, 0x14, 0, 0, 0, 0])
    expect(found == [[[10, 10, 30, 10, 30, 20]], [], [], [], []], f"{found}")


def test_the_page_reads_cells_as_another_reader_does(world):
    index, every = cells()
    chosen = [(0, 0), *[key for number, key in enumerate(sorted(every)) if number % 200 == 7]]
    found = in_modules(world, "return argument.map(bytes => basemap.decode(new Uint8Array(bytes)).map(layer => layer.map(path => [...path])));", [list(every[key][0]) for key in chosen])
    for key, layers in zip(chosen, found):
        want = [[[one for point in path for one in point] for path in layer] for layer in decoded(every[key][0])]
        expect(layers == want, f"Cell {key} is read differently.")


def test_the_basemap_has_land_and_water_where_they_are(world):
    index, every = cells()
    known = [("Vienna", 48.21, 16.37, True, False), ("Denver", 39.74, -104.99, True, False), ("Nairobi", -1.29, 36.82, True, False),
             ("Viti Levu", -17.8, 178.0, True, False), ("South Pole", -84.0, 10.0, True, False), ("Wrangel Island", 71.2, -179.4, True, False),
             ("Atlantic", 0.0, -30.0, False, False), ("Adriatic", 43.0, 15.0, False, False), ("Lake Victoria", -1.0, 33.0, True, True),
             ("Lake Superior", 47.7, -88.0, True, True)]
    for number, band in enumerate(index["bands"]):
        columns = max(1, 360 // band["degrees"])
        for name, latitude, longitude, land, lake in known:
            column, row = int((longitude + 180) // band["degrees"]) if columns > 1 else 0, int((latitude + 90) // band["degrees"]) if columns > 1 else 0
            layers = decoded(every.get((number, row * columns + column), (bytes(5), 0))[0])
            x = (longitude - (column * band["degrees"] - 180)) / band["step"] + band["margin"] + 0.013
            y = (latitude - (row * band["degrees"] - 90)) / band["step"] + band["margin"] + 0.017
            expect(is_inside(layers[0], x, y) == land, f"{name} is {'no ' if land else ''}land in band {number}.")
            expect(is_inside(layers[1], x, y) == lake, f"{name} is {'no ' if lake else 'a '}lake in band {number}.")


def test_a_view_costs_few_bytes(world):
    index, every = cells()
    sizes = {number: sorted((size for (band, _), (_, size) in every.items() if band == number), reverse=True) for number in range(3)}
    expect(sizes[0][0] <= 60_000, f"The whole world has {sizes[0][0]} bytes.")
    # A window of 1280 × 800 shows at most twelve cells of the finest band, at its first zoom.
    expect(max(sizes[2]) * 3 <= 60_000 and sum(sizes[2]) / len(sizes[2]) * 12 <= 30_000, f"The largest cells have {sizes[2][:3]} bytes.")
