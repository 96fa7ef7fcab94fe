"""The first minutes of a house: add yourself, set up a phone, see its first fix; and the files with which a browser
installs it as an app."""
import base64
import json
import urllib.parse
import urllib.request

from browser import PHONE, expect
from house import HOME
from tasks_tests import decoded


def judge(visit, where):
    found = visit.world.violations(visit.page)
    expect(not found, f"{where}: {found}")
    expect(visit.sideways() <= 0, f"{where} scrolls sideways by {visit.sideways()} px")


def test_from_adding_oneself_to_the_first_fix(world):
    with world.visit(**PHONE) as visit:
        # A separate session, because the other tests still use theirs.
        visit.page.goto(f"{world.url}/")
        visit.page.get_by_label("code").fill(world.house.operator)
        visit.page.get_by_role("button", name="Sign in").click()
        visit.has("h1", "Welcome")
        visit.ready()
        judge(visit, "adding oneself")
        expect(visit.has("li[aria-current=step]").inner_text().startswith("Add yourself"), "the first step is not the current one")
        visit.page.get_by_label("Your name here").fill("gina")
        visit.page.get_by_role("button", name="Add yourself").click()
        visit.ready("gina").has("h1", "Welcome, gina")
        judge(visit, "setting up a phone")
        expect(visit.has("li[aria-current=step]").inner_text().startswith("Set up a phone"), "the second step is not the current one")
        visit.page.get_by_role("button", name="Set up a phone").click()
        code = decoded(visit)
        visit.has("[role=status]", "Waiting for the first fix")
        judge(visit, "waiting for the first fix")

        # The phone does what the code says, as OwnTracks sends it.
        told = json.loads(base64.b64decode(urllib.parse.unquote(code.split("=", 1)[1])))
        word = base64.b64encode(f"{told['username']}:{told['password']}".encode()).decode()
        now = visit.page.evaluate("Math.floor(Date.now() / 1000)")
        body = json.dumps({"_type": "location", "lat": HOME[0], "lon": HOME[1], "acc": 8, "tst": now}).encode()
        request = urllib.request.Request(told["url"], body, headers={"Authorization": f"Basic {word}", "Content-Type": "application/json"})
        expect(urllib.request.urlopen(request).status == 200, "the report is not taken")

        visit.has("main", "Your phone reports")
        judge(visit, "the phone reports")
        visit.page.get_by_role("link", name="Your day").click()
        visit.page.wait_for_selector("html[data-ready=day]", state="attached")
        visit.must_be_quiet("first minutes")


def test_welcome_as_a_person_is_accessible(world):
    for who in ("walker", "stranger"):
        for dark in ("light", "dark"):
            with world.visit(who, color_scheme=dark) as visit:
                visit.open("welcome")
                visit.has("h1", f"Welcome, {who}")
                judge(visit, f"welcome of {who}, {dark}")
                visit.must_be_quiet("welcome")


def test_the_icon_for_a_phone_is_the_icon(world):
    """iOS takes no SVG: its picture must show the same, but for the corners, which iOS cuts itself."""
    with world.visit("walker") as visit:
        visit.open("places")
        found = visit.page.evaluate("""async () => {
            const address = rel => document.querySelector(`link[rel="${rel}"]`).href;
            const draw = async url => {
                const image = new Image();
                image.src = url;
                await image.decode();
                const context = new OffscreenCanvas(180, 180).getContext('2d');
                context.drawImage(image, 0, 0, 180, 180);
                return [image.naturalWidth, context.getImageData(0, 0, 180, 180).data];
            };
            const [[size, png], [, svg]] = await Promise.all(['apple-touch-icon', 'icon'].map(rel => draw(address(rel))));
            let different = 0;
            let clear = 0;
            for (let n = 0; n < png.length; n += 4) {
                if (png[n + 3] < 255) clear++;
                if (svg[n + 3] === 255 && [0, 1, 2].some(one => Math.abs(png[n + one] - svg[n + one]) > 60)) different++;
            }
            return { size, different, clear };
        }""")
        expect(found["size"] == 180 and found["clear"] == 0 and found["different"] < 200, f"{found}")
