"""Real content: a chosen visit, the path of a question, the dialogs, a share link, the page without a network and in German."""
import contextlib
import datetime

from playwright.sync_api import Error


def yesterday():
    return datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=1)


def chosen_visit(visit):
    visit.follow(f"day/{yesterday()}")
    visit.has(".entry.visit")
    visit.page.locator(".entry.visit .pick").nth(1).click()
    visit.has(".entry[data-current] .more-of")


def why(visit):
    chosen_visit(visit)
    visit.page.locator(".entry[data-current] .more-of button").last.click()
    visit.has(".why table tbody tr")


def fixes_of_a_way(visit):
    visit.follow(f"day/{yesterday()}")
    visit.has(".entry.trip")
    visit.page.locator(".entry.trip .pick").first.click()
    visit.page.locator(".entry[data-current] .more-of button").click()
    visit.has(".why table tbody tr")


def correction(index):
    def show(visit):
        chosen_visit(visit)
        visit.page.locator(".entry[data-current] .more-of button").nth(index).click()
        visit.has("dialog form")
    return show


def withdrawal(visit):
    fixes_of_a_way(visit)
    visit.page.locator(".why table tbody button").first.click()
    visit.has("dialog form")


def button(view, place, index, wanted="dialog"):
    """A dialog behind the button at an index in a part of a view, whatever its language."""
    def show(visit):
        visit.follow(view)
        visit.has(place)
        visit.page.locator(place).nth(index).click()
        visit.has(wanted)
    return show


def request(name):
    def show(visit):
        visit.follow(f"requests/{visit.world.house.ids[name]}")
        visit.has("ol.path li")
    return show


def details(visit):
    visit.follow("audit?who=friend&outcome=asked")
    visit.has("tbody tr")
    visit.page.locator("tbody tr button").first.click()
    visit.has("tr.opened ol.path")


# Sections of Sharing in their order: grants, links, invitations, codes, schedules.
SHARING = "main section:nth-of-type({}) p > button"

# Name and what shows it, from any view of `walker`.
CONTENT = {
    "day-chosen": chosen_visit, "day-why": why, "day-fixes": fixes_of_a_way, "day-withdraw": withdrawal,
    "correction-name": correction(0), "correction-merge": correction(1), "correction-split": correction(2), "correction-not": correction(3),
    "request-about-me": request("answered"), "request-mine": request("asked"), "audit-details": details,
    "sharing-grant": button("sharing", SHARING.format(1), 0), "sharing-link": button("sharing", SHARING.format(2), 0),
    "sharing-invite": button("sharing", SHARING.format(3), 0), "sharing-account": button("sharing", SHARING.format(3), 1),
    "sharing-schedule": button("sharing", "main section:last-of-type p > button", 0),
    "device-add": button("devices", "main p > button", 0), "device-remove": button("devices", "main .card button.danger", 0),
    "place-rename": button("places", "main tbody td:last-child button", 0), "place-same": button("places", "main tbody td:last-child button", 1),
    "now-ask": button("now", "main .cards button.primary", 0),
}


def close(visit):
    """Leaves a dialog as Escape does."""
    with contextlib.suppress(Error):
        visit.page.keyboard.press("Escape")
        visit.page.locator("dialog").wait_for(state="detached", timeout=5000)
