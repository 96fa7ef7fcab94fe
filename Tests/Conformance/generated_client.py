"""Posts fixes and reads the visit that they make, by the client that openapi-python-client makes of the service's description:
generated_client.py FOLDER URL OPERATOR_TOKEN REPORTING_KEY

FOLDER holds the generated package `whereabouts_client`. The key is that of a device of the person `anna`. Exits with 1 and a
sentence if a step fails. Used by scripts/dev/interface-test.
"""
import sys
import time

folder, url, operator, key = sys.argv[1:]
sys.path.insert(0, folder)

from whereabouts_client import AuthenticatedClient  # noqa: E402
from whereabouts_client.api.device_reports import post_fixes  # noqa: E402
from whereabouts_client.api.stored_data import get_people_visits  # noqa: E402
from whereabouts_client.api.people_and_devices import get_people  # noqa: E402
from whereabouts_client.models import Fix, FixBatch, PersonPage, Visit, VisitPage  # noqa: E402

HOUR = 3600


def expect(condition, sentence):
    if not condition:
        raise SystemExit(f"the generated client: {sentence}")


def main():
    device = AuthenticatedClient(base_url=url, token=key)
    reader = AuthenticatedClient(base_url=url, token=operator)
    people = get_people.sync(client=reader)
    expect(isinstance(people, PersonPage) and "anna" in [person.handle for person in people.items], "anna is not listed")

    # An hour at one place, ended yesterday: a visit of an hour.
    begin = time.time() // 1 - 24 * HOUR
    fixes = [Fix(timestamp=begin + 60 * minute, latitude=48.2, longitude=16.35, horizontal_accuracy=10.0)
             for minute in range(60)]
    away = [Fix(timestamp=begin + HOUR + 60 * minute, latitude=48.2 + 0.01 * minute, longitude=16.35,
                horizontal_accuracy=10.0) for minute in range(1, 10)]
    outcome = post_fixes.sync(client=device, body=fixes[0])
    expect(outcome is not None and outcome.new == 1 and not outcome.rejected, f"one fix gives {outcome}")
    outcome = post_fixes.sync(client=device, body=FixBatch(fixes=fixes[1:] + away))
    expect(outcome is not None and outcome.new == len(fixes) + len(away) - 1, f"many fixes give {outcome}")

    deadline = time.monotonic() + 30
    while True:
        visits = get_people_visits.sync("anna", client=reader, from_=begin - HOUR)
        expect(isinstance(visits, VisitPage), f"the visits are {visits}")
        found = [visit for visit in visits.items if isinstance(visit, Visit) and abs(visit.arrival - begin) < 120]
        if found and found[0].departure is not None or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    expect(len(found) == 1 and abs(found[0].latitude - 48.2) < 0.001 and found[0].departure is not None,
           f"the visits are {visits.items}")
    refused = get_people_visits.sync_detailed("nobody", client=reader)
    expect(refused.status_code == 404, f"a person that does not exist gives {refused.status_code}")
    print("generated client: posted a fix and a batch, read the visit")


main()
