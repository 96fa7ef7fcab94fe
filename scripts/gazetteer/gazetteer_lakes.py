"""The names of the world's lakes that regions.gazetteer knows, with a place near the middle of each; used by
scripts/gazetteer/build, because the outlines come without names.

The names are the usual English ones. The place is in degrees, (latitude, longitude), good to about a tenth of the lake.
"""

import struct

import numpy

NAMES = """
Lake Superior 47.73 -88.24; Lake Victoria -1.26 33.23; Lake Huron 44.69 -82.22; Lake Michigan 43.87 -86.41; Lake
Tanganyika -6.07 30.12; Lake Baikal 53.63 106.83; Great Bear Lake 65.93 -121.29; Lake Malawi -11.94 34.59; Great Slave
Lake 61.82 -113.69; Lake Erie 42.25 -81.17; Lake Winnipeg 52.4 -97.76; Lake Ontario 43.85 -77.77; Lake Balkhash 45.91
76.34; Lake Ladoga 60.84 31.38; Georgian Bay 45.25 -80.69; Lake Onega 61.89 35.19; Lake Saimaa 62.33 28.45; Sobradinho
Reservoir -10.14 -42.02; Lake Eyre -28.48 137.42; Lake Titicaca -15.92 -69.31; Lake Athabasca 59.05 -108.67; Lake
Volta 7.73 -0.69; Lake Nicaragua 11.57 -85.35; Lake Turkana 3.53 36.27; Smallwood Reservoir 54.28 -64.88; Reindeer
Lake 57.21 -102.42; Issyk-Kul 42.45 77.26; Kuybyshev Reservoir 54.57 50.18; Lake Vänern 58.88 13.21; Nettilling Lake
66.5 -70.32; Lake Albert 1.71 30.93; Lake Winnipegosis 52.38 -100.36; Lake Torrens -31.05 137.67; Lake Mweru -9.01
28.73; Lake Manitoba 51.0 -98.75; Lake Kariba -17.23 28.01; Rybinsk Reservoir 58.62 38.08; Lake Taymyr 74.5 102.46;
Lake Nipigon 49.83 -88.56; Qinghai Lake 36.88 100.19; Lake of the Woods 49.42 -94.67; Vilyuy Reservoir 62.7 111.02;
Lake Urmia 37.7 45.46; Lake Gairdner -31.71 135.86; Lake Päijänne 62.09 26.16; Lake Zaysan 48.73 83.78; Great Salt
Lake 41.18 -112.48; Bratsk Reservoir 54.74 102.47; Lake Khanka 44.93 132.41; Lagoa Mirim -32.88 -53.12; Dubawnt Lake
63.12 -101.4; Sarygamysh Lake 41.94 57.46; North Channel 46.05 -82.86; Tucuruí Reservoir -4.6 -49.42; Lake Mackay
-22.33 128.78; Lake Nasser 22.8 32.08; Lake Van 38.66 42.98; Aral Sea 46.43 60.75; Aral Sea 45.21 58.77; Uvs Lake
50.34 92.82; Zeya Reservoir 54.31 128.1; Lake Tana 11.97 37.29; Amadjuak Lake 65.0 -71.21; Tsimlyansk Reservoir 48.52
43.07; Cedar Lake 53.34 -100.13; Robert-Bourassa Reservoir 53.84 -76.87; Saginaw Bay 43.99 -83.48; Alakol 46.12 81.76;
Lake Mistassini 50.72 -73.42; Lake Khövsgöl 51.04 100.48; Lake Peipus 58.62 27.39; Iliamna Lake 59.56 -154.91; Lake
Frome -30.7 139.77; Tonle Sap 12.82 104.15; Lac La Loche 56.17 -108.62; Lake Tai 31.23 120.25; Itaipu Reservoir -24.75
-54.5; Lake Kivu -2.03 29.1; Wollaston Lake 58.12 -103.32; Nueltin Lake 60.23 -99.47; Lake Kossou 7.52 -5.57; Southern
Indian Lake 57.16 -98.86; Hongze Lake 33.26 118.32; Hulun Lake 48.96 117.52; La Grande 3 Reservoir 53.68 -75.29; Lake
Edward -0.38 29.61; Aydar Lake 40.78 67.09; Lake Bangweulu -11.14 29.76; Mar Chiquita -30.73 -62.62; Lake Barlee
-29.23 119.54; Manicouagan Reservoir 51.34 -68.76; Poyang Lake 29.26 116.31; Kakhovka Reservoir 47.34 34.43; Kama
Reservoir 58.8 56.24; Lake Chany 54.83 77.39; Lake Mai-Ndombe -2.14 18.32; IJsselmeer 52.67 5.42; Lake Rukwa -7.84
32.16; Lake Vättern 58.33 14.54; Whitefish Bay 46.72 -84.71; Artillery Lake 62.67 -110.3; Lake Oahe 45.58 -100.73;
Kremenchuk Reservoir 49.29 32.55; Lake General Carrera -46.65 -72.04; Namtso 30.72 90.65; Furnas Reservoir -21.03
-45.76; Brokopondo Reservoir 4.73 -55.08; Lake Argyle -16.43 128.77; Baker Lake 64.13 -95.26; Lake Mälaren 59.52
17.06; Lake Kyoga 1.49 33.02; Volgograd Reservoir 51.04 46.21; Gouin Reservoir 48.54 -74.74; Williston Lake 55.96
-123.5; Krasnoyarsk Reservoir 54.62 91.74; Lake Sakakawea 47.82 -102.46; Lake Inari 69.07 27.92; Lake Okeechobee 26.94
-80.8; Siling Lake 31.75 88.95; Rincón del Bonete Lake -32.7 -56.14; Lake Tuz 38.82 33.44; Lake Poopó -18.61 -67.07;
Cahora Bassa -15.69 31.75; Lake Tharthar 34.02 43.28; Khar-Us Lake 48.06 92.39; Lake Khantayka 68.07 88.22; Lac Seul
50.45 -92.31; Yathkyed Lake 62.7 -97.89; Cree Lake 57.47 -106.61; Lake Claire 58.56 -112.08; Contwoyto Lake 65.43
-110.49; Lake Argentino -50.32 -72.65; Lac la Ronge 55.12 -104.82; Lake Razazah 32.81 43.65; Lake Tengiz 50.45 69.15;
Topozero 66.7 31.78; Lake Sevan 40.38 45.31; Três Marias Reservoir -18.62 -45.2; Khyargas Lake 49.15 93.31; Vygozero
63.39 34.84; Ust-Ilimsk Reservoir 57.46 102.92; Lake Chad 13.06 14.51; Lake Champlain 44.42 -73.27; Guri Reservoir
7.29 -62.87; Kainji Lake 10.25 4.51; Cheboksary Reservoir 56.26 46.33; Oulujärvi 64.33 27.48; Lesser Slave Lake 55.45
-115.49; Gorky Reservoir 57.17 43.14; Rainy Lake 48.65 -93.03; Becharof Lake 57.86 -156.42; Pielinen 63.16 29.67; Lake
Toba 2.61 98.83; Lake Saint Clair 42.5 -82.74; Lake Abaya 6.31 37.92; Island Lake 53.85 -94.48; Votkinsk Reservoir
57.32 54.84; Lake Beloye 60.2 37.63; Novosibirsk Reservoir 54.37 82.25; Lake Viedma -49.59 -72.57; Lake Eyasi -3.57
35.04; Point Lake 65.32 -113.32; Lake Amadeus -24.75 130.9; Näsijärvi 61.76 24.05; Lake Saint-Jean 48.6 -72.06; Lake
Pyasino 69.79 87.75; Lake O'Higgins -48.78 -72.7; Lake Managua 12.33 -86.34; Fort Peck Lake 47.69 -107.2; Lake Chapala
20.22 -103.06; Lake Abitibi 48.7 -79.7; Bosten Lake 41.98 87.06; Imandra 67.74 32.45; Kapchagay Reservoir 43.85 77.64;
Nizhnekamsk Reservoir 55.86 52.99; Laguna de Bay 14.35 121.27; Lake Nipissing 46.25 -79.92; Lake Ilmen 58.32 31.28;
Segozero 63.35 33.69; Lake Llanquihue -41.13 -72.81; Gaoyou Lake 32.95 119.13; Salton Sea 33.32 -115.83; Lake Powell
37.42 -110.96; Lake Pskov 58.05 27.82; Toledo Bend Reservoir 31.58 -93.82; Chao Lake 31.58 117.62; Lake Geneva 46.43
6.52; Lake Constance 47.62 9.38; Lake Garda 45.62 10.67; Lake Balaton 46.85 17.75; Lake Maggiore 45.95 8.65; Mjøsa
60.7 11.0; Loch Ness 57.3 -4.45; Lough Neagh 54.62 -6.4; Lake Ohrid 41.03 20.72; Lake Prespa 40.88 21.02; Lake Skadar
42.18 19.3; Dead Sea 31.5 35.48; Sea of Galilee 32.82 35.59; Müritz 53.42 12.7; Lake Hjälmaren 59.23 15.77; Storsjön
63.2 14.3; Lake Siljan 60.85 14.75; Lough Derg 52.95 -8.33; Lough Erne 54.45 -7.8; Lake Taupo -38.8 175.9; Lake Te
Anau -45.2 167.8; Lake Wakatipu -45.05 168.5; Lake Biwa 35.25 136.08; Lake Tahoe 39.1 -120.03; Lake Simcoe 44.43
-79.35; Lake Winnebago 44.02 -88.42; Flathead Lake 47.9 -114.1; Yellowstone Lake 44.45 -110.37; Lake Mead 36.2 -114.4;
Lake Izabal 15.57 -89.13; Lake Beyşehir 37.75 31.5; Lake Eğirdir 38.05 30.87; Lake Natron -2.4 36.0; Lake Manyara -3.6
35.82; Lake Malombe -14.62 35.2; Lake Tumba -0.8 18.0; Lake Upemba -8.6 26.4; Lake Nahuel Huapi -40.95 -71.5; Yamdrok
Lake 28.95 90.7; Dongting Lake 29.1 112.8; Weishan Lake 34.65 117.25; Lake Murray -7.0 141.5; Moosehead Lake 45.65
-69.65; Seneca Lake 42.65 -76.9; Cayuga Lake 42.7 -76.7; Lake Winnipesaukee 43.6 -71.32; Leech Lake 47.15 -94.4; Lake
Mille Lacs 46.23 -93.65; Red Lake 48.0 -94.9; Pyramid Lake 40.05 -119.55; Utah Lake 40.2 -111.8; Bear Lake 42.0
-111.33; Teshekpuk Lake 70.6 -153.6; Lake Clark 60.25 -154.25; Kluane Lake 61.25 -138.7; Teslin Lake 60.0 -132.4;
Dauphin Lake 51.28 -99.77; Lake Saint Martin 51.6 -98.5; Gods Lake 54.63 -94.2; Lake Assal 11.65 42.4; Lake Chamo 5.85
37.55; Lake Habbaniyah 33.3 43.45; Teletskoye 51.6 87.65; Lake Lama 69.55 90.2; Kulunda 53.0 79.55; Khar Lake 48.05
93.2; Pangong Tso 33.75 78.7
"""
# Other names of the lakes, mostly the local ones.
ALSO = {"Lake Constance": ["Bodensee"], "Lake Geneva": ["Lac Léman", "Genfersee", "Genfer See"],
        "Lake Garda": ["Lago di Garda", "Gardasee"], "Lake Maggiore": ["Lago Maggiore"], "Lake Balaton": ["Balaton", "Plattensee"],
        "Lake Neusiedl": ["Neusiedler See"], "Lake Saimaa": ["Saimaa"], "Lake Vänern": ["Vänern"], "Lake Vättern": ["Vättern"],
        "Lake Mälaren": ["Mälaren"], "Lake Baikal": ["Baikal", "Озеро Байкал", "Байкал"], "Lake Ladoga": ["Ладожское озеро"],
        "Lake Onega": ["Онежское озеро"], "Lake Titicaca": ["Lago Titicaca"], "Lake Biwa": ["琵琶湖", "Biwako"],
        "Lake Tai": ["太湖", "Taihu"], "Qinghai Lake": ["青海湖"], "Sea of Galilee": ["Lake Tiberias", "Kinneret"],
        "Lake Van": ["Van Gölü"], "Lake Ohrid": ["Охридско Езеро"], "IJsselmeer": ["Lake IJssel"]}
WITHIN = 0.35  # degrees between the middle of an outline and the place of its name


def places():
    """(name, latitude, longitude, other names) of each lake; of several places with one name, the first."""
    found = {}
    for entry in NAMES.replace("\n", " ").split(";"):
        *words, latitude, longitude = entry.split()
        name = " ".join(words)
        found.setdefault(name, (name, float(latitude), float(longitude), ALSO.get(name, [])))
    return list(found.values())


def named(content):
    """(name, rings in 1e-7 degrees) of the lakes that have a name, from a shapefile's bytes."""
    outlines = []
    at = 100
    while at < len(content):
        length = struct.unpack_from(">i", content, at + 4)[0]
        kind, west, south, east, north, parts, count = struct.unpack_from("<i4d2i", content, at + 8)
        assert kind == 5
        begins = [*struct.unpack_from(f"<{parts}i", content, at + 52), count]
        points = numpy.frombuffer(content, "<f8", 2 * count, at + 52 + 4 * parts).reshape(count, 2)
        rings = [numpy.rint(points[first:last] * 1e7).astype(numpy.int64)[:-1] for first, last in zip(begins, begins[1:])]
        outlines.append((((south + north) / 2, (west + east) / 2), (east - west) * (north - south), rings))
        at += 8 + 2 * length
    found = {}
    for entry in NAMES.replace("\n", " ").split(";"):
        *words, latitude, longitude = entry.split()
        place = float(latitude), float(longitude)

        def distance(number):
            middle, size, _ = outlines[number]
            # Of two near one another the larger bears the name.
            return max(abs(middle[0] - place[0]), abs(middle[1] - place[1])) / max(size, 1e-9) ** 0.5

        near = [number for number, (middle, _, _) in enumerate(outlines)
                if max(abs(middle[0] - place[0]), abs(middle[1] - place[1])) <= WITHIN]
        if near:
            found.setdefault(min(near, key=distance), " ".join(words))
    return [(name, outlines[number][2]) for number, name in sorted(found.items())]
