"""What the page costs: bytes of its own code, requests before the first view, rows of a long audit, streams that are left."""
import json
import threading

from browser import PERSONS_VIEWS, expect
from house import eventually

# A view's own script and style, compressed, as they come over the wire.
OWN_BYTES_MOST = 40_000

OWN = r"""() => performance.getEntriesByType('resource')
    .filter(one => /^\/assets\/.*\.(js|css)$/.test(new URL(one.name).pathname) && !/leaflet/.test(one.name))
    .reduce((sum, one) => sum + one.encodedBodySize, 0)"""


def test_each_view_has_little_code(world):
    sizes = {}
    for view in [*PERSONS_VIEWS, "operate"]:
        with world.visit("operator" if view == "operate" else "walker", service_workers="block") as visit:
            visit.open(view)
            sizes[view] = visit.page.evaluate(OWN)
    expect(min(sizes.values()) > 5_000, f"bytes are not counted: {sizes}")
    expect(max(sizes.values()) <= OWN_BYTES_MOST, f"more than {OWN_BYTES_MOST} bytes of own code: {sizes}")


def test_the_page_names_all_scripts_of_its_view_at_once(world):
    for view in PERSONS_VIEWS:
        with world.visit("walker", service_workers="block") as visit:
            visit.open(view)
            # The map's code is loaded with the first map.
            late = visit.page.evaluate(r"""() => {
                const named = new Set([...document.querySelectorAll('link[rel=modulepreload], script[src]')].map(one => one.href || one.src));
                return performance.getEntriesByType('resource').map(one => one.name)
                    .filter(name => /\.js$/.test(new URL(name).pathname) && !/leaflet|map\.js/.test(name) && !named.has(name));
            }""")
            twice = visit.page.evaluate("() => performance.getEntriesByType('resource').map(one => one.name).filter((name, n, all) => /assets/.test(name) && all.indexOf(name) !== n)")
            expect(not late, f"{view} finds these scripts only by running others: {late}")
            expect(not twice, f"{view} asks twice for {twice}")
            expect(visit.page.evaluate("() => !performance.getEntriesByType('resource').some(one => new URL(one.name).pathname === '/session')"),
                   f"{view} asks who is signed in, which its page says")
            visit.must_be_quiet(view)


def test_a_page_that_is_loaded_again_and_again_has_its_live_stream(world):
    statuses = []
    with world.visit("friend") as visit:
        visit.page.on("response", lambda answer: "/v1/live" in answer.url and statuses.append(answer.status))
        for turn in range(24):
            visit.open("sharing")
            eventually("the stream is open", lambda: len(statuses) > turn or visit.page.wait_for_timeout(20))
        expect(set(statuses) == {200}, f"the streams of 24 loads were answered {statuses}")


RECONNECTING = r"""async ({ turns, last }) => {
    const seen = [], statuses = [];
    for (let turn = 0; turn < turns;) {
        const control = new AbortController();
        const answer = await fetch('/v1/live', { signal: control.signal, headers: { ...last && { 'Last-Event-ID': last } } });
        statuses.push(answer.status);
        // The place of a stream that was left is free a moment later.
        if (answer.status === 429) { await new Promise(done => setTimeout(done, 100)); continue; }
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        // How an open question stands is told at each return; a turn ends with events that are told once.
        const before = seen.length;
        for (let found = false; !found;) {
            const { value, done } = await reader.read();
            if (done) break;
            text += value;
            const events = text.split('\n\n');
            text = events.pop();
            for (const event of events) {
                const data = /^data: (.*)$/m.exec(event);
                if (!data) continue;
                if (/^event: read$/m.test(event)) {
                    const read = JSON.parse(data[1]);
                    // The page itself may still read.
                    if (read.verdict !== 'own') seen.push(read.number);
                }
                const id = /^id: (.*)$/m.exec(event);
                if (id) { last = id[1]; found = seen.length > before; }
            }
        }
        control.abort();
        turn++;
    }
    return { seen, statuses };
}"""


def test_fifty_reconnects_lose_nothing_and_repeat_nothing(world):
    house = world.house
    begun = house.get("/v1/people/walker/audit?limit=1", house.tokens["walker"])["items"][0]["number"]
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            house.get("/v1/people/walker/location")
            stop.wait(0.02)

    with world.visit("walker") as visit:
        visit.open("places")
        # The first event gives the id from which the others follow.
        asker = threading.Thread(target=ask)
        asker.start()
        try:
            found = visit.page.evaluate(RECONNECTING, {"turns": 51, "last": None})
        finally:
            stop.set()
            asker.join()
    seen = found["seen"]
    log = []
    # The audit is a moment behind the stream.
    after = f"&at-least={seen[-1]}"
    while not log or begun not in log:
        page = house.get(f"/v1/people/walker/audit?limit=500{after}", house.tokens["walker"])
        log += [one["number"] for one in page["items"] if one["kind"] == "read" and one.get("verdict") != "own" or one["number"] == begun]
        after = f"&after={page['next']}"
    log.reverse()
    span = log[log.index(seen[0]):log.index(seen[-1]) + 1]
    expect(len(seen) >= 51, f"only {len(seen)} events came")
    expect(len(set(seen)) == len(seen), f"{len(seen) - len(set(seen))} events came twice")
    expect([one for one in seen if one in set(log)] == span, f"of {len(span)} events {len(set(span) - set(seen))} were lost")
    expect(json.dumps(found["statuses"]).count("200") == 51, f"{found['statuses']}")
