"""Pictures of every view and its dialogs, on a desk, on a phone, in the dark and in German: pictures.py FOLDER."""
import pathlib
import sys

from browser import DESK, FORMS, VIEWS, World
from content import CONTENT, close, yesterday
from house import House

PICTURED = {**FORMS, "german": {**DESK, "locale": "de-AT"}}
# Without script, and their names.
PLAIN = {f"day/{yesterday()}": "day", "audit": "audit", "requests": "requests", "sharing": "sharing", "places": "places", "year": "year"}


def opened(world, folder, form, options):
    """The dialogs of the views, a share link, the lists without script, and the page without a network."""
    count = 0

    def picture(visit, name):
        nonlocal count
        # Tiles and names come after the view.
        visit.page.wait_for_timeout(500)
        visit.page.screenshot(path=folder / f"{name}-{form}.png")
        count += 1

    with world.visit("walker", **options) as visit:
        visit.open("places")
        for name, show in CONTENT.items():
            show(visit)
            picture(visit, f"opened-{name}")
            close(visit)
        for path, name in PLAIN.items():
            visit.page.goto(f"{world.url}/{path}?plain=true")
            picture(visit, f"plain-{name}")
        visit.open("now")
        visit.page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        visit.page.context.set_offline(True)
        visit.page.reload()
        visit.has(".empty")
        picture(visit, "offline")
    with world.visit("operator", **options) as visit:
        visit.page.goto(f"{world.url}/operate?plain=true")
        picture(visit, "plain-operate")
    with world.visit(**options) as visit:
        visit.page.goto(f"{world.url}/link")
        picture(visit, "link")
    return count


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    house = House()
    house.furnish()
    house.consent_wanted()
    world = World(house)
    views = [*VIEWS, ("walker", f"requests/{house.ids['answered']}"), ("walker", f"requests/{house.ids['asked']}"),
             ("operator", "audit?person=walker"), ("stranger", "devices"), ("stranger", "sharing"), (None, "")]
    count = 0
    for form, options in PICTURED.items():
        count += opened(world, folder, form, options)
        for who in dict.fromkeys(who for who, _ in views):
            with world.visit(who, **options) as visit:
                for index, view in enumerate(view for other, view in views if other == who):
                    if who is None:
                        visit.page.goto(world.url)
                        visit.has("h1")
                    elif index == 0:
                        visit.open(view)
                    else:
                        visit.follow(view)
                    # Tiles and names come after the view.
                    visit.page.wait_for_load_state("networkidle") if who is None else visit.page.wait_for_timeout(500)
                    name = view.split("?")[0].replace("/", "-") or "sign-in"
                    if "-" in name and len(name) > 40:
                        name = "requests-" + ("mine" if view.endswith(house.ids["asked"]) else "about-me")
                    visit.page.screenshot(path=folder / f"{name}-{who or 'nobody'}-{form}.png")
    world.end()
    house.end()
    print(f"{count + len(views) * len(PICTURED)} pictures are in {folder}.")


if __name__ == "__main__":
    main(sys.argv[1])
