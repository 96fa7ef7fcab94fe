"""The operator's own map: imported by the tool from both kinds of files, served by the service alone, under its attribution."""
import contextlib
import gzip
import http.server
import json
import sqlite3
import struct
import subprocess
import zlib

from browser import expect
from house import TOOL, configured, serving

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


@contextlib.contextmanager
def tile_server():
    """A server of pictures at another origin: its address, and what it was asked."""
    asked = []

    class Pictures(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            picture = png(GREEN)
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(picture)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(picture)

        def log_message(self, *_):
            pass

    with serving(Pictures) as origin:
        yield origin, asked


def pictures_policy(visit, path):
    policy = visit.page.goto(f"{visit.world.url}/{path}").headers["content-security-policy"]
    return next(part.strip() for part in policy.split(";") if part.strip().startswith("img-src"))


def test_pictures_of_a_server_are_loaded_only_if_the_operator_and_the_reader_want_it(world):
    house = world.house
    with world.visit("walker") as visit:
        expect(pictures_policy(visit, "regions") == "img-src 'self' data:", "other origins are allowed by default")
        visit.ready()
        expect(visit.page.locator(".online-tiles").count() == 0, "a map is offered by default")
        visit.must_be_quiet("without a server of pictures")
    with tile_server() as (origin, asked), configured(house, onlineTiles={"address": origin + "/{z}/{x}/{y}.png", "attribution": "© <b>Maps</b> & Sons", "maxZoom": 12}):
        with world.visit("walker") as visit:
            expect(pictures_policy(visit, "regions") == f"img-src 'self' data: {origin}", "the policy")
            visit.ready()
            host = origin.removeprefix("http://")
            visit.has(".online-tiles", host)
            visit.page.wait_for_load_state("networkidle")
            # The server is configured, but nobody has agreed.
            expect(not asked, f"the server was asked {asked[:3]}")
            visit.must_be_quiet("before")
            expect(not world.violations(visit.page), f"{world.violations(visit.page)}")
            visit.page.get_by_role("button", name="Load it").click()
            visit.has(".leaflet-tile-loaded")
            visit.has(".leaflet-control-attribution", "© <b>Maps</b> & Sons")
            visit.page.wait_for_load_state("networkidle")
            expect(asked and visit.strangers and all(url.startswith(origin + "/") for url in visit.strangers), f"{visit.strangers}")
            for path, headers in asked:
                expect(len(path.split("/")) == 4 and int(path.split("/")[1]) <= 12, f"it was asked for {path}")
                expect("referer" not in headers and "cookie" not in headers and "authorization" not in headers, f"it was told {headers}")
            visit.strangers.clear()
            # The choice holds in other views and after a reload, until it is taken back.
            visit.open("regions")
            visit.has(".leaflet-tile-loaded")
            visit.page.get_by_role("button", name="Stop").click()
            visit.page.locator(".leaflet-tile").first.wait_for(state="detached")
            visit.page.wait_for_load_state("networkidle")
            asked.clear()
            visit.strangers.clear()
            visit.open("regions")
            visit.has(".online-tiles", "is available")
            visit.page.wait_for_load_state("networkidle")
            expect(not asked, f"the server is asked {asked[:3]} after it was stopped")
            visit.must_be_quiet("after")
    with world.visit("walker") as visit:
        expect(pictures_policy(visit, "regions") == "img-src 'self' data:", "the server is allowed after it was removed")
