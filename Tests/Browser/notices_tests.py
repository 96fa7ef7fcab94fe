"""Notices on the page: added from a session, confirmed, sent after the session has ended, and removed with their token."""
import contextlib
import email
import http.server
import re
import socketserver
import threading

from browser import PHONE, expect
from house import configured, eventually, serving


@contextlib.contextmanager
def ntfy():
    """A server that takes what is posted to it: its address, and the texts by topic."""
    posted = []

    class Topics(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            posted.append((self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with serving(Topics) as origin:
        yield origin, posted


@contextlib.contextmanager
def relay():
    """A relay without TLS (RFC 5321): its port, and the mails that it took."""
    mails = []

    class Lines(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(b"220 relay\r\n")
            while line := self.rfile.readline():
                word = line.split(b" ")[0].strip().upper()
                if word == b"DATA":
                    self.wfile.write(b"354 go on\r\n")
                    text = b""
                    while (line := self.rfile.readline()) not in (b".\r\n", b""):
                        text += line
                    mails.append(text.decode())
                self.wfile.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
                if word == b"QUIT":
                    return

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Lines)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], mails
    finally:
        server.shutdown()
        server.server_close()


def text_of(mail):
    """The text of a mail, without its transfer encoding (RFC 2045)."""
    message = email.message_from_string(mail)
    parts = [part for part in message.walk() if part.get_content_type() == "text/plain"]
    return "\n".join(part.get_payload(decode=True).decode() for part in parts)


def press(visit, name):
    visit.page.get_by_role("button", name=name, exact=True).click()


def finish(visit, name):
    visit.page.locator("dialog").get_by_role("button", name=name, exact=True).click()
    visit.page.locator("dialog").wait_for(state="detached")


def test_notices_are_added_confirmed_and_removed(world):
    house = world.house
    with ntfy() as (origin, posted), relay() as (port, mails), configured(
            house, webhooks={"targets": [origin], "privateAddresses": True},
            mail={"host": "127.0.0.1", "port": port, "security": "none", "from": "where@example.org"}):
        with world.visit("walker") as visit:
            visit.open("sharing")
            visit.has("h2", "Notices")
            press(visit, "By ntfy")
            expect(not world.violations(visit.page), f"the form: {world.violations(visit.page)}")
            visit.page.get_by_label("Address of the topic").fill(f"{origin}/walkers-phone")
            visit.page.locator("dialog").get_by_label("About").select_option("asked")
            finish(visit, "Begin")
            visit.has("td", f"{origin}/walkers-phone")
            visit.has("td", "who asks and what was shown")
            visit.page.get_by_role("button", name=f"Send a test to {origin}/walkers-phone").click()
            visit.has("td", "Test delivered")
            eventually("the test is posted", lambda: posted == [("/walkers-phone", "This is a test: notices arrive here.")])
            expect(not world.violations(visit.page), f"a test: {world.violations(visit.page)}")
            press(visit, "By mail")
            visit.page.get_by_label("Mail address").fill("walker@example.org")
            finish(visit, "Begin")
            visit.has("td .pill", "waits for the code")
            mail = eventually("the code is mailed", lambda: mails and mails[0])
            expect(visit.page.get_by_role("button", name="Send a test to walker@example.org").count() == 0, "a test before the code")
            code = re.search(r"\b[A-Z0-9]{5}-[A-Z0-9]{5}\b", text_of(mail))[0]
            visit.page.get_by_role("button", name="Enter the code for walker@example.org").click()
            visit.page.locator("dialog").get_by_label("Code", exact=True).fill("AAAAA-AAAAA")
            visit.page.locator("dialog").get_by_role("button", name="Confirm").click()
            visit.has("dialog .problem", "wrong")
            visit.page.locator("dialog").get_by_label("Code", exact=True).fill(code)
            finish(visit, "Confirm")
            visit.page.locator("td .pill", has_text="waits for the code").wait_for(state="detached")
            expect(visit.page.locator("td .pill", has_text="active").count() == 2, visit.text()[-400:])
            expect(not world.violations(visit.page), f"the list: {world.violations(visit.page)}")
            visit.complaints.clear()  # The browser reports the refused code.
            # The session signs out; the notices go on.
            visit.page.evaluate("fetch('/session?everywhere=true', {method: 'DELETE'}).then(() => true)")
            world.cookies.pop("walker")
        house.get("/v1/people/walker/location", house.tokens["friend"])
        eventually("the notice is posted", lambda: any(path == "/walkers-phone" and "friend" in text for path, text in posted))
        tokens = house.get("/v1/people/walker/tokens", house.tokens["walker"])["items"]
        expect(sum(sorted(one["scopes"]) == ["audit", "query"] for one in tokens) == 2, f"the tokens are {tokens}")
        with world.visit("walker", **PHONE) as visit:
            visit.open("sharing")
            for target in (f"{origin}/walkers-phone", "walker@example.org"):
                visit.page.get_by_role("button", name=f"Remove the notices to {target}").click()
                finish(visit, "Remove")
            visit.page.locator("td", has_text="walkers-phone").wait_for(state="detached")
            expect(visit.sideways() <= 0, f"{visit.sideways()} px")
            visit.must_be_quiet("removed")
        expect(house.get("/v1/people/walker/webhooks", house.tokens["walker"])["items"] == [], "notices are left")
        tokens = house.get("/v1/people/walker/tokens", house.tokens["walker"])["items"]
        expect(not any(sorted(one["scopes"]) == ["audit", "query"] for one in tokens), f"their tokens are left: {tokens}")


def test_a_notice_comes_in_the_readers_language_and_zone(world):
    house = world.house
    with ntfy() as (origin, posted), configured(house, webhooks={"targets": [origin], "privateAddresses": True}):
        with world.visit("walker", locale="de-AT", timezone_id="America/New_York") as visit:
            visit.open("sharing")
            press(visit, "Per ntfy")
            visit.page.get_by_label("Adresse des Themas").fill(f"{origin}/t")
            finish(visit, "Beginnen")
            visit.page.get_by_role("button", name=f"Test an {origin}/t senden").click()
            visit.has("td", "Test zugestellt")
            eventually("the test is posted", lambda: posted == [("/t", "Das ist ein Test: Benachrichtigungen kommen hier an.")])
            items = house.get("/v1/people/walker/webhooks", house.tokens["walker"])["items"]
            expect([(one["language"], one["zone"]) for one in items] == [("de", "America/New_York")], f"the list is {items}")
            visit.page.get_by_role("button", name=f"Benachrichtigungen an {origin}/t entfernen").click()
            finish(visit, "Entfernen")
            visit.page.locator("td", has_text=f"{origin}/t").wait_for(state="detached")
            visit.must_be_quiet("german")


def test_a_test_that_is_not_accepted_says_why(world):
    house = world.house

    class Refusing(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(507)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with serving(Refusing) as origin, configured(house, webhooks={"targets": [origin], "privateAddresses": True}):
        with world.visit("walker", **PHONE) as visit:
            visit.open("sharing")
            press(visit, "By ntfy")
            visit.page.get_by_label("Address of the topic").fill(f"{origin}/t")
            finish(visit, "Begin")
            button = visit.page.get_by_role("button", name=f"Send a test to {origin}/t")
            button.click()
            visit.has("td .pill", "tries again")
            visit.has("td", "507")
            visit.has("td", "Test on its way")
            expect(visit.sideways() <= 0, f"{visit.sideways()} px")
            visit.page.locator("[aria-busy=true]").wait_for(state="detached", timeout=20_000)
            # A second one waits for the first.
            button.click()
            visit.has(".problem", "has not been accepted yet")
            visit.complaints.clear()  # The browser reports the refusal.
            visit.page.get_by_role("button", name=f"Remove the notices to {origin}/t").click()
            finish(visit, "Remove")
            visit.page.locator("td", has_text=f"{origin}/t").wait_for(state="detached")


def test_a_target_that_is_not_allowed_is_refused_in_words(world):
    with world.visit("walker") as visit:
        visit.open("sharing")
        press(visit, "In Home Assistant")
        visit.page.locator("dialog").get_by_role("button", name="Begin").click()
        visit.has("dialog .problem", "MQTT broker")
        visit.complaints.clear()  # The browser reports the refusal.
    with world.visit("operator") as visit:
        visit.open("sharing?person=walker")
        visit.has("h2", "Notices")
        expect(visit.page.get_by_role("button", name="By ntfy").count() == 0, "the operator may add a notice of a person")
        visit.must_be_quiet("operator")
