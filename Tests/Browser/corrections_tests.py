"""Corrections of visits and fixes in place, each undone; links into a day keep their state."""
import datetime

from browser import expect
from house import eventually

NOTE = ".extra .note"


def day(back):
    return datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=back)


def rows(visit, kind="visit"):
    return visit.page.locator(f".entry.{kind}")


def wait(visit, what, test):
    eventually(what, lambda: test() or visit.page.wait_for_timeout(20))


def choose(visit, row):
    """Opens an entry, if it is not open: a click on an open one closes it."""
    if row.get_attribute("data-current") is None:
        row.locator(".pick").click()
    visit.has(".entry[data-current] .more-of")


def press(visit, name):
    visit.page.locator(".entry[data-current] .more-of").get_by_role("button", name=name, exact=True).click()


def confirm(visit, name):
    visit.page.locator("dialog").get_by_role("button", name=name, exact=True).click()
    visit.page.locator("dialog").wait_for(state="detached")


def undo(visit):
    visit.has(NOTE, "has been corrected")
    visit.page.locator(NOTE).get_by_role("button", name="Undo").click()


def stays(visit):
    """Name and time of each stay, as the list has them."""
    return [row.replace("\n", " ") for row in rows(visit).evaluate_all(
        "all => all.map(one => [one.querySelector('time').textContent, one.querySelector('.pick').textContent, one.querySelector('.dur').textContent].join(' '))")]


def open_day(visit, back):
    visit.open(f"day/{day(back)}")
    visit.has(".entry.visit")
    return stays(visit)


# Visits

def test_visits_are_merged_split_removed_and_renamed_and_each_is_undone(world):
    house = world.house
    with world.visit("walker") as visit:
        before = open_day(visit, 3)
        count = len(before)
        expect(count >= 5, f"the day has {count} stays")

        choose(visit, rows(visit).nth(1))
        press(visit, "One visit with the next")
        confirm(visit, "One visit with the next")
        wait(visit, "two stays are one", lambda: rows(visit).count() == count - 1)
        undo(visit)
        wait(visit, "the stays are as before", lambda: stays(visit) == before)

        choose(visit, rows(visit).nth(1))
        press(visit, "Split")
        visit.page.get_by_label("Date", exact=True).last.fill(str(day(40)))
        visit.page.locator("dialog").get_by_role("button", name="Split").click()
        visit.has("dialog .problem", "within the visit")
        visit.page.get_by_label("Date", exact=True).last.fill(str(day(3)))
        confirm(visit, "Split")
        wait(visit, "one stay is two", lambda: rows(visit).count() == count + 1)
        undo(visit)
        wait(visit, "the stays are as before", lambda: stays(visit) == before)

        choose(visit, rows(visit).nth(2))
        press(visit, "Not a visit")
        confirm(visit, "Not a visit")
        wait(visit, "a stay is gone", lambda: rows(visit).count() == count - 1 and before[2] not in stays(visit))
        undo(visit)
        wait(visit, "the stays are as before", lambda: stays(visit) == before)

        choose(visit, rows(visit).nth(1))
        press(visit, "Name the place")
        visit.page.locator("dialog").get_by_label("Name").fill("The bakery")
        confirm(visit, "Save")
        visit.has(".entry.visit .pick", "The bakery")
        undo(visit)
        wait(visit, "the stays are as before", lambda: stays(visit) == before)
        visit.must_be_quiet("corrections")
    kinds = [one["type"] for one in house.get("/v1/people/walker/corrections", house.tokens["walker"])["items"]]
    expect(kinds == ["rename"], f"left are {kinds}")


# Places

def rows_of_places(visit):
    """Name, visits and days of each row of the list of places."""
    visit.has("caption", "the one with the most time first")
    return visit.page.locator("table").first.locator("tbody tr").evaluate_all("rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))")


def test_two_places_become_one_and_two_again(world):
    house, token = world.house, world.house.tokens["walker"]
    before = house.get("/v1/people/walker/places", token)["items"]
    kept = next(one for one in before if one["place"] == "Home")
    other = next(one for one in before if one is not kept)
    with world.visit("walker") as visit:
        visit.open("places")
        count = len(rows_of_places(visit))
        expect(count == len(before) >= 3, f"{count} rows, {len(before)} places")
        visit.page.locator("table").first.locator("tbody tr").nth(before.index(other)).get_by_role("button", name="same place").click()
        box = visit.has("dialog", "The two become one row")
        expect(not world.violations(visit.page), f"joining places: {world.violations(visit.page)}")
        box.get_by_label("The other place").select_option(value=kept["id"])
        confirm(visit, "Join")
        visit.has(NOTE, "has been corrected")
        wait(visit, "two rows are one", lambda: len(rows_of_places(visit)) == count - 1)
        joined = house.get("/v1/people/walker/places", token)["items"][0]
        expect(joined["visits"] == kept["visits"] + other["visits"], f"{joined['visits']} visits")
        expect(abs(joined["totalSeconds"] - kept["totalSeconds"] - other["totalSeconds"]) < 120, f"{joined['totalSeconds']} seconds")
        expect(joined["place"] == kept["place"], f"it is called {joined['place']}")
        visit.has("td", "places joined")
        visit.must_be_quiet("joined")
        visit.page.locator(NOTE).get_by_role("button", name="Undo").click()
        wait(visit, "one row is two", lambda: len(rows_of_places(visit)) == count)
        visit.must_be_quiet("undone")
    after = house.get("/v1/people/walker/places", token)["items"]
    expect([one["id"] for one in after] == [one["id"] for one in before], "the places are others")


# Fixes

def withdrawn(house):
    return house.get("/v1/people/walker/withdrawn-fixes", house.tokens["walker"])["items"]


def withdraw(visit, reason):
    """Withdraws the first fix of the open list."""
    visit.page.locator(".why table tbody tr").first.get_by_role("button").click()
    box = visit.has("dialog", "Why does it not count?")
    expect(not visit.world.violations(visit.page), f"withdrawing a fix: {visit.world.violations(visit.page)}")
    box.get_by_label("Why does it not count?").fill(reason)
    confirm(visit, "Withdraw")
    visit.has(NOTE, "has been corrected")


def test_a_fix_is_withdrawn_where_it_decided_and_restored(world):
    house = world.house
    with world.visit("walker") as visit:
        open_day(visit, 2)
        choose(visit, rows(visit).nth(1))
        press(visit, "Why this visit?")
        visit.has(".why table tbody tr")
        expect(not world.violations(visit.page), f"the fixes of a stay: {world.violations(visit.page)}")
        withdraw(visit, "wrong clock")
        expect(len(withdrawn(house)) == 1, "no fix is withdrawn")
        undo(visit)
        wait(visit, "no fix is withdrawn any more", lambda: not withdrawn(house))

        # The fixes of a way: the list opens and closes, and a withdrawn one is not on it.
        way = rows(visit, "trip").first
        choose(visit, way)
        press(visit, "Fixes")
        first = visit.has(".why table tbody time").get_attribute("datetime")
        press(visit, "Fixes")
        visit.page.locator(".why table").wait_for(state="detached")
        press(visit, "Fixes")
        visit.has(".why table tbody tr")
        withdraw(visit, "not my walk")
        [gone] = withdrawn(house)
        when = datetime.datetime.fromisoformat(first.replace("Z", "+00:00")).timestamp()
        expect(abs(gone["timestamp"] - when) < 0.001, f"withdrawn is {gone['timestamp']}, the first was {when}")

        visit.follow("places")
        visit.page.locator("section", has_text="Withdrawn fixes").get_by_role("button", name="Restore the fix").click()
        box = visit.has("dialog", "Why does it count again?")
        expect(not world.violations(visit.page), f"restoring a fix: {world.violations(visit.page)}")
        box.get_by_label("Why does it count again?").fill("it was mine")
        confirm(visit, "Restore")
        visit.has("p", "You withdraw a fix on its day")
        expect(not withdrawn(house), "the fix is still withdrawn")

        visit.follow("audit?outcome=change")
        for words in ("fixes withdrawn", "fixes restored"):
            visit.has("tbody tr", words)
        visit.must_be_quiet("fixes")
    changes = house.get("/v1/people/walker/audit?limit=50", house.tokens["walker"])["items"]
    names = [one.get("name") for one in changes if one.get("event", "").startswith("Fixes")]
    expect(any("it was mine" in (name or "") for name in names), f"the reasons are {names}")


# Links

def test_a_link_into_a_day_survives_a_reload(world):
    with world.visit("walker") as visit:
        open_day(visit, 2)
        choose(visit, rows(visit).nth(3))
        chosen = visit.page.locator(".entry[data-current] .pick").inner_text()
        # The part of the day, with the keyboard alone.
        handle = visit.page.get_by_role("slider", name="From")
        handle.focus()
        all_entries = visit.page.locator(".entry").count()
        for key in [*["PageUp"] * 10, "ArrowRight", "ArrowRight", "ArrowLeft"]:
            visit.page.keyboard.press(key)
        value = handle.get_attribute("aria-valuenow")
        expect(value == str(10 * 60 + 15), f"the part begins {value} minutes after the day")
        shown = visit.page.locator(".entry").count()
        expect(1 <= shown < all_entries and "span=" in visit.page.url and "sel=visit" in visit.page.url, f"{shown} entries, {visit.page.url}")
        visit.page.reload()
        visit.ready().has(".entry")
        visit.has(".bar")
        expect(visit.page.get_by_role("slider", name="From").get_attribute("aria-valuenow") == value, "the part of the day is another one")
        expect(visit.page.locator(".entry").count() == shown, f"{visit.page.locator('.entry').count()} entries, before {shown}")
        expect(visit.has(".entry[data-current] .pick").inner_text() == chosen, "another entry is chosen")
        visit.page.get_by_role("button", name="Whole day").click()
        wait(visit, "all entries are there", lambda: visit.page.locator(".entry").count() == all_entries)
        expect("span=" not in visit.page.url, visit.page.url)

        # End and Home go to the ends; a part has a quarter of an hour at least.
        end = visit.page.get_by_role("slider", name="To")
        end.focus()
        visit.page.keyboard.press("Home")
        expect(end.get_attribute("aria-valuenow") == "15", f"the shortest part ends after {end.get_attribute('aria-valuenow')} minutes")
        visit.page.keyboard.press("End")
        expect("span=" not in visit.page.url, "the whole day is no part")

    # The zone and the start of the day of the address win over what a reader chose last, and stay.
    for query, zone, first in (("tz=utc", "UTC", "00:00"), ("tz=utc&start=240", "UTC", "04:00"), ("tz=mine", "America/New York", "00:00")):
        with world.visit("walker", timezone_id="America/New_York") as visit:
            visit.open(f"day/{day(2)}?{query}")
            for turn in ("at first", "after a reload"):
                visit.has(".entry")
                label = visit.page.locator(".zone summary").inner_text()
                expect(label.startswith(zone), f"{query} {turn}: the zone is {label}")
                hours = visit.page.locator(".hours span").first.inner_text()
                expect(hours == first, f"{query} {turn}: the day begins at {hours}")
                expect(query in visit.page.url, visit.page.url)
                visit.page.reload()
                visit.ready()
            visit.must_be_quiet(query)


# Facts from the places in a day

def test_the_first_time_at_a_place_is_said_on_that_day_only(world):
    house = world.house
    places = house.get("/v1/people/walker/places", house.tokens["walker"])["items"]
    first = {one["id"] for one in places}
    visits = {one["id"] for one in house.get(f"/v1/people/walker/visits?day={day(7)}", house.tokens["walker"])["items"]}
    expect(first & visits, "no place was new on the first day")
    with world.visit("walker") as visit:
        open_day(visit, 7)
        wait(visit, "each new place is marked", lambda: visit.page.locator(".entry.visit .sub", has_text="first time here").count() == len(first & visits))
        open_day(visit, 2)
        visit.page.wait_for_load_state("networkidle")
        expect(visit.page.locator(".entry .sub", has_text="first time here").count() == 0, "an old place is new")
        visit.must_be_quiet("first time")
