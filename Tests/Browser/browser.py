"""Chromium against the house: sign-in, what every page must keep (nothing leaves the origin, no error on the console), axe."""
import contextlib
import json
import os
import urllib.request

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Error, sync_playwright

from house import PATIENCE_SECONDS, ROOT

CHROMIUM = os.environ.get("WHEREABOUTS_CHROMIUM", "/usr/bin/chromium")
# A test that fails leaves a picture of its page here.
PICTURES = ROOT / ".build/browser"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
DESK = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
DARK = {**DESK, "color_scheme": "dark"}
FORMS = {"desk": DESK, "phone": PHONE, "dark": DARK}

# Who sees which view.
PERSONS_VIEWS = ["now", "day", "audit", "requests", "sharing", "places", "year", "regions", "devices"]
OPERATORS_VIEWS = ["operate", "operate/reports", "operate/events", "operate/imports", "operate/people", "welcome"]
VIEWS = [("walker", view) for view in PERSONS_VIEWS] + [("operator", view) for view in OPERATORS_VIEWS]


class Fault(AssertionError):
    """Something that the page promises is not so."""


def expect(is_good, sentence):
    if not is_good:
        raise Fault(sentence)


class Visit:
    """A page that is watched: what it asks of others and what it complains about."""

    def __init__(self, context, world):
        self.world, self.page = world, context.new_page()
        self.page.set_default_timeout(PATIENCE_SECONDS * 1000)
        self.complaints, self.strangers = [], []
        self.page.on("console", lambda message: message.type == "error" and self.complain(
            f"{message.text} {message.location.get('url', '').removeprefix(world.url)}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.note(request.url))

    def complain(self, sentence):
        """Keeps a sentence of the console. The view Now reads where the others are; whoever opens it again and again, as
        these tests do, meets the limit on reads, and the view says so."""
        if not ("429" in sentence and sentence.endswith("/location")):
            self.complaints.append(sentence)

    def note(self, url):
        if not url.startswith((self.world.url, "data:", "blob:")):
            self.strangers.append(url)

    def open(self, path):
        self.page.goto(f"{self.world.url}/{path.lstrip('/')}")
        return self.ready()

    def follow(self, path):
        """Goes to another view as a link does, without loading the page anew."""
        self.page.evaluate("""path => {
            const link = document.createElement('a');
            link.href = path;
            document.body.append(link);
            link.click();
            link.remove();
        }""", f"/{path}")
        self.page.wait_for_selector(f"html[data-ready={path.split('/')[0].split('?')[0]}]", state="attached")
        return self

    def ready(self, person=None):
        """Waits for the view; after signing in, for that of the person, because the form is ready before it too."""
        self.page.wait_for_selector(f"html[data-person={person}][data-ready]" if person else "html[data-ready]", state="attached")
        return self

    def text(self):
        return self.page.locator("main").inner_text()

    def has(self, selector, text=None):
        """Waits for a visible element."""
        found = self.page.locator(selector, has_text=text).first if text else self.page.locator(selector).first
        found.wait_for(state="visible")
        return found

    def tab_to(self, what, most=80):
        """Presses Tab until the focused element's name or text holds `what`."""
        for _ in range(most):
            self.page.keyboard.press("Tab")
            name = self.page.evaluate("""() => {
                const one = document.activeElement;
                return one ? [one.ariaLabel, one.labels?.[0]?.innerText, one.innerText, one.getAttribute('href')].join(' ') : '';
            }""")
            if what in name:
                return
        raise Fault(f"With {most} tabs the keyboard does not reach \"{what}\".")

    def sideways(self):
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def noises(self):
        """What was asked of others and what the console said since the last look."""
        heard = [f"asks {url}, which is not of this origin" for url in self.strangers] + [f"the console says {text}" for text in self.complaints]
        self.strangers.clear()
        self.complaints.clear()
        return heard

    def must_be_quiet(self, where):
        heard = self.noises()
        expect(not heard, f"{where}: {heard}")


class World:
    """The house, one Chromium, and a session for each person."""

    def __init__(self, house):
        self.house, self.url = house, house.url
        self.cookies = {}
        self.test = ""
        self.playwright = sync_playwright().start()
        self.browser = self.launch()
        self.axe = Axe()

    def launch(self, *more):
        return self.playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, *more])

    def end(self):
        with contextlib.suppress(Error):
            self.browser.close()
        self.playwright.stop()

    def session(self, who):
        """The cookie of a person, signed in as the page does it."""
        if who not in self.cookies:
            token = self.house.operator if who == "operator" else self.house.tokens[who]
            request = urllib.request.Request(
                self.url + "/session", json.dumps({"token": token}).encode(), method="POST",
                headers={"Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"})
            with urllib.request.urlopen(request) as answer:
                name, value = answer.headers["Set-Cookie"].split(";")[0].split("=", 1)
            self.cookies[who] = {"name": name, "value": value, "url": self.url, "httpOnly": True, "sameSite": "Strict"}
        return self.cookies[who]

    @contextlib.contextmanager
    def visit(self, who=None, browser=None, **options):
        """A watched page of a browser context of its own; of nobody, or of a person who is signed in."""
        context = (browser or self.browser).new_context(**{**DESK, "locale": "en-GB", "timezone_id": "Europe/Vienna", **options})
        try:
            if who:
                context.add_cookies([self.session(who)])
            visit = Visit(context, self)
            yield visit
        except Exception:
            with contextlib.suppress(Error):
                PICTURES.mkdir(parents=True, exist_ok=True)
                visit.page.screenshot(path=PICTURES / f"{self.test}.png")
            raise
        finally:
            context.close()

    def violations(self, page):
        found = self.axe.run(page).response["violations"]
        return [f"{one['id']}: {node['target']} {node.get('failureSummary', '')}" for one in found for node in one["nodes"]]
