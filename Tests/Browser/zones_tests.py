"""Local days and times as the page computes them, judged by Python's zoneinfo: daylight saving, date line, half hours."""
import datetime
import zoneinfo

from browser import expect

# Zone, date: both changes of the clocks, zones that skip a day or half an hour, the date line, and ordinary days.
DAYS = [
    *[(zone, date) for zone in ("Europe/Vienna", "America/New_York", "Australia/Lord_Howe", "Pacific/Auckland", "America/Sao_Paulo", "Africa/Tunis")
      for date in ("2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-07-15")],
    ("Pacific/Apia", "2011-12-29"), ("Pacific/Apia", "2011-12-31"), ("Pacific/Kiritimati", "2026-01-01"), ("Asia/Kathmandu", "2026-05-04"),
    ("Asia/Tehran", "2022-03-22"), ("Pacific/Chatham", "2026-09-27"), ("America/St_Johns", "2026-03-08"), ("UTC", "2026-02-28"),
    ("Africa/Cairo", "2026-04-24"), ("America/Havana", "2026-03-08"), ("Asia/Beirut", "2022-03-27"), ("America/Asuncion", "2022-10-02"),
]


def start_of(zone, date):
    """The first instant of a local day, in seconds: midnight, or the end of the gap that midnight fell into."""
    midnight = datetime.datetime.combine(date, datetime.time(), zone)
    instant = midnight.timestamp()
    while datetime.datetime.fromtimestamp(instant, zone).date() < date:
        instant += 60
    # `fold` 0 of a midnight in a gap is before it by the offset of the other side.
    while datetime.datetime.fromtimestamp(instant - 60, zone).date() == date:
        instant -= 60
    return instant


def test_local_days_begin_and_end_where_they_do(world):
    cases = []
    for name, text in DAYS:
        zone, date = zoneinfo.ZoneInfo(name), datetime.date.fromisoformat(text)
        begin, end = start_of(zone, date), start_of(zone, date + datetime.timedelta(days=1))
        noon = datetime.datetime.combine(date, datetime.time(12, 34), zone)
        cases.append({"zone": name, "date": text, "from": begin, "to": end, "noon": noon.timestamp(), "clock": "12:34"})
    with world.visit("walker") as visit:
        visit.open("audit")
        found = visit.page.evaluate("""async cases => {
            const { dateOf, dayRange, time } = await import('/assets/time.js');
            return cases.map(one => ({ ...dayRange(one.zone, one.date), day: dateOf(one.zone, one.noon), first: dateOf(one.zone, one.from), last: dateOf(one.zone, one.to - 1), clock: time.clock(one.noon, one.zone) }));
        }""", cases)
    wrong = [f"{case['zone']} {case['date']}: {case['from']:.0f} to {case['to']:.0f}, and the page has {got}" for case, got in zip(cases, found)
             if (got["from"], got["to"], got["day"], got["first"], got["last"], got["clock"]) != (case["from"], case["to"], case["date"], case["date"], case["date"], case["clock"])]
    expect(len(cases) >= 40 and not wrong, "\n    ".join([f"{len(wrong)} of {len(cases)} local days are wrong:", *wrong]))
