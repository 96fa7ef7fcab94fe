"""Reads QR codes as a camera would: zxing-cpp, from the picture of the blocks on standard input; prints the text."""
import sys

import numpy
import zxingcpp

SHADES = {"█": (255, 255), "▀": (255, 0), "▄": (0, 255), " ": (0, 0)}
lines = sys.stdin.read().rstrip("\n").split("\n")
rows = []
for line in lines:
    rows.append([SHADES[block][0] for block in line])
    rows.append([SHADES[block][1] for block in line])
picture = numpy.kron(numpy.array(rows, dtype=numpy.uint8), numpy.ones((4, 4), dtype=numpy.uint8))
print("\n".join(code.text for code in zxingcpp.read_barcodes(picture)))
