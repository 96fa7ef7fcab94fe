"""The ledger of a day: what belongs to it, in which zone, in which order; judged by Python's zoneinfo."""
import datetime
import zoneinfo

from browser import expect
from modules import in_modules


def at(zone, text):
    """Unix seconds of a time on the wall."""
    return datetime.datetime.fromisoformat(text).replace(tzinfo=zoneinfo.ZoneInfo(zone)).timestamp()


def visit_of(identifier, zone, arrival, departure, latitude=48.2, longitude=16.35):
    return {"id": identifier, "arrival": at(zone, arrival), "departure": departure and at(zone, departure), "timeZone": zone,
            "latitude": latitude, "longitude": longitude, "horizontalAccuracy": 10, "place": identifier}


def entries(world, date, visits, trips=(), crossings=(), audit=(), now=None, start=0):
    return in_modules(world, """
        const { dayRange, time } = clock;
        const { date, visits, trips, crossings, audit, now, start } = argument;
        const zone = ledger.zoneOfDay(visits, date);
        const range = dayRange(zone, date, start);
        time.mode = 'place';
        const list = ledger.entries({ visits, trips, crossings, audit }, range, now ?? range.to);
        const sums = ledger.totals(list, range, now ?? range.to);
        return { zone, range, sums, list: list.map(entry => ({ kind: entry.kind, id: entry.id, at: entry.at, zone: entry.zone, endZone: entry.endZone, count: entry.count,
            clock: time.clock(entry.at, time.zone(entry.zone)), words: [words.say(entry, { range, zone, now: now ?? range.to })].map(said => [...said.what, ...said.sub, said.how].map(part => part.textContent ?? part).join(' '))[0] })) };
    """, {"date": date, "visits": visits, "trips": list(trips), "crossings": list(crossings), "audit": list(audit), "now": now, "start": start})


def test_a_trip_across_zones_has_both_ends_in_their_own_time(world):
    visits = [visit_of("Vienna", "Europe/Vienna", "2026-11-20T00:00", "2026-11-20T09:30"),
              visit_of("London", "Europe/London", "2026-11-20T10:54", "2026-11-21T09:00", 51.5, -0.1)]
    trip = {"type": "trip", "start": visits[0]["departure"], "end": visits[1]["arrival"], "distanceMeters": 1_281_000, "mode": "flight",
            "confidence": 0.98, "timeZone": "Europe/Vienna"}
    found = entries(world, "2026-11-20", visits, [trip])
    flight = next(entry for entry in found["list"] if entry["kind"] == "trip")
    expect([entry["clock"] for entry in found["list"]] == ["01:00", "09:30", "10:54"], f"{found['list']}")
    expect("09:30 Europe/Vienna +01:00" in flight["words"] and "10:54 Europe/London +00:00" in flight["words"], flight["words"])


def test_a_day_that_is_lived_twice_at_the_date_line_is_the_one_of_its_zone(world):
    visits = [visit_of("Auckland", "Pacific/Auckland", "2026-11-19T20:00", "2026-11-20T22:00", -36.8, 174.7),
              visit_of("Honolulu", "Pacific/Honolulu", "2026-11-20T09:00", "2026-11-23T09:00", 21.3, -157.8)]
    found = entries(world, "2026-11-20", visits)
    expect(found["zone"] == "Pacific/Auckland" or found["zone"] == "Pacific/Honolulu", found["zone"])
    expect(found["range"]["from"] == at(found["zone"], "2026-11-20T00:00") and found["range"]["to"] == at(found["zone"], "2026-11-21T00:00"), f"{found['range']}")
    later = entries(world, "2026-11-22", visits)
    expect(later["zone"] == "Pacific/Honolulu" and [entry["id"] for entry in later["list"]] == ["Honolulu"], f"{later}")


def test_a_visit_over_midnight_belongs_to_both_days(world):
    visits = [visit_of("Home", "Europe/Vienna", "2026-05-04T22:00", "2026-05-05T07:00")]
    for date, clock in (("2026-05-04", "22:00"), ("2026-05-05", "00:00")):
        found = entries(world, date, visits)
        expect([entry["clock"] for entry in found["list"]] == [clock], f"{date}: {found['list']}")
    expect(entries(world, "2026-05-06", visits)["list"] == [], "A visit belongs to a day after it.")


def test_a_day_of_23_or_25_hours_is_as_long_as_it_is(world):
    for zone, date, hours in (("Europe/Vienna", "2026-03-29", 23), ("Europe/Vienna", "2026-10-25", 25), ("America/New_York", "2026-03-08", 23),
                              ("America/New_York", "2026-11-01", 25), ("Australia/Lord_Howe", "2026-04-05", 24.5), ("Asia/Tokyo", "2026-03-29", 24)):
        day = datetime.date.fromisoformat(date)
        visits = [visit_of("Home", zone, f"{day - datetime.timedelta(days=1)}T12:00", f"{day + datetime.timedelta(days=1)}T12:00")]
        found = entries(world, date, visits)
        expect(found["range"]["to"] - found["range"]["from"] == hours * 3600, f"{zone} {date}: {found['range']}")
        expect(found["sums"]["visit"] == hours * 3600, f"{zone} {date}: {found['sums']}")


def test_a_day_may_begin_at_four(world):
    cases = []
    for zone in ("Europe/Vienna", "America/New_York", "Pacific/Auckland", "Asia/Kathmandu"):
        for day in ("2026-03-29", "2026-10-25", "2026-11-01", "2026-03-08", "2026-07-15"):
            for clock, back in (("03:59", 1), ("04:00", 0), ("23:59", 0), ("00:00", 1)):
                date = datetime.date.fromisoformat(day) - datetime.timedelta(days=back)
                cases.append({"zone": zone, "at": at(zone, f"{day}T{clock}"), "date": str(date)})
    found = in_modules(world, "return argument.map(one => clock.dateOf(one.zone, one.at, 240));", cases)
    wrong = [f"{case} is {got}" for case, got in zip(cases, found) if got != case["date"]]
    expect(len(cases) == 80 and not wrong, f"{len(wrong)} wrong: {wrong[:5]}")


def test_reads_of_one_asker_within_an_hour_are_one_entry_with_a_count(world):
    visits = [visit_of("Home", "Europe/Vienna", "2026-05-04T00:00", "2026-05-05T00:00")]
    read = {"kind": "read", "reader": "friend", "question": "location", "verdict": "granted", "precision": "city", "count": 1}
    times = ["09:00", "09:20", "09:50", "10:40", "13:00"]
    audit = [{**read, "number": f"r{index}", "at": at("Europe/Vienna", f"2026-05-04T{time}")} for index, time in enumerate(times)]
    audit += [{**read, "number": "own", "reader": "walker", "verdict": "own", "at": audit[0]["at"]}]
    audit += [{"kind": "change", "number": "c", "at": audit[0]["at"], "actor": "walker", "event": "GrantIssued"}]
    found = [(entry["clock"], entry["count"]) for entry in entries(world, "2026-05-04", visits, audit=audit)["list"] if entry["kind"] == "ask"]
    expect(found == [("09:00", 4), ("13:00", 1)], f"{found}")


def test_dates_that_do_not_exist_are_no_dates(world):
    found = in_modules(world, "return argument.map(clock.isDate);", ["2026-02-29", "2024-02-29", "2026-13-01", "2026-1-1", "today", "", "2026-12-31"])
    expect(found == [False, True, False, False, False, False, True], f"{found}")
