"""What is seen without color, on paper, under a thumb and without a network."""
import base64
import datetime
import itertools

import numpy

from browser import PERSONS_VIEWS, PHONE, expect
from house import eventually

MARKS = ["visit", "trip", "gap", "cross", "ask", "refused", "change"]
# What Chromium can simulate (CDP, Emulation.setEmulatedVisionDeficiency).
DEFICIENCIES = ["protanopia", "deuteranopia", "tritanopia", "achromatopsia"]


def yesterday():
    return datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)


def gray(world, screenshot):
    """The pixels of a screenshot, each from 0 (black) to 255, as the browser itself reads them."""
    if not hasattr(world, "reader"):
        world.reader = world.browser.new_context().new_page()
    width, text = world.reader.evaluate("""async text => {
        const bytes = Uint8Array.from(atob(text), one => one.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        context.drawImage(bitmap, 0, 0);
        const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
        let gray = '';
        for (let n = 0; n < data.length; n += 4) gray += String.fromCharCode(0.299 * data[n] + 0.587 * data[n + 1] + 0.114 * data[n + 2]);
        return [bitmap.width, btoa(gray)];
    }""", base64.b64encode(screenshot).decode())
    return numpy.frombuffer(base64.b64decode(text), dtype=numpy.uint8).reshape(-1, width).astype(int)


# Color

def see_as(page, deficiency):
    page.context.new_cdp_session(page).send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})


def test_each_mark_has_a_shape_of_its_own(world):
    """The marks side by side, in gray: each pair must differ in enough pixels, whatever its colors are."""
    with world.visit("walker") as visit:
        visit.open("audit")
        visit.page.evaluate("""marks => {
            const box = document.createElement('div');
            for (const mark of marks) {
                const place = document.createElement('div');
                place.id = `mark-${mark}`;
                Object.assign(place.style, { width: '32px', height: '32px', display: 'inline-grid', placeItems: 'center', overflow: 'hidden', background: '#fff' });
                const one = document.createElement('span');
                one.className = `mark ${mark}`;
                place.append(one);
                box.append(place);
            }
            document.getElementById('main').replaceChildren(box);
        }""", MARKS)
        for deficiency in DEFICIENCIES:
            see_as(visit.page, deficiency)
            shapes = {mark: gray(world, visit.page.locator(f"#mark-{mark}").screenshot()) < 200 for mark in MARKS}
            expect(all(shape.sum() > 20 for shape in shapes.values()), f"with {deficiency}, not every mark is seen")
            for one, other in itertools.combinations(MARKS, 2):
                differ = int((shapes[one] ^ shapes[other]).sum())
                expect(differ >= 20, f"with {deficiency}, {one} and {other} differ in {differ} pixels only")


def test_each_colored_state_is_a_word_or_a_shape(world):
    """Entries of the day say in words what their mark means; pills and steps of a question are words."""
    with world.visit("walker") as visit:
        visit.open(f"day/{yesterday()}")
        visit.has(".entry")
        bare = visit.page.evaluate("""() => [...document.querySelectorAll('.entry')].filter(one => one.innerText.replace(/[0-9:\\s]/g, '').length < 4).map(one => one.outerHTML.slice(0, 200))""")
        expect(not bare, f"entries without words: {bare}")
        # One kind of entry, one kind of mark: the legend, which comes with the map, names each.
        visit.has(".legend")
        kinds = set(visit.page.evaluate("() => [...document.querySelectorAll('.entry .mark')].map(one => one.className.replace('mark ', ''))"))
        named = set(visit.page.evaluate("() => [...document.querySelectorAll('.legend .mark')].map(one => one.className.replace('mark ', ''))"))
        expect(kinds <= set(MARKS), f"marks that this test does not know: {kinds - set(MARKS)}")
        expect({"visit", "trip", "gap", "cross"} <= named, f"the legend names {named}")
        for view in ("audit", "requests", "sharing", "devices", f"requests/{world.house.ids['answered']}"):
            visit.follow(view)
            wordless = visit.page.evaluate("""() => [...document.querySelectorAll('.pill, .step, .note, .ok, .no, .card.wants')].filter(one => one.offsetParent && !one.innerText.trim()).map(one => one.outerHTML.slice(0, 200))""")
            expect(not wordless, f"{view} has states without a word: {wordless}")


# Paper

def test_paper_has_the_list_and_what_it_is_of(world):
    with world.visit("walker") as visit:
        visit.open("audit?outcome=refused")
        visit.has("tbody tr", "stranger")
        visit.page.emulate_media(media="print")
        for selector in ("header.top nav", "form.filters", ".no-print"):
            expect(not visit.page.locator(selector).first.is_visible(), f"{selector} is printed")
        expect("Refused" in visit.page.locator("caption").inner_text(), "the printed list does not say how it is filtered")
        expect(visit.page.locator("tbody tr", has_text="stranger").first.is_visible(), "the rows are not printed")
        visit.page.emulate_media(media="screen")
        visit.follow(f"day/{yesterday()}")
        visit.has(".entry")
        visit.page.emulate_media(media="print")
        expect(not visit.page.locator(".map").first.is_visible(), "the map is printed")
        expect(visit.page.locator("h1").is_visible() and visit.page.locator(".entry").last.is_visible(), "the day's list is not printed whole")
        hidden = visit.page.evaluate("""() => { const box = document.querySelector('.side'); return box.scrollHeight - box.clientHeight; }""")
        expect(hidden <= 1, f"{hidden} px of the day's list are cut off on paper")
        document = visit.page.pdf(format="A4")
        expect(document.startswith(b"%PDF-") and len(document) > 5_000, "the browser prints nothing")
        visit.page.emulate_media(media="screen")
        visit.must_be_quiet("print")


def test_paper_is_white_in_the_dark(world):
    with world.visit("walker", color_scheme="dark") as visit:
        visit.open("audit")
        visit.page.emulate_media(media="print")
        ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor + ' ' + getComputedStyle(document.body).color")
        expect(numpy.median(gray(world, visit.page.screenshot())) > 230, f"a page that is read in the dark is printed dark: {ground}")


# The phone's sheet

def height(visit):
    return visit.page.evaluate("document.querySelector('.side').clientHeight / document.querySelector('.day').clientHeight")


def drag(visit, to):
    """Drags the grip with a finger to a height of the window, in three steps."""
    box = visit.has(".grip").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + 10
    send = visit.page.context.new_cdp_session(visit.page).send
    send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
    for part in (0.3, 0.7, 1):
        send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y + (to - y) * part}]})
    send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_the_sheet_is_dragged_to_three_heights(world):
    with world.visit("walker", **PHONE) as visit:
        visit.open(f"day/{yesterday()}")
        visit.has(".entry")
        middle = height(visit)
        for to, name, is_right in ((40, "tall", lambda now: now > 0.95), (620, "low", lambda now: now < 0.4), (330, "", lambda now: abs(now - middle) < 0.02)):
            drag(visit, to)
            eventually(f"the sheet is at \"{name}\"", lambda: is_right(height(visit)) or visit.page.wait_for_timeout(20))
            expect(visit.page.locator(".day").get_attribute("data-sheet") == name, f"the sheet is at {visit.page.locator('.day').get_attribute('data-sheet')}, not at \"{name}\"")
        # A click and a key step through the same heights.
        for name in ("tall", "low", ""):
            visit.page.locator(".grip").press("Enter")
            expect(visit.page.locator(".day").get_attribute("data-sheet") == name, f"Enter does not choose \"{name}\"")
        visit.page.locator(".grip").tap()
        expect(visit.page.locator(".day").get_attribute("data-sheet") == "tall", "a tap does not choose the next height")
        visit.must_be_quiet("sheet")


# Without motion

def test_nothing_moves_for_those_who_want_no_motion(world):
    """With `prefers-reduced-motion` no element has an animation or a transition, and the map jumps instead of sliding."""
    moving = """() => [...document.querySelectorAll('*')].filter(one => {
        const style = getComputedStyle(one);
        return style.animationName !== 'none' || style.transitionDuration.split(',').some(time => parseFloat(time) > 0);
    }).map(one => one.outerHTML.slice(0, 100))"""
    with world.visit("walker", reduced_motion="reduce") as visit:
        visit.open(f"day/{yesterday()}")
        visit.has(".leaflet-container canvas")
        for view in ("", "now", "sharing", "requests", "regions", "audit"):
            if view:
                visit.follow(view)
            visit.page.wait_for_load_state("networkidle")
            found = visit.page.evaluate(moving)
            expect(not found, f"{view or 'day'}: {found[:5]}")
            expect(not visit.page.evaluate("document.getAnimations().length"), f"{view or 'day'} is animated")
        visit.must_be_quiet("no motion")
    with world.visit("walker", reduced_motion="no-preference") as visit:
        visit.open("sharing")
        expect(visit.page.evaluate(moving), "the test sees no transition where there are some")


# Without a network

def test_the_page_opens_without_a_network_after_one_load_and_shows_nothing_personal(world):
    for locale, words in (("en-GB", ("No connection", "Try again")), ("de-AT", ("Keine Verbindung", "Noch einmal"))):
        with world.visit("walker", locale=locale) as visit:
            # One load only. The worker is ready when it has kept what the page needs without a network.
            visit.open("now")
            visit.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
            visit.page.context.set_offline(True)
            visit.page.reload()
            visit.has(".empty", words[0])
            for view in ("audit", "now", f"day/{yesterday()}"):
                visit.page.goto(f"{world.url}/{view}")
                visit.has(".empty", words[0])
                expect("friend" not in visit.page.content(), f"{view} shows a person without a network")
            kept = visit.page.evaluate("""async () => {
                const found = [];
                for (const name of await caches.keys()) for (const one of await (await caches.open(name)).keys()) found.push(new URL(one.url).pathname);
                return found;
            }""")
            expect(kept and all(path.startswith("/assets/") for path in kept), f"kept are {kept}")
            visit.page.context.set_offline(False)
            visit.page.get_by_role("button", name=words[1]).click()
            visit.ready("walker")


def test_what_the_worker_lost_is_kept_again(world):
    """A browser may drop what a worker keeps; the next page that is loaded fetches it again."""
    with world.visit("walker") as visit:
        visit.open("now")
        visit.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        visit.page.evaluate("async () => { for (const name of await caches.keys()) await caches.delete(name); }")
        visit.open("places")
        eventually("the shell is kept again", lambda: visit.page.evaluate(
            "async () => (await (await caches.open('assets')).keys()).some(one => /strings[.]de[.]json$/.test(one.url))") or visit.page.wait_for_timeout(20))
        visit.page.context.set_offline(True)
        visit.page.reload()
        visit.has(".empty", "No connection")
