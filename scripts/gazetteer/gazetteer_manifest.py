"""Writes manifest.json beside the files it describes; called by scripts/gazetteer/build."""

import hashlib
import json
import pathlib
import re
import struct
import sys

LICENCES = {
    "airports": "MIT",
    "basemap": "public domain",
    "cities": "CC BY 4.0",
    "names": "CC BY 4.0; names of countries and divisions LGPL 2.1 or later",
    "places": "CC BY 4.0",
    "regions": "public domain; codes and names LGPL 2.1 or later",
    "translations": "CC BY 4.0; names of countries and divisions LGPL 2.1 or later",
    "waters": "CC0 1.0",
    "zones": "ODbL 1.0",
}


def described(path):
    content = path.read_bytes()
    if path.suffix == ".cells":
        return {"file": path.name, "licence": LICENCES[path.stem], "formatVersion": 1, "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(), "cells": struct.unpack_from("<I", content, 12)[0]}
    entry = {"file": path.name, "licence": LICENCES[path.stem],
             "formatVersion": struct.unpack_from("<I", content, 8)[0],
             "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    if content.startswith(b"PLACES"):
        counts = struct.unpack_from("<4I", content, 24)
        return entry | dict(zip(("places", "administrativeAreas", "countries", "timeZones"), counts))
    if content.startswith(b"NAMES"):
        return entry | dict(zip(("blocksOfPlaces", "blocksOfAreas"), struct.unpack_from("<I4xI", content, 36)))
    if content.startswith(b"CIRCLE"):
        return entry | {"circles": struct.unpack_from("<I", content, 12)[0]}
    if content.startswith(b"TRANSL"):
        return entry | dict(zip(("languages", "names"), struct.unpack_from("<I8xI", content, 12)))
    _, cells, shapes, labels = struct.unpack_from("<4I", content, 24)
    return entry | {"labels": labels, "cells": cells, "shapeBytes": shapes}


def main(folder, requirements, *debian):
    lines = pathlib.Path(requirements).read_text("utf-8").splitlines()
    python = [re.fullmatch(r"(\S+)==(\S+) --hash=sha256:(\w+)", line) for line in lines if not line.startswith("#")]
    inputs = [{"package": match[1], "version": match[2], "from": "PyPI", "sha256": match[3]} for match in python]
    for text in debian:
        package, rest = text.split("=", 1)
        version, sha256 = rest.rsplit("=", 1)
        inputs.append({"package": package, "version": version, "from": "Debian 12", "sha256": sha256})
    files = [*pathlib.Path(folder).glob("*.gazetteer"), *pathlib.Path(folder).glob("*.cells")]
    outputs = [described(path) for path in sorted(files)]
    text = json.dumps({"inputs": inputs, "outputs": outputs}, indent=2)
    (pathlib.Path(folder) / "manifest.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
