"""The proof of a person's log: what a browser remembers, what it refuses, and what the stand-alone script says to the same files."""
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

from browser import FORMS, PHONE, expect
from house import ROOT
from modules import in_modules
from views_tests import targets

SCRIPT = ROOT / "scripts/verify_proof.py"


# The arithmetic, judged by the definitions of RFC 9162 as they are written there, and by published vectors

def root_of(leaves):
    """MTH of section 2.1.1."""
    if len(leaves) == 1:
        return hashlib.sha256(b"\0" + leaves[0]).digest()
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root_of(leaves[:middle]) + root_of(leaves[middle:])).digest()


def proof_of(first, leaves, is_whole=True):
    """PROOF and SUBPROOF of section 2.1.4.1."""
    if first == len(leaves):
        return [] if is_whole else [root_of(leaves)]
    middle = 1 << (len(leaves) - 1).bit_length() - 1
    if first <= middle:
        return proof_of(first, leaves[:middle], is_whole) + [root_of(leaves[middle:])]
    return proof_of(first - middle, leaves[middle:], False) + [root_of(leaves[:middle])]


def text(data):
    return base64.b64encode(data).decode()


def consistent(world, cases):
    return in_modules(world, """
        const { continues } = await import(`${base}proof.js`);
        const found = [];
        for (const one of argument) found.push(await continues(...one));
        return found;""", cases)


def test_each_true_consistency_is_accepted_and_each_false_one_refused(world):
    leaves = [bytes([number]) for number in range(18)]
    roots = [None, *(root_of(leaves[:size]) for size in range(1, 19))]
    good, bad = [], []
    for second in range(1, 19):
        for first in range(1, second + 1):
            proof = proof_of(first, leaves[:second])
            case = [first, text(roots[first]), second, text(roots[second]), [text(one) for one in proof]]
            good.append(case)
            wrong = text(hashlib.sha256(b"another").digest())
            bad += [[first, wrong, *case[2:]], [*case[:3], wrong, case[4]], [*case[:4], [*case[4], wrong]], [0, *case[1:]], [second + 1, *case[1:]]]
            bad += [[*case[:4], case[4][:index] + [wrong] + case[4][index + 1:]] for index in range(len(proof))]
            if proof:
                bad += [[*case[:4], case[4][:-1]], [*case[:4], case[4][1:]], [*case[:4], []]]
    found = consistent(world, good)
    expect(len(good) == 171 and all(found), f"{found.count(False)} of {len(good)} true proofs are refused")
    found = consistent(world, bad)
    expect(not any(found), f"{found.count(True)} of {len(bad)} false proofs are accepted, for example {bad[found.index(True)] if True in found else ''}")


def test_consistency_proofs_are_as_the_published_vectors_say(world):
    folder = os.environ.get("WHEREABOUTS_FIXTURES")
    if not folder:
        return
    vectors = [json.loads(file.read_text()) for file in sorted(pathlib.Path(folder, "merkle/consistency").rglob("*.json"))]

    def digest(value):
        """Some vectors have placeholders that are no digests: their SHA-256 stands for them, so that equal ones stay equal."""
        data = base64.b64decode(value)
        return value if len(data) == 32 else text(hashlib.sha256(data).digest())
    found = consistent(world, [[one["size1"], digest(one["root1"]), one["size2"], digest(one["root2"]), [digest(part) for part in one["proof"] or []]] for one in vectors])
    wrong = [one.get("desc") for one, is_right in zip(vectors, found) if is_right == one["wantErr"]]
    expect(len(vectors) == 98 and not wrong, f"{len(vectors)} vectors, of which these are wrong: {wrong}")


# The block in the audit

def kept(visit):
    """What the browser remembers, by the origin of the log."""
    return visit.page.evaluate("""() => Object.fromEntries(Object.keys(localStorage).filter(key => key.startsWith('checkpoint '))
        .map(key => [key.slice(11), JSON.parse(localStorage.getItem(key))]))""")


def keep(visit, origin, record):
    visit.page.evaluate("([origin, record]) => localStorage.setItem(`checkpoint ${origin}`, JSON.stringify(record))", [origin, record])


def press(visit, name, says):
    visit.page.locator(".proof").get_by_role("button", name=name, exact=True).click()
    return visit.has(".proof", says)


def saved(visit, name, within=".proof"):
    with visit.page.expect_download() as download:
        visit.page.locator(within).get_by_text(name, exact=True).click()
    return download.value.suggested_filename, pathlib.Path(download.value.path()).read_text()


def judged(world, proof, *options):
    file = world.house.folder / "judged.person-proof"
    file.write_text(proof)
    return subprocess.run([sys.executable, str(SCRIPT), str(file), *options], capture_output=True, text=True)


def test_the_first_checkpoint_is_remembered_and_the_next_continues_it(world):
    with world.visit("walker") as visit:
        asked = []
        visit.page.on("request", lambda request: re.search("/checkpoint|/proof$|proof.js", request.url) and asked.append(request.url))
        visit.open("audit").has(".proof", "has not checked yet")
        visit.page.wait_for_timeout(300)
        expect(not asked, f"the page has asked for {asked} before anyone checks")
        press(visit, "Check now", "remembers from now on")
        [(origin, first)] = kept(visit).items()
        expect(origin == first["origin"] == first["note"].split("\n")[0] and first["size"] == int(first["note"].split("\n")[1]), f"{first}")
        expect(origin == world.house.get("/session", world.house.tokens["walker"])["log"], "the session names another log")
        world.house.get("/v1/people/walker/location", world.house.tokens["friend"])
        press(visit, "Check now", f"continues the one of {first['size']:,} entries")
        visit.has(".proof", "The house's signature is right.")
        second = kept(visit)[origin]
        # The reading of the first checkpoint, the friend's reading, and perhaps those of the page.
        expect(second["size"] >= first["size"] + 2, f"{first['size']} entries, then {second['size']}")
        checks = [url for url in asked if "/checkpoint" in url]
        expect(len(checks) == 2 and checks[1].endswith(f"?since={first['size']}"), f"two checks have asked for {checks}")
        visit.page.reload()
        visit.ready().has(".proof", f"{second['size']:,} entries, checked")
        name, proof = saved(visit, "Save the proof")
        older = world.house.folder / "older"
        older.write_text(second["note"])
        said = judged(world, proof, "--key", second["key"], "--older", str(older))
        expect(name == "walker.person-proof" and said.returncode == 0 and f"of {second['size']} entries" in said.stdout, f"{name}: {said.stdout[-400:]}{said.stderr}")
        visit.must_be_quiet("proof")


def test_what_is_remembered_names_nobody_and_outlives_the_session(world):
    with world.visit() as visit:
        def sign_in(who):
            visit.page.goto(f"{world.url}/audit")
            visit.page.get_by_label("code").fill(world.house.tokens[who])
            visit.page.get_by_role("button", name="Sign in").click()
            visit.ready(who)

        def sign_out(who):
            visit.page.locator("summary", has_text=who).click()
            visit.page.get_by_role("button", name="Sign out", exact=True).click()
            visit.has("h1", "Sign in")

        sign_in("friend")
        press(visit, "Check now", "remembers from now on")
        sign_out("friend")
        left = visit.page.evaluate("JSON.stringify({...localStorage})")
        expect(len(kept(visit)) == 1 and "friend" not in left and set(json.loads(left)) <= {"theme", "keys", *(f"checkpoint {one}" for one in kept(visit))}, f"after signing out this is left: {left}")
        [first] = kept(visit).values()
        # Somebody else's log is not the one that is remembered, and is not taken for it.
        sign_in("work")
        press(visit, "Check now", "remembers another log")
        visit.has(".proof", "someone else has checked with this browser")
        press(visit, "Accept this log", "remembers from now on")
        sign_out("work")
        sign_in("friend")
        visit.has(".proof", f"{first['size']:,} entries, checked")
        press(visit, "Check now", f"continues the one of {first['size']:,} entries")
        expect(len(kept(visit)) == 2, f"{list(kept(visit))}")
        expect(not visit.strangers, f"requests that leave the origin: {visit.strangers}")


# Refusals

@contextlib.contextmanager
def checked(world, **options):
    """The audit of `walker` in a browser that has checked once, with what it remembers."""
    with world.visit("walker", **options) as visit:
        visit.open("audit")
        visit.page.locator(".proof button").first.click()
        visit.has(".proof summary")
        [(origin, record)] = kept(visit).items()
        yield visit, origin, record


def other_root(record):
    root = text(hashlib.sha256(record["root"].encode()).digest())
    return {**record, "root": root, "note": record["note"].replace(record["root"], root)}


def test_a_history_that_was_changed_is_refused_and_the_evidence_kept(world):
    with checked(world) as (visit, origin, record):
        before = other_root(record)
        keep(visit, origin, before)
        press(visit, "Check now", f"does not continue the one of {record['size']:,} entries")
        after = kept(visit)[origin]
        refused = after.pop("refused")
        expect(after == before, "the checkpoint of before is overwritten")
        name, evidence = saved(visit, "Save both checkpoints")
        expect(name.endswith(".txt") and before["note"] in evidence and refused["note"] in evidence and record["key"] in evidence, evidence)
        # Another program says the same of the two notes.
        proof = world.house.get("/v1/people/walker/proof", world.house.tokens["walker"])
        file = world.house.folder / "older"
        for note, status in ((before["note"], 1), (record["note"], 0)):
            file.write_text(note)
            said = judged(world, proof, "--key", record["key"], "--older", str(file))
            expect(said.returncode == status, f"{said.stdout}{said.stderr}")
        # The warning stays: on the next load, and after a check that finds nothing.
        visit.page.reload()
        visit.ready().has(".proof [role=alert]", "does not continue")
        keep(visit, origin, {**record, "refused": refused})
        press(visit, "Check now", "continues the one of")
        visit.has(".proof [role=alert]", "does not continue")
        visit.page.locator(".proof").get_by_role("button", name="Dismiss this warning").click()
        visit.page.locator("dialog").get_by_role("button", name="Dismiss this warning").click()
        visit.page.locator(".proof [role=alert]").wait_for(state="detached")
        expect("refused" not in kept(visit)[origin], "the refused checkpoint is still there")
        visit.must_be_quiet("refused")


def test_a_log_that_is_shorter_than_before_is_refused(world):
    with checked(world) as (visit, origin, record):
        longer = {**record, "size": 900_000, "note": record["note"].replace(f"\n{record['size']}\n", "\n900000\n")}
        keep(visit, origin, longer)
        press(visit, "Check now", "This browser has seen 900,000.")
        expect({**kept(visit)[origin], "refused": None} == {**longer, "refused": None}, "the checkpoint of before is overwritten")


def test_an_answer_that_was_changed_on_its_way_is_refused(world):
    def changed(change):
        def handle(route):
            answer = route.fetch()
            route.fulfill(response=answer, json=change(answer.json()))
        return handle

    def signature(answer):
        head, _, last = answer["checkpoint"].rpartition(" ")
        data = bytearray(base64.b64decode(last))
        data[40] ^= 1
        return {**answer, "checkpoint": f"{head} {text(bytes(data))}\n"}

    def proof(answer):
        return {**answer, "consistency": answer["consistency"][:-1]}

    def key(answer):
        name, identifier, data = answer["key"].split("+", 2)
        data = bytearray(base64.b64decode(data))
        data[7] ^= 1
        return {**answer, "key": f"{name}+{identifier}+{text(bytes(data))}"}

    for change, says in ((signature, "signature of the checkpoint is wrong"), (proof, "does not continue"), (key, "signature of the checkpoint is wrong"),
                         (lambda answer: {**answer, "checkpoint": "nothing"}, "not a checkpoint")):
        with checked(world) as (visit, origin, record):
            visit.page.route("**/checkpoint*", changed(change))
            press(visit, "Check now", says)
            expect({**kept(visit)[origin], "refused": None} == {**record, "refused": None}, "the checkpoint of before is overwritten")


def test_another_key_is_taken_only_when_asked(world):
    with checked(world) as (visit, origin, record):
        name, identifier, _ = record["key"].split("+", 2)
        keep(visit, origin, {**record, "key": f"{name}+{identifier}+{text(bytes(33))}"})
        press(visit, "Check now", "signed with another key")
        expect(kept(visit)[origin]["key"] != record["key"], "the key is taken without a question")
        press(visit, "Accept this log", "continues the one of")
        expect(kept(visit)[origin]["key"] == record["key"], "the key is not taken")


def test_a_log_with_another_name_is_taken_only_when_asked(world):
    house = world.house
    file = house.data / "config.json"
    config = json.loads(file.read_text())
    with checked(world) as (visit, origin, record):
        house.stop_service()
        file.write_text(json.dumps({**config, "publicURL": "http://moved.example"}))
        try:
            house.serve()
            visit.open("audit").has(".proof", "has not checked yet")
            press(visit, "Check now", "Your log has another name than before")
            expect(list(kept(visit)) == [origin], "the other log is taken without a question")
            _, evidence = saved(visit, "Save both checkpoints")
            expect(record["note"] in evidence and "moved.example/" in evidence, evidence)
            press(visit, "Accept this log", "remembers from now on")
            expect(len(kept(visit)) == 2 and kept(visit)[origin] == record, "the log of before is forgotten")
        finally:
            house.stop_service()
            file.write_text(json.dumps(config))
            house.serve()
        visit.open("audit").has(".proof", f"{record['size']:,} entries, checked")
        press(visit, "Check now", f"continues the one of {record['size']:,} entries")


# Browsers that cannot

def test_without_encryption_the_browser_says_that_it_cannot_check(world):
    browser = world.launch("--host-resolver-rules=MAP house.example 127.0.0.1")
    try:
        with world.visit(browser=browser) as visit:
            address = world.url.replace("127.0.0.1", "house.example")
            visit.page.context.add_cookies([{**world.session("walker"), "url": address}])
            visit.page.goto(f"{address}/audit")
            visit.ready()
            expect(visit.page.evaluate("crypto.subtle === undefined"), "the page is a secure context")
            asked = []
            visit.page.on("request", lambda request: "/checkpoint" in request.url and asked.append(request.url))
            press(visit, "Check now", "cannot check here")
            expect(not asked and not kept(visit), f"the page has asked for {asked} and remembers {kept(visit)}")
            expect(not world.violations(visit.page), f"{world.violations(visit.page)}")
            _, proof = saved(visit, "Save the proof")
            expect(proof.startswith("whereabouts/person-proof@v1"), proof[:80])
    finally:
        browser.close()


def test_without_ed25519_the_key_is_compared_and_nothing_else_claimed(world):
    with world.visit("walker") as visit:
        visit.page.add_init_script("""
            const before = crypto.subtle.importKey.bind(crypto.subtle);
            crypto.subtle.importKey = (form, data, algorithm, ...rest) => algorithm.name === 'Ed25519' ? Promise.reject(new DOMException('', 'NotSupportedError')) : before(form, data, algorithm, ...rest);""")
        visit.open("audit")
        press(visit, "Check now", "remembers from now on")
        press(visit, "Check now", "continues the one of")
        expect("signature" not in visit.page.locator(".proof").inner_text(), visit.page.locator(".proof").inner_text())


def test_each_row_says_whether_a_checkpoint_covers_it(world):
    world.house.get("/v1/people/walker/checkpoint", world.house.tokens["walker"])
    with world.visit("walker") as visit:
        visit.open("audit?outcome=all").has("tbody", "signed")
        # The readings of this page are newer than the checkpoint.
        world.house.get("/v1/people/walker/location", world.house.tokens["walker"])
        visit.page.reload()
        visit.ready().has("tbody tr:first-child", "in the log")
        visit.page.locator("tbody tr:first-child").get_by_role("button").click()
        visit.has("tr.opened dl", "in the log")
        visit.must_be_quiet("rows")
    # The list without script has the reads of others only.
    world.house.get("/v1/people/walker/location", world.house.tokens["friend"])
    with world.visit("walker", java_script_enabled=False) as visit:
        visit.page.goto(f"{world.url}/audit?plain=true")
        visit.has("table", "in the log")


def test_without_script_the_proof_is_a_file(world):
    key = world.house.get("/v1/people/walker/checkpoint", world.house.tokens["walker"])["key"]
    with world.visit("walker", java_script_enabled=False) as visit:
        visit.page.goto(f"{world.url}/audit?plain=true")
        visit.has("pre", "verify_proof.py walker.person-proof --key KEY")
        name, proof = saved(visit, "Save the proof", "main")
        expect(name == "walker.person-proof" and judged(world, proof, "--key", key).returncode == 0, f"{name}: {proof[:200]}")
    with world.visit("walker", **PHONE) as visit:
        visit.page.goto(f"{world.url}/audit?plain=true")
        visit.has("h2", "Proof")
        expect(not world.violations(visit.page), f"the plain view: {world.violations(visit.page)}")


# In every state

# The state before a check is that of the view, which has tests of its own.
def test_every_state_is_accessible_and_fits(world):
    for form, options in {**FORMS, "german": {"locale": "de-AT", "viewport": {"width": 320, "height": 640}}}.items():
        wrong = []
        with checked(world, **options) as (visit, origin, record):
            def judge(state):
                found = [*world.violations(visit.page), *(targets(visit, state) if form == "phone" else [])]
                if visit.sideways() > 0:
                    found.append(f"scrolls sideways by {visit.sideways()} px")
                keys = re.findall(r"proof\.\w+", visit.page.locator(".proof").inner_text())
                wrong.extend(f"{form}, {state}: {one}" for one in [*found, *keys])

            def check(selector):
                visit.page.locator(".proof > p button").first.click()
                visit.has(selector)

            visit.page.locator(".proof summary").click()
            visit.has(".proof dl")
            judge("remembered")
            keep(visit, origin, other_root(record))
            check(".proof [role=alert]")
            judge("refused")
            visit.page.evaluate("localStorage.clear()")
            keep(visit, f"old.{origin}", {**record, "origin": f"old.{origin}"})
            visit.open("audit")
            check(".proof [role=alert] dl")
            judge("another log")
            visit.page.locator(".proof [role=alert] button").first.click()
            visit.has(".proof summary")
        expect(not wrong, "\n    ".join(["", *wrong]))
