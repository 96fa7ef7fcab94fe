"""Stays found by other libraries in the track of VisitBench.swift. Prints {"fixesPerSecond":…,"visits":…}.

    visit_peers.py infostop|scikit-mobility|trackintel FIXES INTERVAL-SECONDS

Each asked for stays of ten minutes within 200 m. What is measured is the CPU time of the detection alone, the table
being in the library's own form.
"""

import json
import sys
import time
import warnings

import numpy as np
import pandas as pd

warnings.filterwarnings("ignore")


def noise(number, salt):
    with np.errstate(over="ignore"):
        z = number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(salt * 0xD1B54A32D192ED03 % 2**64)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        return ((z ^ z >> np.uint64(31)) >> np.uint64(11)) * 2.0**-53


def track(count, interval):
    number = np.arange(count)
    seconds = number * interval
    hour = seconds % 86400 / 3600
    way = np.clip((hour - 7.5) * 2, 0, 1) - np.clip((hour - 17) * 2, 0, 1)
    scatter = np.where((way > 0) & (way < 1), 8.0, 25.0)
    east = way * 10_000 + (noise(number, 1) - 0.5) * scatter
    north = (noise(number, 2) - 0.5) * scatter
    return 1_767_225_600 + seconds, 52 + north / 111_267, 13 + east / 68_678


def infostop_stays(seconds, latitude, longitude):
    from infostop import Infostop

    data = np.column_stack([latitude, longitude, seconds])
    model = Infostop(r1=200, r2=200, min_staying_time=600, max_time_between=86_400)
    began = time.process_time()
    labels = model.fit_predict(data)
    spent = time.process_time() - began
    changes = np.flatnonzero(np.diff(labels)) + 1
    return spent, sum(labels[at] != -1 for at in np.concatenate([[0], changes]))


def skmob_stays(seconds, latitude, longitude):
    import skmob
    from skmob.preprocessing import detection

    frame = pd.DataFrame(
        {"uid": 1, "lat": latitude, "lng": longitude, "datetime": pd.to_datetime(seconds, unit="s")})
    data = skmob.TrajDataFrame(frame)
    began = time.process_time()
    stays = detection.stay_locations(data, minutes_for_a_stop=10, spatial_radius_km=0.2)
    return time.process_time() - began, len(stays)


def trackintel_stays(seconds, latitude, longitude):
    import geopandas
    import trackintel

    frame = geopandas.GeoDataFrame(
        {"user_id": 1, "tracked_at": pd.to_datetime(seconds, unit="s", utc=True)},
        geometry=geopandas.points_from_xy(longitude, latitude), crs="EPSG:4326")
    data = trackintel.Positionfixes(frame)
    began = time.process_time()
    _, stays = data.generate_staypoints(method="sliding", dist_threshold=200, time_threshold=10)
    return time.process_time() - began, len(stays)


peers = {"infostop": infostop_stays, "scikit-mobility": skmob_stays, "trackintel": trackintel_stays}
name, count, interval = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
spent, visits = peers[name](*track(count, interval))
print(json.dumps({"fixesPerSecond": round(count / spent), "visits": int(visits)}, separators=(",", ":")))
