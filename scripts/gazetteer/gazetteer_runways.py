"""The runways of large airports. The area of such an airport follows its runways, because a circle around the reference
point misses terminals several kilometers away. Used by scripts/gazetteer/build.

The ends, latitude and longitude in degrees, come from aeronautical publications and are good to about 300 m, which is enough
for the margin around them. `lines` checks the length of each runway, and its distance from airportsdata's reference point.
"""

import math

# One runway per entry: the airport's IATA code, then latitude and longitude of both ends.
RUNWAYS = """
AMS 52.3626 4.7118 52.3286 4.7089; AMS 52.2891 4.7372 52.3046 4.7776; AMS 52.3166 4.7463 52.3186 4.7970
AMS 52.3314 4.7400 52.3018 4.7375; AMS 52.3213 4.7802 52.2908 4.7774
ARN 59.6370 17.9131 59.6664 17.9235; ARN 59.6263 17.9507 59.6485 17.9590
ATL 33.6495 -84.4390 33.6495 -84.4095; ATL 33.6347 -84.4480 33.6347 -84.4088; ATL 33.6203 -84.4479 33.6203 -84.4183
BCN 41.2930 2.0660 41.3056 2.1033; BCN 41.2826 2.0744 41.2917 2.1031
BER 52.3722 13.4742 52.3797 13.5234; BER 52.3455 13.5000 52.3541 13.5570
BRU 50.8985 4.4553 50.9038 4.5032; BRU 50.8874 4.4878 50.8993 4.5254
CDG 49.0247 2.5249 49.0267 2.5617; CDG 49.0206 2.5130 49.0236 2.5701; CDG 48.9957 2.5527 48.9987 2.6103
CDG 48.9927 2.5656 48.9948 2.6024
DEN 39.8955 -104.6870 39.8625 -104.6870; DEN 39.8650 -104.6412 39.8319 -104.6412
DEN 39.8610 -104.6602 39.8280 -104.6602; DEN 39.8409 -104.7269 39.8409 -104.6842; DEN 39.8776 -104.6622 39.8777 -104.6196
DFW 32.9157 -97.0260 32.8783 -97.0260; DFW 32.9157 -97.0548 32.8788 -97.0546
DXB 25.2668 55.3445 25.2436 55.3820
FCO 41.8464 12.2613 41.8120 12.2750; FCO 41.8480 12.2280 41.8118 12.2466
FRA 50.0326 8.5346 50.0451 8.5870; FRA 50.0275 8.5342 50.0401 8.5866; FRA 50.0371 8.4971 50.0457 8.5337
FRA 50.0343 8.5260 49.9985 8.5263
HKG 22.3105 113.8970 22.3217 113.9317; HKG 22.2960 113.8990 22.3076 113.9330
JFK 40.6482 -73.8167 40.6277 -73.7716; JFK 40.6220 -73.7856 40.6505 -73.7633; JFK 40.6577 -73.7902 40.6437 -73.7594
LAX 33.9491 -118.4312 33.9521 -118.4019; LAX 33.9358 -118.4193 33.9399 -118.3797
LGW 51.1457 -0.2110 51.1507 -0.1661
LHR 51.4775 -0.4850 51.4777 -0.4333; LHR 51.4648 -0.4823 51.4650 -0.4341
MAD 40.4985 -3.5746 40.5345 -3.5748
MAN 53.3461 -2.2928 53.3630 -2.2571
MUC 48.3628 11.7676 48.3667 11.8213; MUC 48.3407 11.7511 48.3447 11.8046
MXP 45.6485 8.7236 45.6148 8.7309
NRT 35.7743 140.3682 35.7424 140.3907
ORD 41.9690 -87.9314 41.9690 -87.8837; ORD 41.9838 -87.9283 41.9838 -87.8877; ORD 41.9657 -87.9315 41.9658 -87.8917
OSL 60.1853 11.0737 60.2162 11.0918; OSL 60.1758 11.1078 60.2014 11.1227
PEK 40.0955 116.5693 40.0663 116.5718; PEK 40.1000 116.5935 40.0660 116.5957; PEK 40.0720 116.6150 40.1060 116.6127
SEA 47.4638 -122.3078 47.4312 -122.3081
SIN 1.3341 103.9785 1.3683 103.9930
STN 51.8771 0.2229 51.8949 0.2501
VIE 48.1228 16.5333 48.1090 16.5756; VIE 48.1197 16.5782 48.0886 16.5913
ZRH 47.4757 8.5360 47.4450 8.5565; ZRH 47.4820 8.5360 47.4614 8.5644; ZRH 47.4592 8.5375 47.4567 8.5702
"""
MARGIN_METERS = 1300  # terminals are this near to a runway
LENGTH_METERS = (1200, 5500)
OFF_METERS = 6000  # from the reference point to the middle of a runway, at most
METERS_PER_DEGREE = 111_200


def meters(one, other):
    east = (other[1] - one[1]) * math.cos(math.radians(one[0]))
    return math.hypot(other[0] - one[0], east) * METERS_PER_DEGREE


def lines(references):
    """The runways of each airport, as pairs of ends by the airport's index in `references`, a list of (IATA code, reference
    point). Exits if a runway is implausible."""
    out = {}
    for entry in RUNWAYS.replace("\n", ";").split(";"):
        if not entry.strip():
            continue
        code, *numbers = entry.split()
        south, west, north, east = map(float, numbers)
        ends = (south, west), (north, east)
        middle = (south + north) / 2, (west + east) / 2
        # A code may occur twice, the second time for a closed field.
        off, number = min((meters(middle, point), number) for number, (other, point) in enumerate(references) if other == code)
        if not LENGTH_METERS[0] <= meters(*ends) <= LENGTH_METERS[1] or off > OFF_METERS:
            raise SystemExit(f"A runway of {code} is {meters(*ends):.0f} m long and {off:.0f} m off.")
        out.setdefault(number, []).append(ends)
    return out
