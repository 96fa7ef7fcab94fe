"""The operator's own map: imported by the tool from both kinds of files, served by the service alone, under its attribution."""
import gzip
import json
import sqlite3
import struct
import subprocess
import zlib

from browser import expect
from house import TOOL

# Tiles of zoom 12 around Vienna's center, as OpenStreetMap counts them.
ZOOM, COLUMNS, ROWS = 12, range(2230, 2238), range(1416, 1424)
GREEN = (40, 160, 60)


def png(color, size=256):
    """A picture of one color (ISO/IEC 15948)."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    rows = (b"\0" + bytes(color) * size) * size
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def mbtiles(path, tiles, attribution):
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE metadata (name TEXT, value TEXT)")
        file.execute("CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB)")
        file.execute("INSERT INTO metadata VALUES ('attribution', ?)", [attribution])
        file.executemany("INSERT INTO tiles VALUES (?, ?, ?, ?)", [(zoom, x, 2 ** zoom - 1 - y, picture) for zoom, x, y, picture in tiles])
    file.close()


def number(zoom, x, y):
    """The number of a square on the curve (PMTiles 3, section 4.1.1)."""
    found, size = sum(4 ** one for one in range(zoom)), 1 << zoom >> 1
    while size:
        across, along = int(bool(x & size)), int(bool(y & size))
        found += size * size * ((3 * across) ^ along)
        if not along:
            if across:
                x, y = size - 1 - x, size - 1 - y
            x, y = y, x
        x, y, size = x & (size - 1), y & (size - 1), size // 2
    return found


def pmtiles(path, tiles, attribution, kind=2):
    def varint(value):
        out = b""
        while value > 127:
            out, value = out + bytes([value & 127 | 128]), value >> 7
        return out + bytes([value])
    entries = sorted((number(zoom, x, y), picture) for zoom, x, y, picture in tiles)
    data, directory, last = b"", [], 0
    for identity, picture in entries:
        directory.append((identity - last, 1, len(picture), len(data) + 1))
        data, last = data + picture, identity
    root = gzip.compress(varint(len(directory)) + b"".join(varint(entry[column]) for column in range(4) for entry in directory))
    about = gzip.compress(json.dumps({"attribution": attribution}).encode())
    head = b"PMTiles\x03" + struct.pack("<QQQQQQQQ", 127, len(root), 127 + len(root), len(about), 0, 0, 127 + len(root) + len(about), len(data))
    head += struct.pack("<QQQ", len(entries), len(entries), len(entries)) + bytes([1, 2, 1, kind, ZOOM, ZOOM]) + bytes(25)
    path.write_bytes(head + root + about + data)


def test_an_imported_map_is_shown_under_its_attribution(world):
    house = world.house
    tiles = [(ZOOM, x, y, png(GREEN)) for x in COLUMNS for y in ROWS]
    for name, write in (("map.mbtiles", mbtiles), ("map.pmtiles", pmtiles)):
        file = house.folder / name
        write(file, tiles, '<a href="https://maps.example">Maps &amp; Sons</a> <img src=x>')
        said = house.tool("basemap", "import", str(file))
        expect("64 tiles of zoom 12 to 12" in said and "Maps & Sons" in said, said)
        with world.visit("walker") as visit:
            asked = []
            visit.page.on("response", lambda answer: "/tiles/" in answer.url and asked.append(answer.status))
            visit.open("regions")
            visit.has(".leaflet-tile-loaded")
            expect(visit.page.locator(".leaflet-control-attribution").inner_text().endswith("Maps & Sons"), visit.page.locator(".leaflet-control-attribution").inner_text())
            expect(visit.page.locator(".leaflet-control-attribution img").count() == 0, "an attribution is markup")
            visit.page.wait_for_load_state("networkidle")
            color = visit.page.evaluate("""() => {
                const context = new OffscreenCanvas(1, 1).getContext('2d');
                context.drawImage([...document.querySelectorAll('.leaflet-tile-loaded')].find(one => one.naturalWidth === 256), 0, 0, 1, 1);
                return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
            }""")
            expect(color == list(GREEN), f"the tile has the color {color}")
            expect(asked and set(asked) == {200}, f"tiles were answered {asked}")
            visit.must_be_quiet(name)
    expect("removed" in house.tool("basemap", "remove"), "the map is removed")
    with world.visit("walker") as visit:
        visit.open("regions")
        visit.has(".leaflet-container")
        expect(visit.page.locator(".leaflet-tile").count() == 0, "a removed map is shown")
        visit.must_be_quiet("removed")


def test_files_without_pictures_are_refused(world):
    house = world.house
    vectors, none = house.folder / "vector.pmtiles", house.folder / "none.mbtiles"
    pmtiles(vectors, [(ZOOM, 2234, 1420, gzip.compress(b"\x1a\x00"))], "", kind=1)
    mbtiles(none, [(ZOOM, 2234, 1420, gzip.compress(b"\x1a\x00"))], "")
    (house.folder / "text.pmtiles").write_text("PMTiles is a format")
    for file, words in ((vectors, "vector tiles"), (none, "no PNG, JPEG or WebP"), (house.folder / "text.pmtiles", "no PMTiles"), (house.folder / "absent", "cannot be read")):
        done = subprocess.run([TOOL, "--data", str(house.data), "basemap", "import", str(file)], capture_output=True, text=True)
        expect(done.returncode == 3 and words in done.stderr, f"{file.name}: {done.returncode} {done.stderr}")
    expect(not (house.data / "basemap.sqlite").exists() and not (house.data / "basemap.sqlite.new").exists(), "a refused file leaves something behind")
