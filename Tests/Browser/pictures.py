"""Pictures of every view, on a desk, on a phone and in the dark: pictures.py FOLDER."""
import pathlib
import sys

from browser import FORMS, VIEWS, World
from house import House


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    house = House()
    house.furnish()
    house.consent_wanted()
    world = World(house)
    views = [*VIEWS, ("walker", f"requests/{house.ids['answered']}"), ("walker", f"requests/{house.ids['asked']}"),
             ("operator", "audit?person=walker"), ("stranger", "devices"), ("stranger", "sharing"), (None, "")]
    for form, options in FORMS.items():
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
                    visit.page.wait_for_load_state("networkidle") if who is None else visit.page.wait_for_timeout(700)
                    name = view.split("?")[0].replace("/", "-") or "sign-in"
                    if "-" in name and len(name) > 40:
                        name = "requests-" + ("mine" if view.endswith(house.ids["asked"]) else "about-me")
                    visit.page.screenshot(path=folder / f"{name}-{who or 'nobody'}-{form}.png")
    world.end()
    house.end()
    print(f"{len(views) * len(FORMS)} pictures are in {folder}.")


if __name__ == "__main__":
    main(sys.argv[1])
