// Now: first what waits for me, then the people who share with me, with the age of each place in words.
import { circle, marker, openMap, text } from './map.js';
import { action, ask, busy, empty, h, page, pill, problem, sentence } from './kit.js';

export const title = 'now.title';

// The module that opens sealed locations, once the reader has chosen a file of keys, and what it has opened.
let sealed;
const opened = new Map();
const TWO_DAYS = 2 * 86_400;

// Each look at a person is recorded, and theirs to see: what was read a minute ago is not read again.
const known = new Map();
const FRESH = 60;

const meet = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];

export async function show(context) {
    const { api, strings, time, main, signal, person, live, me: { link } } = context;
    if (!person) {
        page(context, { title: strings('now.title') }, empty(strings('day.noPerson'), strings('day.noPersonLead'), h('a', { class: 'button', href: '/welcome' }, strings('welcome.nav'))));
        return;
    }
    const waiting = h('div', {});
    const people = h('ul', { class: 'cards' });
    const state = h('p', { class: 'mut small', role: 'status' });
    const keyring = h('details', { class: 'card keyring' });
    const map = h('section', { class: 'map', 'aria-label': strings('now.map') });
    main.replaceChildren(h('div', { class: 'day now' },
        h('section', { class: 'side' }, h('div', { class: 'page' }, h('h1', { tabindex: -1 }, strings('now.title')), state, waiting, people, !link && keyring)), map));

    const places = new Map();
    let drawn;
    const rows = new Map();
    const away = [];
    context.onLeave(() => { away.forEach(run => run()); drawn?.remove(); });

    const called = who => who === person && !link ? strings('now.you') : who;

    // MARK: Requests that wait for the reader
    async function consents() {
        const items = await api.all(api.mine('consent-requests'), {}, { signal });
        const now = time.now();
        waiting.replaceChildren(...items.filter(item => item.deadline > now).map(item => {
            const left = h('span', { class: 'mut' });
            const tick = () => { left.textContent = strings('now.left', { time: time.duration(Math.max(0, item.deadline - time.now())) }); if (item.deadline < time.now()) card.remove(); };
            const give = consent => async () => {
                await api.post(`${api.mine('consent-requests')}/${encodeURIComponent(item.query)}`, { consent });
                card.remove();
                context.announce(strings(consent === 'given' ? 'now.given' : 'now.refused'));
            };
            const card = h('div', { class: 'card wants' },
                h('p', {}, '◎ ', strings.rich('now.asks', { who: h('b', {}, item.requester ?? strings('day.erased')), purpose: strings('day.quote', { text: item.purpose ?? '' }) }), ' ', left),
                h('div', { class: 'row' }, action(strings('now.no'), give('refused')), action(strings('now.once'), give('given'), 'primary')));
            tick();
            const timer = setInterval(tick, 1000);
            away.push(() => clearInterval(timer));
            return card;
        }));
        if (waiting.children.length) context.announce(strings('now.waits', { count: waiting.children.length }));
    }

    // MARK: People
    async function look(who, again) {
        // A look has its price: whose place was opened here has none at the service.
        if (sealed?.knows(who) && opened.get(who)?.location) return lookSealed(who, again);
        const before = known.get(who);
        if (before && !again && time.now() - before.read < FRESH) return before;
        const found = { read: time.now() };
        try { found.location = (await api.get(api.person(who, 'location'), {}, { signal })).location; } catch (error) {
            if (error.name === 'AbortError') throw error;
            found.error = error;
        }
        if (!found.error) known.set(who, found);
        return found.location || found.error ? found : await lookSealed(who, again) ?? found;
    }

    // MARK: Sealed locations
    /** The newest location that the keys open, of the last two days; `null` if there is none. Recorded, as every look. */
    async function lookSealed(who, again) {
        if (!sealed?.knows(who)) return null;
        const before = opened.get(who);
        if (before && !again && time.now() - before.read < FRESH) return before;
        const found = { read: time.now() };
        try {
            const items = await api.all(api.person(who, 'envelopes'), { from: Math.floor(time.now() - TWO_DAYS), limit: 100 }, { signal, most: 20_000 });
            found.location = await sealed.newest(items, who);
        } catch (error) {
            if (error.name === 'AbortError') throw error;
            found.error = refusal(who, error);
        }
        opened.set(who, found);
        return found;
    }
    /** An error with a sentence: why an envelope is not shown, or the error itself. */
    const refusal = (who, error) => error.name !== 'Refused' ? error
        : Object.assign(error, { detail: strings(error.reason === 'notARecipient' ? 'now.notForYou' : 'now.refusedEnvelope', { who }) });

    /** Takes a file of keys, and looks again at those whose place is not known. */
    async function takeKeys(file) {
        const module = await import('./sealed.js');
        if (!file || file.size > 1 << 20) throw Object.assign(new Error(), { detail: strings('now.badKeys') });
        try { await module.take(await file.text()); } catch (error) {
            throw Object.assign(error, { detail: strings(error.reason === 'insecure' ? 'now.insecure' : 'now.badKeys') });
        }
        sealed = module;
        await Promise.all([...rows].filter(([, row]) => !row.found.location).map(async ([who, row]) => {
            row.found = await lookSealed(who) ?? row.found;
            place(who);
            say(who);
        }));
        sayKeys();
        context.announce(strings('now.keysOf', { who: sealed.owner() }));
    }
    function forgetKeys() {
        sealed.forget();
        for (const [who, found] of opened) {
            const row = rows.get(who);
            if (row?.found === found) row.found = { read: found.read };
            place(who);
            say(who);
        }
        opened.clear();
        sayKeys();
    }
    function sayKeys() {
        const input = h('input', { type: 'file', accept: '.keys,.json', onchange: event => busy(input, () => takeKeys(event.target.files[0]), keyring) });
        keyring.replaceChildren(h('summary', {}, strings('now.sealed')), h('p', { class: 'mut small' }, strings('now.sealedLead')),
            sealed?.owner() ? h('p', { class: 'row' }, strings('now.keysOf', { who: sealed.owner() }), h('button', { type: 'button', onclick: forgetKeys }, strings('now.forget')))
                : h('label', {}, strings('now.keyFile'), ' ', input));
    }
    sayKeys();

    function say(who) {
        const { found, element } = rows.get(who);
        const { location: at, error } = found;
        const zone = time.zone(at?.place?.timeZone);
        const mine = who === person && !link;
        const line = h('p', {});
        if (error) line.append(error.status === 404 ? strings('now.nothingShared') : sentence(error));
        else if (!at) line.append(strings(rows.get(who).eachTime ? 'now.eachTime' : 'now.noPlace', { who }));
        else {
            line.append(h('b', {}, strings.place(at.place) || strings('day.unnamed')), ' · ', time.element(at.timestamp, zone, time.age(at.timestamp)));
            if (at.horizontalAccuracy > 0) line.append(` · ${strings.accuracy(at.horizontalAccuracy)}`);
            line.append(h('br'), h('span', { class: 'mut small' }, `${time.moment(at.timestamp, zone)} ${time.label(zone, at.timestamp)}`));
        }
        const old = at && time.now() - at.timestamp > 3600;
        element.replaceChildren(h('div', { class: 'row' }, h('h2', {}, called(who)),
            at?.precision && at.precision !== 'exact' && pill(strings(`precision.${at.precision}`)), old && pill(strings('now.old'), 'wait')), line,
        link ? (link.history ? h('div', { class: 'row' }, h('a', { class: 'button', href: '/day' }, strings('now.day'))) : '')
            : mine ? h('div', { class: 'row' }, h('a', { class: 'button', href: at ? '/day' : '/welcome' }, strings(at ? 'now.today' : 'day.setUp')))
            : h('div', { class: 'row' }, h('button', { type: 'button', class: 'primary', onclick: event => askFor(who, event.currentTarget) }, strings('now.ask')),
                !rows.get(who).eachTime && action(strings('now.lookAgain'), async () => { rows.get(who).found = await look(who, true); place(who); say(who); })),
        rows.get(who).note ?? '');
    }
    function place(who) {
        const at = rows.get(who).found.location;
        // A grant of place names has nothing to draw.
        if (at?.latitude !== undefined) places.set(who, at); else places.delete(who);
        drawn?.redraw();
    }
    /** Whether only names are shown; then there is no map. */
    const namesAlone = () => [...rows.values()].some(row => row.found.location?.precision === 'place') && !places.size;

    /** Asks where somebody is now: the phone is woken, and the answer comes while the card says how it goes. */
    async function askFor(who, button) {
        const asked = await ask({
            title: strings('now.askTitle', { who }), lead: strings('now.askLead', { who }), label: strings('now.ask'),
            fields: [{ name: 'purpose', label: strings('now.purpose'), required: true, maxlength: 200 }],
            submit: ({ purpose }) => api.post(api.person(who, 'location-queries'), { purpose }),
        });
        if (!asked?.id) return;
        const row = rows.get(who);
        row.note = h('p', { class: 'note', role: 'status' }, pill(strings('now.pending'), 'wait'), h('a', { href: `/requests/${asked.id}` }, strings('day.howItWent')));
        say(who);
        busy(button, async () => {
            const earliest = time.now() - 60;
            let answer;
            do answer = await api.get(`/v1/location-queries/${asked.id}`, { wait: 25 }, { signal }); while (answer.status === 'pending');
            const isClosed = answer.envelope && !sealed?.knows(who);
            row.note = h('p', { class: 'note', role: 'status' }, pill(strings(`now.${answer.status}`), answer.location || answer.envelope ? 'ok' : ''),
                isClosed && strings('now.sealedAnswer'), ' ', h('a', { href: `/requests/${asked.id}` }, strings('day.howItWent')));
            if (isClosed) keyring.open = true;
            if (answer.location) {
                row.found = { location: answer.location, read: time.now() };
                known.set(who, row.found);
                place(who);
            } else if (answer.envelope && !isClosed) {
                try {
                    row.found = { location: await sealed.answer(answer.envelope, { who, query: asked.id, earliest }), read: time.now() };
                    opened.set(who, row.found);
                    place(who);
                } catch (error) { throw refusal(who, error); }
            }
            say(who);
        }, row.element);
    }

    // A viewer by a share link sees one person. While the link is live, each new place comes by the stream.
    const [{ items: shared }] = link ? [{ items: [] }] : await Promise.all([api.get('/v1/shared-with-me', {}, { signal }), consents().catch(error => { if (error.status !== 403 && error.status !== 404) throw error; })]);
    // A person who is asked each time shows no stored data.
    const eachTime = new Set(shared.filter(one => !one.location).map(one => one.handle));
    const handles = [person, ...shared.map(one => one.handle).filter(one => one !== person).sort()];
    for (const who of handles) {
        const element = h('li', { class: 'card' }, h('h2', {}, called(who)));
        rows.set(who, { element, found: {}, eachTime: eachTime.has(who) });
        people.append(element);
    }
    if (handles.length === 1 && !link) people.after(empty(strings('now.nobody'), strings('now.nobodyLead'), h('a', { class: 'button', href: '/sharing' }, strings('sharing.nav'))));
    await Promise.all(handles.map(async who => {
        if (!eachTime.has(who)) rows.get(who).found = await look(who);
        place(who);
        say(who);
    }));

    // MARK: Live
    const lines = () => { state.textContent = live.open || !live.since ? '' : strings('now.lost', { time: time.clock(live.since, time.mine, true) }); };
    const ages = setInterval(() => { for (const who of rows.keys()) if (!rows.get(who).element.contains(document.activeElement)) say(who); }, 30_000);
    away.push(() => clearInterval(ages));
    if (link?.live) {
        const see = found => { rows.get(person).found = found; place(person); say(person); };
        // Without the stream, the place is read each minute, which also finds the end of the link.
        const looks = setInterval(async () => { if (!live.open) see(await look(person, true)); }, 60_000);
        away.push(() => clearInterval(looks), live.on('state', lines), live.on('state', async () => { if (!live.open) see(await look(person, true)); }),
            live.on('location', (kind, at) => {
                known.set(person, { location: at, read: time.now() });
                see(known.get(person));
            }));
    }
    if (!link) away.push(live.on(['query', 'consent', 'end', 'resync'], () => consents().catch(() => {})), live.on(['state'], lines),
        live.on(['visit', 'crossing'], async () => { rows.get(person).found = await look(person, true); place(person); say(person); }));

    // MARK: Map
    if (namesAlone()) return map.remove();
    let boxes = [];
    openMap(map, { taken: () => boxes }).then(opened => {
        if (!opened) return;
        drawn = {
            remove: opened.remove, redraw: opened.redraw,
            layer: opened.layer((canvas, view) => {
                canvas.textAlign = 'center';
                canvas.textBaseline = 'middle';
                for (const [who, at] of places) {
                    const reach = { kilometer: 790, city: 7900 }[at.precision] ?? at.horizontalAccuracy ?? 0;
                    if (reach > 0) circle(canvas, view, { ...at, radius: reach }, who === person ? view.colours.visit : view.colours.ask, { dash: at.precision === 'exact' ? [] : [6, 5] });
                    marker(canvas, view, 'disc', at.latitude, at.longitude, who === person ? view.colours.visit : view.colours.ask, 9);
                }
                // A name is put where there is room: above, beside or below its place.
                boxes = [];
                for (const [who, at] of places) {
                    const [x, y] = view.at(at.latitude, at.longitude);
                    boxes.push([x - 11, y - 11, x + 11, y + 11]);
                    const words = called(who);
                    const half = words.length * 4.4 + 4;
                    const spots = [[0, -21], [half + 14, 0], [-half - 14, 0], [0, 21], [half + 14, -18], [half + 14, 18], [0, -40]];
                    const boxAt = ([right, down]) => [x + right - half, y + down - 9, x + right + half, y + down + 9];
                    const spot = spots.find(one => !boxes.some(box => meet(box, boxAt(one)))) ?? spots[0];
                    boxes.push(boxAt(spot));
                    text(canvas, view, words, x + spot[0], y + spot[1], 14, view.colours.ink, 600);
                }
            }, strings('now.mapWords', { who: strings.list(handles.map(called)) })),
        };
        opened.redraw();
        opened.fit([...places.values()].map(at => [at.latitude, at.longitude]), { maxZoom: 13 });
    }).catch(error => map.replaceChildren(problem(error)));
}
