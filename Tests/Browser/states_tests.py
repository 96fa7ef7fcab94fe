"""Links into views, empty and bad states, lost connections, no script, no WebGL, sign-in and sign-out."""
import contextlib
import datetime
import re
import urllib.error
import urllib.request

from playwright.sync_api import Error

from browser import PERSONS_VIEWS, PHONE, VIEWS, expect
from house import HOME, eventually


# Links and states

def test_a_link_opens_what_it_names(world):
    query = world.house.ids["answered"]
    with world.visit("walker") as visit:
        for path, selector, text in (
            (f"requests/{query}", "ol.path li", "Phone answered"), ("requests/00000000-0000-4000-8000-000000000000", ".empty", "no such question"),
            ("audit?outcome=refused", "tbody tr", "stranger"), ("audit?who=nobody-at-all", ".empty", "No entry matches"),
            ("year/1999", ".empty", "Nothing in 1999"), ("places?q=Home", "tbody tr", "Home"),
            ("regions?region=hills", "li.card", "hills"), ("operate", ".empty", "for the operator"),
        ):
            visit.open(path)
            visit.has(selector, text)
        visit.must_be_quiet("links")
    with world.visit("operator") as visit:
        for path, selector, text in (
            ("operate/events?kind=GrantGiven", "tbody tr", "GrantGiven"), ("operate/people", "tbody tr", "walker"), ("operate/reports", "table", "walker-phone"),
            ("audit", "ul.cards", "walker"), ("devices?person=walker", "section.card", "walker-phone"),
        ):
            visit.open(path)
            visit.has(selector, text)
        visit.must_be_quiet("operator's links")


def test_somebody_new_is_told_what_to_do(world):
    with world.visit("stranger") as visit:
        visit.open("now")
        for view in PERSONS_VIEWS:
            visit.follow(view)
            expect(len(visit.text()) > 40, f"{view} is empty without a word")
        for view, title in (("places", "No places yet"), ("sharing", "Nobody may see where you are"), ("regions", "No region yet"), ("devices", "No device yet"), ("year", "Nothing in")):
            visit.follow(view)
            visit.has(".empty", title)
        visit.must_be_quiet("new")


def test_a_sealed_phone_is_said_to_be_sealed(world):
    world.house.add_person("sealer")
    world.house.add_phone("sealer")
    world.house.tool("key", "add", "--as", "sealer", "--keys", str(world.house.folder / "sealer.keys"))
    world.house.tool("device", "seal", "sealer-phone", "--as", "sealer")
    with world.visit("sealer") as visit:
        visit.open("devices")
        visit.has("section.card", "only sealed locations")
        visit.open("day")
        visit.has(".empty", "Your phone seals its locations")
        visit.must_be_quiet("sealed")


def test_a_token_that_may_not_change_anything_is_told_so(world):
    house = world.house
    house.add_person("reader")
    house.tokens["reader"] = house.post("/v1/people/reader/tokens", {"scopes": ["query", "audit"]})["token"]
    with world.visit("reader") as visit:
        for view in ("sharing", "regions", "devices", "welcome", "day"):
            visit.open(view)
            visit.has(".empty", "No fixes this day" if view == "day" else "You may read here")
        visit.must_be_quiet("read only")
    refused = [entry for entry in house.get("/v1/people/reader/audit")["items"] if entry.get("verdict") == "refused"]
    expect(not refused, f"the page asks for what its token may not read: {refused}")


def test_another_person_does_not_exist(world):
    with world.visit("stranger") as visit:
        visit.open("audit?person=walker")
        expect("late for dinner" not in visit.text(), "the address does not choose whose data a person sees")
        status = visit.page.evaluate("async () => (await fetch('/v1/people/walker/audit')).status")
        expect(status == 404, f"the service answers {status}")


# Connections

def test_offline_after_loading_says_so_and_goes_on_later(world):
    with world.visit("walker") as visit:
        visit.open("audit")
        visit.page.context.set_offline(True)
        visit.page.get_by_label("Outcome").select_option("refused")
        visit.page.get_by_role("button", name="Filter", exact=True).click()
        visit.has(".problem", "No connection")
        visit.page.context.set_offline(False)
        visit.page.get_by_role("button", name="Try again").click()
        visit.has("tbody tr", "stranger")
        expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")


def test_the_live_stream_comes_back_and_loses_nothing(world):
    with world.visit("walker") as visit:
        visit.open("sharing")
        expect(visit.page.locator(".card.wants").count() == 0, "no question waits yet")
        world.house.stop_service()
        visit.has(".note.bad", "Live updates stopped")
        world.house.serve()
        world.house.ask("carl", "walker", "after the break", deadlineSeconds=300)
        visit.has(".card.wants", "after the break")
        visit.page.get_by_role("button", name="No", exact=True).click()
        visit.page.locator(".card.wants").wait_for(state="detached")
        expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")


# Without

def test_without_script_each_view_is_a_list(world):
    for who in ("walker", "operator"):
        with world.visit(who, java_script_enabled=False) as visit:
            for view in [view for other, view in VIEWS if other == who and "/" not in view and view != "welcome"]:
                visit.page.goto(f"{world.url}/{view}")
                visit.page.wait_for_url("**plain=true**")
                expect(visit.page.locator("h1").count() == 1, f"{view} has a heading")
                expect(len(visit.text()) > 30, f"{view} has content without script")
            expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")


def test_without_script_a_phone_shows_each_row_whole(world):
    for who in ("walker", "operator"):
        with world.visit(who, **PHONE) as visit:
            rows = 0
            for view in [view for other, view in VIEWS if other == who and "/" not in view and view != "welcome"]:
                visit.page.goto(f"{world.url}/{view}?plain=true")
                rows += visit.page.locator("main tbody tr").count()
                wide = visit.page.evaluate("""() => [...document.querySelectorAll('.scroll, td, nav ~ *')]
                    .filter(one => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth)
                    .map(one => one.className + ': ' + one.textContent.slice(0, 60))""")
                expect(not wide, f"{view} has parts that are wider than a phone: {wide[:3]}")
            expect(rows > 5, f"{who} saw only {rows} rows")


def test_without_script_the_year_is_a_calendar_of_its_days(world):
    house, today = world.house, datetime.datetime.now(datetime.timezone.utc).date()
    year = (today - datetime.timedelta(days=5)).year
    kilometers = {}
    # The quarters that the page reads: the sums of a summary end with 93 days.
    for start, end in (("01-01", "04-01"), ("04-01", "07-01"), ("07-01", "10-01"), ("10-01", None)):
        begin, finish = f"{year}-{start}T00:00:00Z", f"{year}-{end}T00:00:00Z" if end else f"{year + 1}-01-01T00:00:00Z"
        if begin[:10] > str(today):
            continue
        for one in house.get(f"/v1/people/walker/summary?period=day&from={begin}&to={finish}", house.tokens["walker"])["items"]:
            if one["staySeconds"] + one["moveSeconds"] > 0:
                kilometers[one["period"]] = kilometers.get(one["period"], 0) + one["distanceMeters"] / 1000
    expect(len(kilometers) >= 3, f"the year has {len(kilometers)} days")
    with world.visit("walker", java_script_enabled=False) as visit:
        visit.page.goto(f"{world.url}/year/{year}?plain=true")
        links = visit.page.locator(".month a").all()
        shown = {link.get_attribute("href")[5:15]: link.locator("small").inner_text() for link in links}
        expect(set(shown) == set(kilometers), f"{set(shown) ^ set(kilometers)} are in one of the two")
        for date, text in shown.items():
            expect(abs(int(text.split()[0]) - kilometers[date]) <= 1, f"{date}: {text}, not {kilometers[date]} km")
        # Each day is below its day of the week.
        for link, date in zip(links, shown):
            column = link.evaluate("link => link.closest('td').cellIndex")
            expect(column == datetime.date.fromisoformat(date).weekday(), f"{date} is in column {column}")
        date = max(shown)
        visit.page.locator(f'.month a[href^="/day/{date}"]').click()
        visit.page.wait_for_url(f"**/day/{date}?plain=true")
        expect(visit.page.locator("td").count() > 0, "the day has no row")
        visit.page.goto(f"{world.url}/year/1999?plain=true")
        expect(visit.page.locator(".month").count() == 0, "a year without data has a month")
        visit.page.get_by_role("link", name="2000 ›").click()
        visit.page.wait_for_url("**/year/2000?plain=true")
        expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")


def test_without_script_a_person_answers_pauses_and_ends(world):
    house = world.house
    walker = house.tokens["walker"]
    house.grant("walker", "stranger", precision="city", asksEachTime=True)
    asked = house.ask("stranger", "walker", "where are you?", deadlineSeconds=600)
    with world.visit("walker", java_script_enabled=False) as visit:
        def press(name):
            visit.page.get_by_role("button", name=name, exact=True).first.click()
            visit.page.wait_for_url("**/sharing?plain=true")
            visit.has("h1", "Sharing")

        visit.page.goto(f"{world.url}/sharing?plain=true")
        press("Answer once: stranger")
        house.report("walker", *HOME, answering=asked)
        answer = house.get(f"/v1/location-queries/{asked}?wait=30", house.tokens["stranger"])
        expect(answer["status"] == "answered", f"the question ended as {answer['status']}")
        refused = house.ask("stranger", "walker", "and now?", maxAgeSeconds=0, deadlineSeconds=600)
        visit.page.reload()
        press("Do not answer: stranger")
        waiting = [one["query"] for one in house.get("/v1/people/walker/consent-requests", walker)["items"]]
        expect(refused not in waiting, "the refused question waits on")
        press("Pause all sharing for an hour")
        expect(house.get("/v1/people/walker/pauses", walker)["items"][0]["now"], "sharing is not paused")
        press("Resume sharing")
        expect(not any(one["now"] for one in house.get("/v1/people/walker/pauses", walker)["items"]), "sharing is still paused")
        press("End sharing: stranger")
        left = [one["requester"] for one in house.get("/v1/people/walker/grants", walker)["items"]]
        expect("stranger" not in left and "friend" in left, f"walker shares with {left}")
        expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")
    with world.visit("walker", **PHONE) as visit:
        # With scripts the same page can be judged.
        visit.page.goto(f"{world.url}/sharing?plain=true")
        visit.has("button", "Pause all sharing for an hour")
        expect(not world.violations(visit.page), f"the plain view: {world.violations(visit.page)}")


def test_a_form_of_another_page_does_nothing(world):
    house = world.house
    cookie = world.session("walker")
    for site in ("cross-site", "same-site", "none", None):
        headers = {"Authorization": "", "Cookie": f"{cookie['name']}={cookie['value']}", "Content-Type": "application/x-www-form-urlencoded", **({"Sec-Fetch-Site": site} if site else {})}
        request = urllib.request.Request(f"{world.url}/sharing", b"task=pause", method="POST", headers={name: value for name, value in headers.items() if value})
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(request).read()
        expect(not any(one["now"] for one in house.get("/v1/people/walker/pauses", house.tokens["walker"])["items"]), f"a form with Sec-Fetch-Site {site} pauses sharing")


def test_without_webgl_the_map_is_drawn(world):
    browser = world.launch("--disable-3d-apis")
    try:
        with world.visit("walker", browser=browser) as visit:
            visit.open("regions")
            visit.has(".leaflet-container")
            visit.open("day")
            visit.has(".leaflet-container canvas")
            expect(visit.page.evaluate("document.createElement('canvas').getContext('webgl') === null"), "WebGL is off")
            visit.must_be_quiet("without WebGL")
    finally:
        browser.close()


# Sign-in

def test_signing_in_and_out(world):
    with world.visit() as visit:
        visit.page.goto(f"{world.url}/audit")
        visit.has("h1", "Sign in")
        field = visit.page.get_by_label("code")
        field.fill("wp_" + "A" * 43)
        visit.page.get_by_role("button", name="Sign in").click()
        eventually("the wrong token is refused in words", lambda: len(visit.page.locator("[role=alert], .problem").all()) > 0)
        expect(not visit.page.context.cookies(), "a wrong token gives no session")
        visit.page.get_by_label("code").fill(world.house.tokens["friend"])
        visit.page.get_by_role("button", name="Sign in").click()
        visit.has("h1", "Who asked")
        visit.ready()
        [cookie] = visit.page.context.cookies()
        expect((cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/"), f"the cookie is {cookie}")
        kept = visit.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
        expect(world.house.tokens["friend"] not in kept and cookie["value"] not in kept, "no script can read the token")
        visit.page.locator("summary", has_text="friend").click()
        visit.page.get_by_role("button", name="Sign out", exact=True).click()
        visit.has("h1", "Sign in")
        expect(not visit.page.context.cookies(), "the session's cookie is gone")
        left = visit.page.evaluate("async () => { const texts = []; for (const name of await caches.keys()) for (const one of await (await caches.open(name)).keys()) texts.push(one.url); return texts; }")
        expect(not [url for url in left if "/v1/" in url or "/session" in url], f"nothing personal is cached: {left}")
        expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")


def test_a_link_signs_in_once(world):
    said = world.house.tool("session", "add", "--person", "work")
    path = re.search(r"/\?code=\S+", said)[0]
    for index in range(2):
        with world.visit() as visit:
            visit.page.goto(world.url + path)
            # Opening is not signing in: previews of links open them too.
            expect(not visit.page.context.cookies(), "opening the link spends nothing")
            visit.page.get_by_role("button", name="Sign in").click()
            if index == 0:
                visit.ready("work")
                expect(visit.page.evaluate("fetch('/session').then(answer => answer.json()).then(one => one.person)") == "work", "the link signs work in")
                visit.must_be_quiet("link")
            else:
                visit.has("[role=alert], .problem")
                expect(not visit.page.context.cookies(), "the link works once")


def test_a_link_signs_in_in_place_of_somebody_else(world):
    path = re.search(r"/\?code=\S+", world.house.tool("session", "add", "--person", "work"))[0]
    with world.visit() as visit:
        visit.page.goto(world.url)
        visit.page.get_by_label("code").fill(world.house.tokens["friend"])
        visit.page.get_by_role("button", name="Sign in").click()
        visit.ready("friend")
        visit.page.evaluate("localStorage.setItem('tz', 'utc')")
        # A mistyped link says so, and leaves the session.
        visit.page.goto(f"{world.url}/?code=0000-0000-0000-0000-0000")
        visit.has("h1", "Sign in with this code?")
        visit.page.get_by_role("button", name="Sign in").click()
        visit.has("[role=alert], .problem")
        expect(visit.page.evaluate("fetch('/session').then(answer => answer.json()).then(one => one.person)") == "friend", "a wrong code ends nothing")
        visit.page.goto(world.url + path)
        visit.has("h1", "Sign in with this code?")
        visit.page.get_by_role("button", name="Sign in").click()
        visit.ready("work")
        expect(visit.page.evaluate("localStorage.getItem('tz')") is None, "the choices of the person before are gone")


def test_an_account_invitation_opens_an_account(world):
    code = world.house.post("/v1/account-invitations", {}, world.house.tokens["walker"])["code"]
    with world.visit() as visit:
        visit.page.goto(f"{world.url}/welcome?invitation={code}")
        visit.page.locator("input[name=name]").fill("dora")
        visit.page.locator("main form button").click()
        visit.has("main", "wp_")
        visit.page.goto(f"{world.url}/devices")
        visit.ready().has(".empty", "No device yet")
        visit.must_be_quiet("invitation")


def test_a_revoked_token_ends_the_page(world):
    house = world.house
    handle = "work"
    token = house.post(f"/v1/people/{handle}/tokens", {"scopes": ["query", "audit", "manage"]})
    with world.visit() as visit:
        visit.page.goto(f"{world.url}/sharing")
        visit.page.get_by_label("code").fill(token["token"])
        visit.page.get_by_role("button", name="Sign in").click()
        visit.ready("work")
        house.call("DELETE", f"/v1/tokens/{token['id']}")
        # The page may notice by itself and load anew at the same time.
        with contextlib.suppress(Error):
            visit.page.reload()
        visit.has("h1", "Sign in")


def test_an_address_that_does_not_exist_leads_home(world):
    with world.visit("walker") as visit:
        answer = visit.page.goto(f"{world.house.url}/nosuch")
        expect(answer.status == 404, f"the status is {answer.status}")
        visit.has("h1", "There is nothing at this address")
        expect(not world.violations(visit.page), f"the page: {world.violations(visit.page)}")
        visit.complaints.clear()  # The browser reports the status.
        visit.page.get_by_role("link", name="To the start page").click()
        visit.page.wait_for_url(f"{world.house.url}/**")
        visit.has("h1", "")
        visit.must_be_quiet("home")
