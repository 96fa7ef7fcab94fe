"""Five tasks with the keyboard alone, and what one does in the views: ask, consent, filter, export, draw, set up."""
import base64
import concurrent.futures
import contextlib
import csv
import datetime
import io
import json
import re
import urllib.parse
import urllib.request

import numpy
import zxingcpp

from browser import PHONE, expect
from house import eventually


def decoded(visit):
    """The text of the QR code on the page, read by another program."""
    modules = visit.has("svg.qr path").get_attribute("d")
    size = int(visit.page.locator("svg.qr").get_attribute("viewBox").split()[2])
    picture = numpy.full((size, size), 255, dtype=numpy.uint8)
    for mark in modules.split("M")[1:]:
        x, y = mark.split("h")[0].split()
        picture[int(y), int(x)] = 0
    found = zxingcpp.read_barcodes(numpy.kron(picture, numpy.ones((4, 4), dtype=numpy.uint8)))
    expect(len(found) == 1, "the QR code cannot be read")
    return found[0].text


# With the keyboard alone

def test_keyboard_finds_a_day_and_steps_by_day(world):
    with world.visit("walker") as visit:
        visit.open("now")
        visit.tab_to("/day")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**/day*")
        visit.ready()
        visit.page.keyboard.press("ArrowLeft")
        visit.page.wait_for_url("**/day/20*")
        visit.ready()
        before = visit.page.url
        visit.page.keyboard.press("ArrowLeft")
        eventually("the day before is shown", lambda: visit.page.url != before or visit.page.wait_for_timeout(20))
        visit.must_be_quiet("day")


def test_keyboard_opens_a_visit(world):
    with world.visit("walker") as visit:
        visit.open("day")
        visit.page.keyboard.press("ArrowLeft")
        visit.page.wait_for_url("**/day/20*")
        visit.ready()
        visit.has("[data-current], .entry")
        visit.page.keyboard.press("j")
        visit.has("[data-current]")
        visit.must_be_quiet("day")


def test_keyboard_follows_a_request(world):
    with world.visit("walker") as visit:
        visit.open("requests")
        visit.tab_to("/requests/")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**/requests/*")
        visit.has("ol.path li")
        visit.must_be_quiet("requests")


def test_keyboard_filters_the_audit(world):
    with world.visit("walker") as visit:
        visit.open("audit")
        visit.tab_to("Who")
        visit.page.keyboard.type("stranger")
        visit.page.keyboard.press("Enter")
        visit.page.wait_for_url("**/audit?who=stranger")
        visit.has("tbody tr", "stranger")
        visit.ready()
        names = visit.page.locator("tbody tr td:nth-child(2)").all_inner_texts()
        expect(set(names) == {"stranger"}, f"the filter leaves entries of {names}")
        # The address restores everything.
        visit.page.reload()
        visit.ready()
        expect(visit.page.get_by_label("Who", exact=True).input_value() == "stranger", "the filter is in its field again")
        visit.has("tbody tr", "refused")
        visit.page.go_back()
        visit.must_be_quiet("audit")


def test_keyboard_exports_the_audit(world):
    with world.visit("walker") as visit:
        visit.open("audit?who=friend")
        visit.tab_to("JSON")
        with visit.page.expect_download() as saved:
            visit.page.keyboard.press("Enter")
        entries = json.loads(saved.value.path().read_text())
        expect(entries and all((one.get("requester") or one.get("reader")) == "friend" for one in entries), "JSON has the filtered entries")
        visit.tab_to("CSV")
        with visit.page.expect_download() as saved:
            visit.page.keyboard.press("Enter")
        rows = list(csv.DictReader(io.StringIO(saved.value.path().read_text())))
        expect(any("late for dinner" in row.values() for row in rows), "CSV has the questions with their purposes")
        visit.must_be_quiet("audit")


def test_keyboard_saves_the_day_as_a_file(world):
    with world.visit("walker") as visit:
        yesterday = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)
        visit.open(f"day/{yesterday}")
        visit.tab_to("File ▾")
        visit.page.keyboard.press("Enter")
        visit.tab_to("GPX")
        with visit.page.expect_download() as saved:
            visit.page.keyboard.press("Enter")
        expect(saved.value.suggested_filename == "walker.gpx", "the file has the person's name: " + saved.value.suggested_filename)
        text = saved.value.path().read_text()
        expect(text.count("<trkpt ") > 10 and text.endswith("</gpx>\n"), "the file has the day's fixes")
        visit.must_be_quiet("the day")


def the_log(house, person):
    """All entries of a person's audit, the newest first."""
    items, after = [], None
    while True:
        more = f"&after={urllib.parse.quote(after)}" if after else ""
        page = house.get(f"/v1/people/{person}/audit?limit=500{more}", house.tokens[person])
        items += page["items"]
        after = page["next"]
        if not after:
            return items


def until(items, number):
    """The entries of the log from a number on; entries recorded after the page was read are newer."""
    numbers = [one["number"] for one in items]
    return items[numbers.index(number):]


def rows_of(visit):
    return visit.page.locator("main tbody tr[data-name]").evaluate_all("all => all.map(one => one.dataset.name)")


def read_whole_list(visit):
    older = visit.page.get_by_role("button", name="Older entries")
    while older.is_visible():
        older.click()
        visit.page.wait_for_timeout(50)
    return rows_of(visit)


def test_csv_and_json_of_several_pages_have_what_the_filter_shows(world):
    house = world.house
    with concurrent.futures.ThreadPoolExecutor(4) as readers:
        list(readers.map(lambda _: house.get("/v1/people/walker/location"), range(510)))

    def saved(visit, name):
        with visit.page.expect_download() as file:
            visit.page.get_by_role("button", name=name, exact=True).click()
        return file.value.path().read_text()

    with world.visit("walker") as visit:
        for query, wanted in (("outcome=all", lambda one: True), ("who=friend", lambda one: friend_is(one)), ("", lambda one: one.get("verdict") != "own" or one["kind"] != "read"),
                              ("outcome=refused", lambda one: one.get("verdict") == "refused" or one.get("end") == "refused"), ("outcome=change", lambda one: one["kind"] in ("change", "act"))):
            visit.open(f"audit?{query}")
            entries = json.loads(saved(visit, "JSON"))
            lines = list(csv.DictReader(io.StringIO(saved(visit, "CSV"))))
            main = [line for line in lines if line["kind"] in ("query", "read", "change", "act")]
            newest = entries[0]["number"]
            log = [one["number"] for one in until(the_log(house, "walker"), newest) if wanted(one)]
            expect([one["number"] for one in entries] == log, f"{query}: JSON has {len(entries)} entries, the log has {len(log)}")
            # The reading for the file itself may be newer than that for JSON.
            numbers = [line["number"] for line in main]
            expect(numbers[numbers.index(newest):] == log, f"{query}: CSV has {len(numbers)} entries, the log has {len(log)}")
            if query == "who=friend":
                expect({line["kind"] for line in lines} >= {"query", "push", "shown"}, "the lines of a question's path are missing")
                expect({line["who"] for line in main} == {"friend"}, f"CSV has entries of { {line['who'] for line in main} }")
        visit.must_be_quiet("files")


def friend_is(one):
    return "friend" in (one.get("requester"), one.get("reader"), one.get("actor"))


# The audit is the log

def test_audit_has_each_entry_of_the_log(world):
    with world.visit("walker") as visit:
        visit.open("audit?outcome=all&to=2000-01-01")
        visit.has(".empty")
        visit.open("audit?outcome=all")
        shown = read_whole_list(visit)
        known = [one["number"] for one in until(the_log(world.house, "walker"), shown[0])]
        expect(shown == known, f"the page shows {len(shown)} entries, the log has {len(known)}; the first that differ: "
               f"{next(((a, b) for a, b in zip(shown, known) if a != b), None)}")


def test_paper_has_all_entries_that_match(world):
    with world.visit("walker") as visit:
        for _ in range(80):
            world.house.get("/v1/people/walker/location")
        visit.page.add_init_script("window.print = () => { window.printed = document.querySelectorAll('main tbody tr[data-name]').length; };")
        visit.open("audit?outcome=all")
        first = len(rows_of(visit))
        visit.page.get_by_role("button", name="Print", exact=True).click()
        eventually("the list is printed", lambda: visit.page.evaluate("window.printed") or visit.page.wait_for_timeout(20))
        shown = rows_of(visit)
        known = [one["number"] for one in until(the_log(world.house, "walker"), shown[0])]
        expect(first < len(known), f"all {first} entries were shown at once, so that this test says nothing")
        expect(visit.page.evaluate("window.printed") == len(known) and shown == known, f"printed are {visit.page.evaluate('window.printed')} entries of {len(known)}")
        visit.must_be_quiet("print")


# What one does

def test_the_audit_says_who_signed_in_and_out(world):
    house = world.house
    house.add_person("erna")
    with world.visit() as visit:
        visit.page.goto(world.url + re.search(r"/\?code=\S+", house.tool("session", "add", "--person", "erna"))[0])
        visit.page.get_by_role("button", name="Sign in").click()
        visit.ready("erna")
        cookie = visit.page.context.cookies()[0]
        request = urllib.request.Request(f"{world.url}/session/end", b"{}", method="POST", headers={
            "Cookie": f"{cookie['name']}={cookie['value']}", "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"})
        urllib.request.urlopen(request).read()
    words = ["signed out of the page", "signed in to the page", "sign-in link used or replaced", "sign-in link made", "token issued"]
    world.house.settle()
    with world.visit("erna") as visit:
        visit.open("audit?outcome=change")
        # The newest is the session of this page itself.
        shown = [cell.strip().split("\n")[0] for cell in visit.page.locator("tbody td:nth-child(3)").all_inner_texts()]
        expect([one for one in shown if one in words] == ["signed in to the page", *words], f"the page says {shown}")
    said = house.tool("audit", "--person", "erna")
    expect(all(one in said for one in words) and "token revoked" not in said, f"the tool says {said}")


def test_a_question_is_asked_and_its_path_drawn_live(world):
    with world.visit("walker") as asker, world.visit("friend") as subject:
        subject.open("requests")
        asker.open("requests?whom=friend")
        asker.page.get_by_label("Why").fill("where are you?")
        asker.page.get_by_label("How new").select_option("0")
        asker.page.get_by_role("button", name="Ask now").click()
        asker.page.wait_for_url("**/requests/*")
        subject.has("tbody tr", "where are you?")
        asker.has(".pill", "Answered")
        asker.has("dl.facts", "Vienna")
        identity = asker.page.url.rsplit("/", 1)[1]
        subject.open(f"requests/{identity}")
        for label in ("Asked", "Push accepted", "Phone answered", "Shown"):
            subject.has("ol.path li", label)
        asker.must_be_quiet("requests")
        subject.must_be_quiet("requests")


def test_an_event_that_is_ahead_of_its_view_is_waited_for(world):
    """The list of questions is held where it was before the question ended, except for reads that wait for the event."""
    held, waited = {}, []

    def answer(route):
        if "at-least=" in route.request.url:
            waited.append(route.request.url)
            return route.continue_()
        kept = held.get("body")
        if kept is None:
            body = route.fetch().text()
            # After the first answer with the open question, the view does not change.
            if '"status":"pending"' in body:
                held["body"] = body
            return route.fulfill(status=200, content_type="application/json", body=body)
        return route.fulfill(status=200, content_type="application/json", body=kept)

    with world.visit("walker") as asker:
        asker.page.route("**/v1/people/walker/asked*", answer)
        asker.open("requests?whom=carl")
        asker.page.get_by_label("Why").fill("are you there?")
        asker.page.get_by_role("button", name="Ask now").click()
        asker.page.wait_for_url("**/requests/*")
        asker.has(".pill", "Waiting")
        query = asker.page.url.rsplit("/", 1)[1]
        world.house.call("DELETE", f"/v1/location-queries/{query}", token=world.house.tokens["walker"])
        asker.page.locator(".pill", has_text="Waiting").wait_for(state="detached")
        expect(waited, "no read has waited for the event")


def test_whom_one_may_ask_is_suggested(world):
    with world.visit("walker") as visit:
        visit.open("requests")
        # carl asks each time; what carl has stored is never shown, but walker may ask.
        visit.has("p", "carl and friend")
        names = visit.page.locator("datalist option").evaluate_all("all => all.map(one => one.value)")
        expect(names == ["carl", "friend"], f"suggested are {names}")
        visit.must_be_quiet("requests")


def test_own_questions_are_found_behind_many_readings(world):
    house = world.house
    with concurrent.futures.ThreadPoolExecutor(4) as readers:
        list(readers.map(lambda _: house.get("/v1/people/walker/pauses", house.tokens["walker"]), range(210)))
    with world.visit("walker") as visit:
        visit.open("requests")
        visit.has("tbody tr", "where do we meet?")
        visit.has("tbody tr", "late for dinner")
        visit.must_be_quiet("requests")


def test_one_sees_as_the_asker_and_it_is_recorded(world):
    with world.visit("walker") as visit:
        visit.open("sharing")
        visit.page.get_by_role("button", name="See as work").click()
        box = visit.has("dialog")
        expect("within a kilometer" in box.inner_text(), "work sees walker within a kilometer")
        box.get_by_role("button", name="Close").click()
        visit.page.get_by_role("button", name="See as carl").click()
        visit.has("dialog", "needed your consent")
        visit.must_be_quiet("sharing")
    newest = world.house.get("/v1/people/walker/audit?limit=20", world.house.tokens["walker"])["items"]
    expect(any(one.get("question") == "location" and one.get("verdict") == "own" for one in newest), "the look is on record")


def test_a_question_is_cancelled(world):
    with world.visit("walker") as visit:
        visit.open("requests?whom=stranger")
        # The phone was woken a moment ago and is not woken again so soon: this question waits.
        world.house.ask("walker", "friend", "never mind", maxAgeSeconds=0)
        visit.follow("requests")
        visit.page.locator("tbody tr", has_text="never mind").get_by_role("link").click()
        visit.has(".pill", "Waiting for an answer")
        visit.page.get_by_role("button", name="Cancel the question").click()
        visit.has(".pill", "No answer")
        visit.must_be_quiet("requests")


def test_consent_comes_first_and_is_answered(world):
    query = world.house.consent_wanted()
    with world.visit("walker") as visit:
        visit.open("sharing")
        visit.has(".card.wants", "carl")
        visit.has(".card.wants", "left")
        top = visit.page.locator(".card").first.get_attribute("class")
        expect("wants" in top, "the question that waits is the first card")
        visit.page.get_by_role("button", name="Answer once").click()
        visit.page.locator(".card.wants").wait_for(state="detached")
        visit.must_be_quiet("sharing")
    # A phone is woken once a minute at most; it may also answer by itself.
    world.house.report("walker", 48.2146, 16.3549, answering=query)
    status = eventually("carl gets an answer", lambda: (
        answer := world.house.get(f"/v1/location-queries/{query}?wait=20", world.house.tokens["carl"]))["status"] != "pending" and answer)
    expect(status["status"] == "answered", f"carl's question ended as {status['status']}")


def test_a_grant_is_given_changed_and_ended(world):
    with world.visit("walker") as visit:
        visit.open("sharing")
        visit.page.get_by_role("button", name="Share with someone").click()
        visit.page.get_by_label("Name of the person").fill("stranger")
        visit.page.get_by_role("button", name="Share", exact=True).click()
        card = visit.has("li.card", "stranger")
        expect("within a kilometer" in card.inner_text(), "a new grant shows the quarter only, unless one chooses more")
        card.get_by_role("button", name="Change").click()
        visit.page.get_by_label("How well").select_option("city")
        visit.page.locator("dialog").get_by_role("button", name="Change").click()
        visit.has("li.card", "town only")
        eventually("the new grant is the only one", lambda: [
            one["precision"] for one in world.house.get("/v1/people/walker/grants", world.house.tokens["walker"])["items"]
            if one["requester"] == "stranger"] == ["city"])
        eventually("the page shows one", lambda: visit.page.locator("li.card", has_text="stranger").count() == 1 or visit.page.wait_for_timeout(20))
        visit.page.get_by_role("button", name="End sharing with stranger").click()
        visit.page.locator("dialog").get_by_role("button", name="End").click()
        visit.page.locator("li.card", has_text="stranger").wait_for(state="detached")
        visit.must_be_quiet("sharing")


def test_a_share_link_shows_one_person_without_an_account(world):
    with world.visit("walker") as visit:
        visit.open("sharing")
        visit.page.get_by_role("button", name="Make a share link").click()
        dialog = visit.page.locator("dialog")
        dialog.get_by_label("What").select_option("today")
        dialog.get_by_label("Name for your audit").fill("for the party")
        expect(not world.violations(visit.page), f"making a link: {world.violations(visit.page)}")
        dialog.get_by_role("button", name="Make a share link").click()
        secret = visit.has("dialog code").inner_text().strip()
        expect("/link#wl_" in secret, f"the address is {secret}")
        visit.page.keyboard.press("Escape")
        visit.has("li.card", "(for the party)")
        expect(visit.page.get_by_role("button", name="See as link").count() == 0, "the grant of a link is listed as one to a person")
        visit.must_be_quiet("sharing")
    with world.visit() as visit:
        visit.page.goto(secret)
        visit.page.wait_for_selector("html[data-ready=link]", state="attached")
        expect("wl_" not in visit.page.url, "the secret stays in the address")
        expect(not visit.page.locator("#link").is_visible(), "the address is asked for although it is known")
        expect(not world.violations(visit.page), f"opening a link: {world.violations(visit.page)}")
        visit.page.get_by_role("button", name="Show the location").click()
        visit.page.wait_for_selector("html[data-ready=now]", state="attached")
        visit.has("h2", "walker")
        links = visit.page.locator(".top nav > a").all_inner_texts()
        expect(links == ["Now", "Day"], f"the head has {links}")
        expect(visit.page.get_by_role("button", name="Ask").count() == 0, "somebody with a link can ask")
        expect(not world.violations(visit.page), f"now by a link: {world.violations(visit.page)}")
        visit.follow("day")
        visit.has("h1")
        visit.must_be_quiet("the views of a link")
        made = [one for one in world.house.get("/v1/people/walker/links", world.house.tokens["walker"])["items"] if one["state"] == "open"]
        expect(made[-1]["opened"] == 1, f"the list says {made}")
        world.house.call("DELETE", f"/v1/links/{made[-1]['id']}", token=world.house.tokens["walker"])
        visit.page.goto(f"{world.url}/now")
        visit.has("h1", "Sign in")
        visit.page.goto(secret)
        visit.page.get_by_role("button", name="Show the location").click()
        visit.has("[role=alert]", "has ended")


def test_a_live_link_follows_its_person_and_one_of_names_has_no_map(world):
    house = world.house
    house.add_person("lena")
    house.add_phone("lena")
    house.report("lena", 48.2044, 16.3689)
    secrets = [house.post("/v1/people/lena/links", {"precision": precision, "live": True}, house.tokens["lena"])["secret"]
               for precision in ("exact", "place")]

    @contextlib.contextmanager
    def opened(secret):
        with world.visit() as visit:
            visit.page.goto(f"{world.url}/link#{secret}")
            visit.page.wait_for_selector("html[data-ready=link]", state="attached")
            visit.page.get_by_role("button", name="Show the location").click()
            visit.page.wait_for_selector("html[data-ready=now]", state="attached")
            visit.has("h2", "lena")
            yield visit

    with opened(secrets[0]) as visit:
        expect(visit.page.locator("section.map").count() == 1, "an exact link has a map")
        # Nothing is opened anew: the place comes by the stream.
        house.report("lena", 47.0707, 15.4395)
        visit.has("main", "Graz")
        visit.must_be_quiet("a live link")
    with opened(secrets[1]) as visit:
        # The cell is held for ten minutes after it was left, and so is its name.
        visit.has("main", "Vienna")
        expect("false" not in visit.text(), f"the card has no more words than it needs: {visit.text()}")
        expect(visit.page.locator("section.map").count() == 0, "a link of names has a map")
        expect(not re.search(r"\d\.\d\d", visit.text()), f"a link of names shows numbers: {visit.text()}")
        expect(not world.violations(visit.page), f"names alone: {world.violations(visit.page)}")
        visit.must_be_quiet("a link of names")


def test_sharing_is_paused_and_resumed(world):
    with world.visit("walker") as visit:
        visit.open("sharing")
        visit.page.get_by_role("button", name="Pause all sharing").click()
        visit.page.locator("dialog").get_by_role("button", name="Pause all sharing").click()
        visit.has(".note.bad", "paused until")
        visit.page.get_by_role("button", name="Resume").click()
        visit.has("button", "Pause all sharing")
        visit.must_be_quiet("sharing")


def test_an_invitation_is_a_code_that_works(world):
    with world.visit("walker", **PHONE) as visit, world.visit("stranger") as guest:
        visit.open("sharing")
        visit.page.get_by_role("button", name="Invite someone with an account here").click()
        visit.page.locator("dialog").get_by_role("button", name="Invite").click()
        address = decoded(visit)
        expect(address.startswith(f"{world.url}/sharing?redeem="), "the code is a link to this house")
        guest.open(address.removeprefix(world.url))
        guest.page.locator("dialog").get_by_role("button", name="Use an invitation").click()
        guest.page.wait_for_url("**/requests?whom=walker")
        guest.must_be_quiet("redeem")
        visit.must_be_quiet("sharing")


def test_a_device_is_set_up_by_a_code(world):
    with world.visit("carl") as visit:
        visit.open("devices")
        visit.has(".empty", "No device yet")
        visit.page.get_by_role("button", name="Add a device").click()
        visit.page.locator("dialog").get_by_role("button", name="Add a device").click()
        code = decoded(visit)
        expect(code.startswith("owntracks:///config?inline="), "the code sets OwnTracks up")
        inline = json.loads(base64.b64decode(urllib.parse.unquote(code.split("=", 1)[1])))
        expect((inline["username"], inline["url"]) == ("carl.phone", f"{world.url}/owntracks"), f"for this device and house: {inline['url']}")
        visit.page.get_by_role("button", name="Close").click()
        card = visit.has("section.card", "carl.phone")
        expect("has not reported yet" in card.inner_text(), "the device says that it has not reported")
        visit.page.get_by_role("button", name="Remove carl.phone").click()
        visit.page.locator("dialog").get_by_role("button", name="Remove").click()
        visit.has(".empty", "No device yet")
        visit.must_be_quiet("devices")


def test_a_region_is_drawn_or_typed(world):
    with world.visit("walker") as visit:
        visit.open("regions")
        visit.page.get_by_label("Name", exact=True).fill("park")
        box = visit.has(".leaflet-container").bounding_box()
        for x, y in ((0.5, 0.5), (0.6, 0.5)):
            visit.page.mouse.click(box["x"] + box["width"] * x, box["y"] + box["height"] * y)
            # Two clicks at once would be a zoom.
            visit.page.wait_for_timeout(400)
        expect(float(visit.page.get_by_label("Radius").input_value()) > 200, "the second click is the edge")
        visit.page.get_by_role("button", name="Add the region").click()
        visit.has("li.card", "park")
        visit.page.get_by_label("Name", exact=True).fill("square")
        visit.page.get_by_role("button", name="Polygon").click()
        visit.page.get_by_label("Corners").fill("48.20, 16.36\n48.21, 16.36\n48.21, 16.37")
        visit.page.get_by_role("button", name="Add the region").click()
        visit.has("li.card", "polygon with 3 corners")
        visit.must_be_quiet("regions")
    house = world.house
    for name in ("park", "square"):
        house.call("DELETE", f"/v1/people/walker/regions/{name}", None, house.tokens["walker"])


def test_a_place_is_renamed_and_back(world):
    with world.visit("walker") as visit:
        visit.open("places")
        visit.page.get_by_role("button", name="Rename Döbling").click()
        visit.page.locator("dialog").get_by_label("Name").fill("The hills")
        visit.page.get_by_role("button", name="Save").click()
        visit.has("tbody tr", "The hills")
        visit.page.get_by_role("button", name="Withdraw: renamed The hills").click()
        visit.has("tbody tr", "Döbling")
        visit.must_be_quiet("places")


def test_a_place_leads_to_its_days_and_is_joined_with_another(world):
    house = world.house
    walker = house.tokens["walker"]
    places = house.get("/v1/people/walker/places", walker)["items"]
    with world.visit("walker") as visit:
        visit.open("places")
        rows = visit.page.locator("main .table").first.locator("tbody tr")
        eventually("the places are shown", lambda: rows.count() == len(places) or visit.page.wait_for_timeout(20))
        shown = visit.page.locator("main tbody details summary").all_inner_texts()
        expect([int(one) for one in shown] == [one["days"] for one in places], f"the page has {shown} days")
        visit.page.locator("main tbody details summary").first.click()
        links = visit.page.locator("main tbody details").first.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        expect(links == [f"/day/{day}" for day in places[0]["newestDays"]] and links, f"the days are {links}")
        expect(not world.violations(visit.page), f"days of a place: {world.violations(visit.page)}")
        rows.last.get_by_role("button", name="is the same place as another").click()
        box = visit.has("dialog", "become one row")
        expect(not world.violations(visit.page), f"joining two places: {world.violations(visit.page)}")
        home = next(one for one in places if one.get("place") == "Home")
        box.get_by_label("The other place").select_option(home["id"])
        box.get_by_role("button", name="Join").click()
        eventually("two places are one", lambda: rows.count() == len(places) - 1 or visit.page.wait_for_timeout(20))
        joined = next(one for one in house.get("/v1/people/walker/places", walker)["items"] if one.get("place") == "Home")
        expect(joined["visits"] == home["visits"] + places[-1]["visits"], f"{home} and {places[-1]} make {joined}")
        visit.page.get_by_role("button", name="Undo").click()
        eventually("they are two again", lambda: rows.count() == len(places) or visit.page.wait_for_timeout(20))
        visit.must_be_quiet("places")
    kinds = [one["type"] for one in house.get("/v1/people/walker/corrections", walker)["items"]]
    expect("samePlace" not in kinds, f"left are {kinds}")


def test_a_projection_is_rebuilt_compared_and_taken_into_use(world):
    with world.visit("operator") as visit:
        visit.open("operate")
        visit.page.get_by_role("button", name="Rebuild timeline").click()
        visit.page.locator("dialog").get_by_role("button", name="Rebuild").click()
        visit.has(".pill", "equal")
        visit.page.get_by_role("button", name="Take into use").click()
        visit.has(".note", "in its new generation")
        visit.page.get_by_role("button", name="Verify all").click()
        visit.has(".note", "events verified")
        visit.must_be_quiet("operate")


def test_an_import_is_undone_and_redone(world):
    house = world.house
    begun = house.post("/v1/imports", {"person": "stranger", "file": {"name": "old.gpx"}})["id"]
    fix = {"timestamp": 1500000000, "latitude": 1, "longitude": 2}
    house.post(f"/v1/imports/{begun}/batches", {"devices": [{"person": "stranger", "device": "old-phone", "fixes": [fix]}]})
    house.post(f"/v1/imports/{begun}/ends", {"people": [{"person": "stranger", "new": 1}]})
    with world.visit("operator") as visit:
        visit.open("operate/imports")
        row = visit.page.locator("tbody tr", has_text=begun)
        for what, state in (("Undo", "undone"), ("Redo", "ended")):
            row.get_by_role("button", name=f"{what} the import for stranger").click()
            visit.page.locator("dialog").get_by_label("Reason").fill("the wrong file")
            visit.page.locator("dialog").get_by_role("button", name=what).click()
            row.locator(".pill", has_text=state).wait_for()
        visit.must_be_quiet("imports")


def test_the_operator_sees_an_entry_as_it_is_stored(world):
    with world.visit("operator") as visit:
        visit.open("audit?person=walker&who=friend")
        visit.page.get_by_role("button", name="Details: friend").first.click()
        visit.page.locator("summary", has_text="What led to this").click()
        visit.has("ol.chain li")
        visit.must_be_quiet("audit of another")
