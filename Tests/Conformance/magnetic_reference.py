"""Answers questions about the World Magnetic Model 2025 with PyPI pygeomag: one line in, one line out.

    python magnetic_reference.py < questions > answers

lat lon kilometers-above-the-ellipsoid decimal-year -> declination, north, east, down (degrees and nanoteslas)
"""

import sys

from pygeomag import GeoMag

model = GeoMag(coefficients_file="wmm/WMM_2025.COF")
for line in sys.stdin:
    latitude, longitude, kilometers, year = map(float, line.split())
    field = model.calculate(glat=latitude, glon=longitude, alt=kilometers, time=year)
    print(repr(field.d), repr(field.x), repr(field.y), repr(field.z))
