// The day: one ledger of visits, ways, silences, crossings and who asked, with the map as its view.
import { fixesButton, visitActions, whyButton } from './corrections.js';
import { dayBar } from './day-bar.js';
import { dayMap, readTrack } from './day-map.js';
import { choice, empty, h, keys, mark, note, page, problem, sentence } from './kit.js';
import { annotate, anyZone, entries, totals, zoneOfDay } from './ledger.js';
import { say, sentenceOf } from './ledger-words.js';
import { addDays, dateOf, dayRange, instant, isDate, offset, time } from './time.js';

export const title = 'day.title';

export async function show(context) {
    const { api, strings, query, signal, me, main } = context;
    if (!context.person) {
        page(context, { title: strings('day.title') }, empty(strings('day.noPerson'), strings('day.noPersonLead'), h('a', { class: 'button', href: '/welcome' }, strings('welcome.nav'))));
        return;
    }
    const asked = context.path[0];
    const date = isDate(asked) ? asked : time.today(time.zone(localStorage.getItem('zone')));
    const now = time.now();
    const read = (what, params) => api.all(api.mine(what), { ...params, by: what === 'audit' ? 'others' : undefined, limit: what === 'audit' ? 500 : what === 'trips' ? undefined : 1000, 'at-least': context.atLeast }, { signal });

    const frame = draw(context, date);
    const visits = await read('visits', anyZone(date));
    const own = zoneOfDay(visits, date);
    if (own && date === time.today(own)) localStorage.setItem('zone', own);
    const zone = time.zone(own);
    const range = dayRange(zone, date, time.start);
    const around = { from: range.from, to: Math.min(range.to, now + 60) };
    const future = range.from > now;
    const trackPromise = future ? Promise.resolve(null) : readTrack(api, around, 17, signal).catch(error => { if (error.name === 'AbortError') throw error; return null; });
    trackPromise.catch(() => {});
    const [trips, crossings, audit] = future ? [[], [], []] : await Promise.all([
        read('trips', around), read('crossings', around),
        me.scopes?.includes('audit') === false ? [] : read('audit', around),
    ]);
    const state = { date, range, zone, now, own, list: entries({ visits, trips, crossings, audit }, range, now), selected: undefined, span: spanOf(query, range, zone, date) };
    state.sums = totals(state.list, range, now);
    frame.fill(state);

    if (!state.list.length) await frame.nothing(future);
    else {
        const sel = query.get('sel');
        if (sel) state.selected = state.list.find(entry => `${entry.kind}:${entry.id}` === sel)?.id;
        frame.list();
    }
    // The map comes after the list: the list is the content.
    if (!me.link) frame.marks().catch(() => {});
    frame.map(trackPromise).catch(error => { if (error.name !== 'AbortError') main.querySelector('.map')?.replaceChildren(problem(error)); });
}

function spanOf(query, range, zone, date) {
    const found = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(query.get('span') ?? '');
    if (!found) return undefined;
    const [from, to] = [0, 2].map(index => {
        const at = instant(zone, date, Number(found[index + 1]) * 60 + Number(found[index + 2]));
        return at < range.from ? instant(zone, addDays(date, 1), Number(found[index + 1]) * 60 + Number(found[index + 2])) : at;
    });
    return from < to ? [from, to] : undefined;
}

// Each look at the places is recorded: they are read again after some minutes, or when the day has been corrected.
const known = { at: 0 };
async function placesOf({ api, atLeast, signal }) {
    if (known.at < time.now() - 600 || known.atLeast !== atLeast) {
        const { items } = await api.get(api.mine('places'), { 'at-least': atLeast }, { signal });
        Object.assign(known, { items, atLeast, at: time.now() });
    }
    return known.items;
}

/** The three heights of the phone's sheet, each with the map's share of the room. */
const heights = [['', 0.42], ['tall', 0], ['low', 0.74]];

/** The grip of the sheet is pressed for the next height, or dragged to the nearest one. */
function dragSheet(grip, body, map, changed) {
    let drag;
    const choose = name => {
        body.dataset.sheet = name;
        map.style.removeProperty('flex-basis');
        changed();
    };
    const share = () => map.offsetHeight / body.clientHeight;
    const end = () => {
        if (drag?.moved) choose(heights.reduce((best, one) => Math.abs(one[1] - share()) < Math.abs(best[1] - share()) ? one : best)[0]);
    };
    grip.addEventListener('pointerdown', event => {
        drag = { from: event.clientY, height: map.offsetHeight, moved: false };
        grip.setPointerCapture(event.pointerId);
    });
    grip.addEventListener('pointermove', event => {
        if (!grip.hasPointerCapture(event.pointerId)) return;
        const by = event.clientY - drag.from;
        // A finger that presses moves a little too.
        drag.moved ||= Math.abs(by) > 6;
        if (drag.moved) map.style.setProperty('flex-basis', `${Math.max(0, Math.min(drag.height + by, body.clientHeight * 0.8))}px`);
    });
    for (const name of ['pointerup', 'pointercancel']) grip.addEventListener(name, end);
    grip.addEventListener('click', event => {
        // After a drag with the mouse there is a click too; one of the keyboard has no count.
        if (!drag?.moved || !event.detail) choose(heights[(heights.findIndex(([name]) => name === (body.dataset.sheet ?? '')) + 1) % 3][0]);
        drag = undefined;
    });
}

/** The frame of the view, at once; `fill`, `list` and `map` put in what has been read. */
function draw(context, date) {
    const { strings, main, query } = context;
    const search = () => { const text = context.query.toString().replace(/(^|&)(sel|span)=[^&]*/g, '').replace(/^&/, ''); return text && `?${text}`; };
    const go = (to, push) => context.navigate(`/day/${to}${search()}`, push);
    const today = () => context.navigate(`/day${search()}`);
    const heading = h('h1', { tabindex: -1 }, h('span', { class: 'long' }, time.date(date)), h('span', { class: 'short' }, time.date(date, { short: true })));
    const field = h('input', { type: 'date', value: date, 'aria-label': strings('day.date'), onchange: event => { if (isDate(event.target.value)) go(event.target.value); } });
    const sums = h('div', { class: 'sums' }, strings('day.reading'));
    const zoneMenu = h('details', { class: 'menu zone' });
    const fileMenu = h('details', { class: 'menu' });
    const list = h('ol', { class: 'ledger', 'aria-label': strings('day.list') });
    const extra = h('div', { class: 'extra' });
    const bar = h('div', { class: 'bar-place' });
    const map = h('section', { class: 'map', 'aria-label': strings('day.map') });
    const grip = h('button', { type: 'button', class: 'grip', 'aria-label': strings('day.sheet') });
    const side = h('section', { class: 'side', 'aria-label': strings('day.list') }, grip,
        h('div', { class: 'date' },
            h('div', { class: 'step-day' },
                h('a', { class: 'button quiet', href: `/day/${addDays(date, -1)}${search()}`, 'aria-label': strings('day.before') }, '‹'), heading,
                h('a', { class: 'button quiet', href: `/day/${addDays(date, 1)}${search()}`, 'aria-label': strings('day.after1') }, '›'), field),
            h('div', { class: 'row under' }, sums, fileMenu, zoneMenu)),
        extra, list);
    const body = h('div', { class: 'day' }, side, map);
    main.replaceChildren(body);
    let state;
    let drawn;
    let seen = localStorage.getItem('seen') !== 'off';

    dragSheet(grip, body, map, () => drawn?.redraw());
    // A file of the day's fixes. The service records the download like any other read.
    const fileOptions = () => {
        const range = new URLSearchParams({ from: state.range.from, to: state.range.to });
        fileMenu.replaceChildren(h('summary', { title: strings('day.fileMeans') }, `${strings('day.file')} ▾`),
            h('div', {}, [['gpx', 'GPX'], ['geojson', 'GeoJSON'], ['kml', 'KML'], ['csv', 'CSV']].map(([form, name]) =>
                h('a', { href: `${context.api.mine(`exports/${form}`)}?${range}`, download: '' }, name))));
    };
    const zoneOptions = () => {
        const first = state.range.from;
        const pick = mode => { localStorage.setItem('tz', mode); context.query.delete('span'); context.note({ tz: mode === 'place' ? '' : mode }); time.mode = mode; context.navigate(location.pathname + location.search, { replace: true }); };
        zoneMenu.replaceChildren(h('summary', { title: strings('day.zone') }, `${time.label(state.zone, first)}${offset(state.zone, first) === offset(state.zone, state.range.to - 1) ? '' : ` → ${time.label(state.zone, state.range.to - 1).split(' ').at(-1)}`} ▾`),
            h('div', {},
                choice(strings('day.zone'), [['place', strings('day.zonePlace')], ['mine', strings('day.zoneMine')], ['utc', 'UTC']], time.mode, pick),
                h('label', { class: 'field small' }, h('span', {}, strings('day.start')), h('select', {
                    onchange: event => { localStorage.setItem('start', event.target.value); context.note({ start: event.target.value === '0' ? '' : event.target.value, span: '' }); context.navigate(location.pathname + location.search, { replace: true }); },
                }, [0, 180, 240, 300, 360].map(minutes => h('option', { value: minutes, selected: minutes === time.start }, `${String(minutes / 60).padStart(2, '0')}:00`))))));
    };
    const visible = () => state.list.filter(entry => !state.span || (entry.from < state.span[1] && (entry.to ?? state.now) >= state.span[0]));
    const select = (entry, { focus = true, move = true } = {}) => {
        state.selected = state.selected === entry?.id && move ? undefined : entry?.id;
        context.note({ sel: state.selected && `${entry.kind}:${entry.id}` });
        frame.list();
        if (state.selected) {
            if (focus) list.querySelector('[data-current] .pick')?.focus({ preventScroll: true });
            list.querySelector('[data-current]')?.scrollIntoView({ block: 'nearest' });
            if (move) drawn?.focus(entry);
        }
        drawn?.show({ selected: state.selected });
    };
    const stepEntry = by => {
        const shown = visible();
        const index = shown.findIndex(entry => entry.id === state.selected);
        const next = shown[Math.max(0, Math.min(shown.length - 1, index < 0 ? (by > 0 ? 0 : shown.length - 1) : index + by))];
        if (next && next.id !== state.selected) select(next, { move: false });
    };
    keys(context, {
        ArrowLeft: ['day.before', () => go(addDays(date, -1))], ArrowRight: ['day.after1', () => go(addDays(date, 1))],
        t: ['day.today', today], j: ['day.nextEntry', () => stepEntry(1)], k: ['day.previousEntry', () => stepEntry(-1)],
        Enter: ['day.onMap', () => { const entry = state?.list.find(one => one.id === state.selected); if (entry) drawn?.focus(entry); }],
    });
    const again = (answer, { undo } = {}) => {
        context.atLeast = answer?.number;
        refresh().then(() => undo && extra.replaceChildren(note(false, strings('fix.done'), h('button', { type: 'button', class: 'end', onclick: async () => { const back = await undo(); extra.replaceChildren(); again(back); } }, strings('fix.undo')))));
        context.announce(strings('fix.done'));
    };
    async function refresh() {
        const read = (what, params) => context.api.all(context.api.mine(what), { ...params, ...what === 'audit' && { by: 'others', limit: 500 }, 'at-least': context.atLeast }, { signal: context.signal });
        const { range } = state;
        const around = { from: range.from, to: Math.min(range.to, time.now() + 60) };
        const [visits, trips, crossings, audit] = await Promise.all([read('visits', anyZone(date)), read('trips', around), read('crossings', around), read('audit', around)]);
        state.now = time.now();
        state.list = entries({ visits, trips, crossings, audit }, range, state.now);
        state.sums = totals(state.list, range, state.now);
        frame.fill(state);
        frame.list();
        drawn?.show({ list: state.list, words: sentenceOf(date, state.sums, state.list) });
        frame.marks().catch(() => {});
    }
    // New events appear in today's list; events that arrive together are read once.
    let due;
    const stop = context.me.link ? () => {} : context.live.on(['visit', 'crossing', 'query', 'end', 'disclosure', 'read', 'consent', 'resync'], (kind, data) => {
        if (!state || state.range.to < time.now() || data.verdict === 'own') return;
        clearTimeout(due);
        due = setTimeout(() => { context.atLeast = data.number; refresh().catch(() => {}); }, 400);
    });
    context.onLeave(() => { stop(); clearTimeout(due); drawn?.remove(); });

    const frame = {
        fill(next) {
            state = next;
            const { sums: total } = state;
            sums.replaceChildren(...[
                strings('day.places', { count: total.places }), total.meters > 0 && strings.distance(total.meters),
                total.questions > 0 && strings('day.questions', { count: total.questions }),
                state.range.to - state.range.from !== 86_400 && strings('day.hours', { count: Math.round((state.range.to - state.range.from) / 360) / 10 }),
            ].filter(Boolean).map(text => h('span', {}, text)));
            zoneOptions();
            fileOptions();
            bar.replaceChildren(dayBar({
                ...state,
                changed: span => {
                    state.span = span;
                    context.note({ span: span && span.map(seconds => seconds === state.range.to ? time.clock(seconds - 60, state.zone) : time.clock(seconds, state.zone)).join('-') });
                    frame.list();
                    drawn?.show({ span });
                    drawn?.fit();
                    context.announce(strings('day.entries', { count: visible().length }));
                },
            }));
            if (state.list.length && !bar.isConnected) map.append(bar);
        },
        list() {
            const names = new Set();
            list.replaceChildren(...visible().map((entry, index, all) => row(entry, all.slice(index + 1).find(one => one.kind === 'visit'), names)));
        },
        /** Adds facts from the person's places to the visits. Keeps the rows, and with them the focus and open entries. */
        async marks() {
            annotate(state.list, await placesOf(context));
            if (context.signal.aborted) return;
            visible().forEach((entry, index) => {
                if (entry.kind === 'visit') list.children[index]?.querySelector(':scope > .sub')?.replaceChildren(...say(entry, state).sub);
            });
        },
        async nothing(future) {
            const last = future ? null : await context.api.get(context.api.mine('location'), {}, { signal: context.signal }).catch(() => null);
            const at = last?.location?.timestamp;
            list.replaceChildren();
            if (at >= state.range.from && at < state.range.to) {
                extra.replaceChildren(empty(strings('day.noVisit'), strings('day.noVisitLead', { age: time.age(at) })));
                return;
            }
            const devices = at || future || context.me.scopes?.includes('manage') === false ? [] : await context.api.all(context.api.mine('devices'), {}, { signal: context.signal }).catch(() => []);
            if (devices.some(device => device.sealed)) {
                extra.replaceChildren(empty(strings('day.sealed'), strings('devices.sealedText'), h('a', { class: 'button', href: '/devices' }, strings('devices.nav'))));
                return;
            }
            extra.replaceChildren(empty(strings(future ? 'day.future' : 'day.empty'),
                at ? strings('day.lastFix', { age: time.age(at) }) : future ? '' : strings('day.noFixEver'),
                at ? h('a', { class: 'button', href: `/day/${dateOf(time.zone(last.location.place?.timeZone), at, time.start)}` }, strings('day.goThere'))
                    : h('a', { class: 'button', href: future ? '/day' : '/welcome' }, strings(future ? 'day.today' : 'day.setUp'))));
        },
        async map(trackPromise) {
            drawn = await dayMap(map, { picked: entry => select(entry, { move: false }), seen: () => seen });
            if (!drawn) return;
            map.append(h('div', { class: 'legend', role: 'group', 'aria-label': strings('day.legend') },
                ['visit', 'trip', 'cross', 'gap'].map(kind => h('span', { class: 'key' }, mark(kind), strings(`legend.${kind}`))),
                h('label', {}, h('input', { type: 'checkbox', checked: seen, onchange: event => { seen = event.target.checked; localStorage.setItem('seen', seen ? 'on' : 'off'); drawn.redraw(); } }), strings('legend.seen'))));
            drawn.show({ list: state.list, span: state.span, selected: state.selected, words: sentenceOf(date, state.sums, state.list) });
            drawn.fit();
            const track = await trackPromise;
            if (track && !context.signal.aborted) {
                drawn.show({ track, list: state.list });
                const entry = state.list.find(one => one.id === state.selected);
                if (entry) drawn.focus(entry); else drawn.fit();
            }
        },
    };

    function row(entry, next) {
        const words = say(entry, state);
        const chosen = entry.id === state.selected;
        const zone = time.zone(entry.zone);
        const other = offset(zone, entry.at) !== offset(state.zone, entry.at);
        const clock = time.element(entry.at, zone);
        if (other) clock.append(h('small', {}, time.label(zone, entry.at).split(' ').at(-1)));
        const pick = h('a', { class: 'pick', href: `?sel=${entry.kind}:${entry.id}`, 'aria-expanded': String(chosen) }, words.what);
        const element = h('li', { class: `entry ${entry.kind}`, data: chosen ? { current: '' } : {}, 'aria-current': chosen ? 'true' : undefined },
            clock, mark(words.refused ? 'refused' : entry.kind), h('span', { class: 'what' }, pick), h('span', { class: 'dur' }, words.how),
            h('span', { class: 'sub' }, words.sub));
        element.addEventListener('click', event => {
            if (event.target.closest('a:not(.pick), button, dialog, .why')) return;
            event.preventDefault();
            // Enter on the chosen entry goes to it on the map; a click on it closes it.
            if (entry.id === state.selected && event.detail === 0) drawn?.focus(entry); else select(entry);
        });
        if (chosen && (entry.kind === 'visit' || entry.kind === 'trip') && !context.me.link) {
            const below = h('div', { class: 'sub why' });
            const options = { who: context.person, done: again, signal: context.signal };
            element.append(h('div', { class: 'more-of' }, entry.kind === 'trip' ? fixesButton(entry, below, options)
                : [visitActions(entry, { next, now: state.now, done: again }), whyButton(entry, below, options)]), below);
        }
        return element;
    }
    return frame;
}
