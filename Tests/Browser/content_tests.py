"""Views and dialogs with real content, in light, dark, German and on a phone: axe, sideways scrolling, the console."""
import re

from browser import DESK, FORMS, PHONE, expect
from content import CONTENT, close, yesterday


def each(world, **options):
    wrong = []
    with world.visit("walker", **options) as visit:
        visit.open("places")
        for name, show in CONTENT.items():
            show(visit)
            wrong += [f"{name}: {sentence}" for sentence in world.violations(visit.page)]
            if visit.sideways() > 0:
                wrong.append(f"{name} scrolls sideways by {visit.sideways()} px")
            wide = visit.page.evaluate("() => { const side = document.querySelector('.side'); return side ? side.scrollWidth - side.clientWidth : 0; }")
            if wide > 0:
                wrong.append(f"the list of {name} scrolls sideways by {wide} px")
            box = visit.page.locator("dialog[open]")
            if box.count() and box.evaluate("one => one.scrollWidth > one.clientWidth"):
                wrong.append(f"the dialog of {name} scrolls sideways")
            keys = visit.page.evaluate(r"""() => [...new Set(document.body.innerText.match(/\b(parts|audit|requests|sharing|places|fixes|fix|devices|day|now|kit)\.[a-z][a-zA-Z.]+/g) ?? [])]""")
            if keys:
                wrong.append(f"{name} shows keys instead of words: {keys}")
            wrong += [f"{name}: {noise}" for noise in visit.noises()]
            close(visit)
    expect(not wrong, "\n    ".join(["", *wrong]))


def test_what_people_open_on_a_desk(world):
    each(world, **FORMS["desk"])


def test_what_people_open_in_the_dark(world):
    each(world, **FORMS["dark"])


def test_what_people_open_on_a_phone(world):
    each(world, **FORMS["phone"])


def test_what_people_open_in_german_on_320_pixels(world):
    each(world, locale="de-AT", viewport={"width": 320, "height": 640})


def test_the_form_of_a_share_link(world):
    for options in (DESK, PHONE, {**DESK, "color_scheme": "dark"}, {"viewport": {"width": 320, "height": 640}, "locale": "de-AT"}):
        with world.visit(**options) as visit:
            visit.page.goto(f"{world.url}/link")
            visit.page.wait_for_selector("html[data-ready=link]", state="attached")
            found = world.violations(visit.page)
            expect(not found and visit.sideways() <= 0, f"{found}, {visit.sideways()} px")
            visit.must_be_quiet("link")


def test_the_lists_without_script_are_accessible(world):
    for who, paths in (("walker", [f"day/{yesterday()}", "audit", "requests", f"requests/{world.house.ids['answered']}", "sharing", "places", "year", "devices", "regions", "now"]),
                       ("operator", ["operate", "audit"])):
        for options in (DESK, {**DESK, "color_scheme": "dark"}, {"viewport": {"width": 390, "height": 844}, "locale": "de-AT"}):
            with world.visit(who, **options) as visit:
                for path in paths:
                    answer = visit.page.goto(f"{world.url}/{path}?plain=true")
                    expect(answer.status == 200, f"{path} answers {answer.status}")
                    found = world.violations(visit.page)
                    expect(not found, f"{path}, {options}: {found}")
                    expect(visit.sideways() <= 0, f"{path}, {options} scrolls sideways by {visit.sideways()} px")
                    # The operator's list has the names of projections and of kinds of events.
                    raw = [] if path == "operate" else [cell for cell in visit.page.locator("td").all_inner_texts() if re.fullmatch(r"[a-z]+[A-Z]\w+", cell)]
                    expect(not raw, f"{path} has words of the interface: {raw}")
                visit.must_be_quiet("lists without script")
