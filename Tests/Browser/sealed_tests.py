"""Sealed locations: the page opens them with a file of keys that it never sends, and forgets."""
import base64
import json
import pathlib
import subprocess
import sys

import cbor2

from browser import expect
from house import BUNDLE, ROOT, eventually


def sealed_house(world):
    """`anna` has a phone that seals, and `ben` a grant and keys; made once."""
    house = world.house
    if "anna" in house.tokens:
        return house, house.folder / "ben.keys"
    for person in ("anna", "ben", "eve"):
        house.add_person(person)
    house.add_phone("anna")
    for requester in ("ben", "eve"):
        house.grant("anna", requester, precision="exact", history=True)
    files = {person: house.folder / f"{person}.keys" for person in ("anna", "ben", "eve")}
    for person, file in files.items():
        house.tool("key", "add", "--as", person, "--keys", str(file))
    house.tool("key", "pin", "--as", "anna", "--person", "ben", "--keys", str(files["anna"]))
    for person in ("ben", "eve"):
        house.tool("key", "pin", "--as", person, "--person", "anna", "--keys", str(files[person]))
    house.tool("device", "seal", "anna-phone", "--as", "anna")
    props = house.folder / "anna-phone"
    props.mkdir()
    (props / "key").write_text(house.keys["anna"])
    (props / "scenario.json").write_text(json.dumps({
        "service": house.url, "pushStandIn": house.courier, "devices": [{
            "device": "anna-phone", "reportingKeyFile": "key", "bundleID": BUNDLE, "environment": "development",
            "track": str(ROOT / "data/demo/evening.gpx"), "at": "end", "keys": str(files["anna"]), "reports": ["updates"]}]}))
    house.start("anna-phone", "simulate", str(props / "scenario.json"))
    log = house.folder / "anna-phone.log"
    eventually("the sealing phone registers", lambda: "tokenUploaded" in log.read_text())
    eventually("a sealed fix", lambda: house.get("/v1/people/anna/envelopes", house.tokens["anna"])["items"])
    return house, files["ben"]


def secrets(file):
    """The secret keys of a file in the forms in which they could be sent."""
    keys = json.loads(pathlib.Path(file).read_text())
    raw = [bytes.fromhex(text) for text in [keys["identity"], *[one["key"] for one in keys["recipients"]]]]
    return [form for one in raw for form in (one.hex(), base64.b64encode(one).decode(), base64.urlsafe_b64encode(one).decode().rstrip("="))]


def watched(visit):
    """Everything that the page sends from now on: addresses, headers and bodies."""
    sent = []
    visit.page.on("request", lambda request: sent.append(
        " ".join([request.url, json.dumps(request.headers), (request.post_data_buffer or b"").decode("latin-1")])))
    return sent


def choose(visit, file):
    visit.has("details.keyring summary").click()
    visit.page.locator("details.keyring input[type=file]").set_input_files(str(file))


def test_the_page_opens_a_sealed_location_with_keys_that_it_never_sends(world):
    house, file = sealed_house(world)
    with world.visit("ben") as visit:
        sent = watched(visit)
        visit.open("now")
        card = "ul.cards li:has(h2:text-is('anna'))"
        visit.has(card, "no place known yet")
        choose(visit, file)
        visit.has("details.keyring", "The keys of ben are in this page.")
        # The newest fix of the history, with its place on the map.
        visit.has(f"{card} time")
        expect("no place known yet" not in visit.page.locator(card).inner_text(), "the location is not shown")
        # And an answer to a question.
        visit.page.locator(f"{card} button.primary").click()
        visit.page.locator("dialog input[name=purpose]").fill("late for dinner")
        visit.page.locator("dialog button.primary").click()
        visit.has(f"{card} .pill", "answered")
        expect(not visit.page.locator(f"{card} .problem").count(), visit.text())
        expect(len(sent) > 10 and not [one for one in sent for secret in secrets(file) if secret in one], "a key was sent")
        # Nothing is kept.
        kept = visit.page.evaluate("""async () => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie,
            (await indexedDB.databases?.() ?? []).map(one => one.name), document.documentElement.outerHTML])""")
        expect(not [one for one in secrets(file) if one in kept], "a key is kept")
        visit.must_be_quiet("now")
        expect(not world.violations(visit.page), world.violations(visit.page))


def test_the_keys_are_forgotten_by_a_reload_on_demand_and_by_signing_out(world):
    house, file = sealed_house(world)
    # Not the shared session, because it ends here.
    with world.visit() as visit:
        visit.open("")
        visit.page.locator("input[name=token]").fill(house.tokens["ben"])
        visit.page.keyboard.press("Enter")
        visit.ready("ben")
        visit.open("now")
        choose(visit, file)
        visit.has("details.keyring", "The keys of ben are in this page.")
        visit.page.reload()
        visit.ready()
        has_keys = "async () => { const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, ''); return (await import(`${base}sealed.js`)).owner() ?? ''; }"
        expect(visit.page.evaluate(has_keys) == "", "the keys outlive a reload")
        choose(visit, file)
        visit.has("details.keyring", "The keys of ben are in this page.")
        expect(visit.page.evaluate(has_keys) == "ben", "the page has no keys")
        visit.page.locator("details.keyring button").click()
        visit.has("details.keyring input[type=file]")
        expect(visit.page.evaluate(has_keys) == "", "the keys are not forgotten")
        visit.page.locator("details.keyring input[type=file]").set_input_files(str(file))
        visit.has("details.keyring", "The keys of ben are in this page.")
        visit.page.locator("header details.who summary").click()
        visit.page.locator("header details.who button", has_text="Sign out").first.click()
        visit.page.wait_for_selector("input[name=token]")
        visit.page.go_back()
        visit.page.wait_for_timeout(500)
        expect(visit.page.evaluate(has_keys) == "", "the keys outlive signing out")


def test_other_files_and_other_keys_open_nothing(world):
    house, file = sealed_house(world)
    with world.visit("eve") as visit:
        visit.open("now")
        choose(visit, ROOT / "data/demo/evening.gpx")
        visit.has("details.keyring .problem", "not a file of keys")
        # anna has not accepted eve's key, so nothing is sealed for it.
        visit.page.locator("details.keyring input[type=file]").set_input_files(str(house.folder / "eve.keys"))
        visit.has("details.keyring", "The keys of eve are in this page.")
        visit.has("ul.cards li:has(h2:text-is('anna'))", "no place known yet")
        visit.must_be_quiet("now")


FOREIGN = """async lines => {
    const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
    const sealed = await import(`${base}sealed.js`);
    const bytes = text => Uint8Array.from(text.match(/../g), pair => parseInt(pair, 16));
    const base64 = data => btoa(String.fromCharCode(...data));
    const seen = { opened: [], accepted: 0, reasons: {} };
    for (const [identity, opener, scope, envelope] of lines) {
        await sealed.take(JSON.stringify({ person: 'ben', identity: '11'.repeat(32), recipients: [{ key: opener }], people: [{ person: 'anna', identity }] }));
        const data = bytes(envelope);
        const tried = async (change, query, earliest = 0) => {
            try { return await sealed.answer({ envelope: base64(change) }, { who: 'anna', query, earliest }); } catch (error) {
                if (error.name !== 'Refused') throw error;
                seen.reasons[error.reason] = (seen.reasons[error.reason] ?? 0) + 1;
            }
        };
        const at = await tried(data, scope);
        seen.opened.push(at && [at.timestamp, at.latitude, at.longitude, at.horizontalAccuracy]);
        for (let index = 0; index < data.length; index += 5) {
            const changed = data.slice();
            changed[index] ^= 1 << index % 8;
            if (await tried(changed, scope)) seen.accepted += 1;
        }
        if (await tried(data, '00'.repeat(16)) || await tried(data, scope, at.timestamp + 900)) seen.accepted += 1;
        await sealed.take(JSON.stringify({ person: 'ben', identity: '11'.repeat(32), recipients: [{ key: '22'.repeat(32) }], people: [{ person: 'anna', identity }] }));
        if (await tried(data, scope)) seen.accepted += 1;
    }
    sealed.forget();
    return seen;
}"""


def test_answers_sealed_by_other_libraries_open_and_changed_ones_do_not(world):
    """`Tests/Conformance/envelopes.py` seals with pyhpke and cryptography."""
    text = subprocess.run([sys.executable, str(ROOT / "Tests/Conformance/envelopes.py"), "seal"], check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in text.splitlines()]
    answers = [line for line in lines if bytes.fromhex(line[3])[1] == 1]
    with world.visit("walker") as visit:
        visit.open("places")
        seen = visit.page.evaluate(FOREIGN, answers)
    fixes = [cbor2.loads(bytes.fromhex(line[4])) for line in answers]
    wanted = [[fix[1] / 1000, fix[2] / 1e7, fix[3] / 1e7, fix[4]] for fix in fixes]
    expect(seen["opened"] == wanted and len(wanted) == 10, f"{seen['opened']} is not {wanted}")
    expect(seen["accepted"] == 0 and {"wrongSignature", "foreignQuery", "tooOld", "notARecipient"} <= set(seen["reasons"]), seen)
