// Audit: every question about a person and every reading of their data, with what was shown; filters stand in the address.
import { api } from './api.js';
import { action, empty, facts, field, h, note, page, pill, table, values } from './kit.js';
import { load, milliseconds, moment, more, named, people, precise, purpose, put, save, sieve, steps, subject, word, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { addDays, instant, isDate, time } from './time.js';

export const title = 'audit.title';

const outcomes = ['asked', 'answered', 'noAnswer', 'refused', 'read', 'change', 'own', 'all'];
const firstRows = 50;

export async function show(context) {
    const who = subject(context);
    const own = who === context.person;
    const content = h('div');
    page(context, { title: own ? strings('audit.heading') : strings('audit.headingOf', { who: who ?? '…' }), lead: strings(own ? 'audit.lead' : 'audit.leadOf') }, content);
    if (!who) return load(content, () => people('audit'));
    const filter = Object.fromEntries(['who', 'from', 'to', 'outcome'].map(name => [name, context.query.get(name) ?? '']));
    if (!outcomes.includes(filter.outcome)) filter.outcome = '';
    const rows = h('div');
    const above = h('div');
    put(content, [own && proof(context), above, h('div', { class: 'row top-row' }, filters(context, filter), exports(context, who, filter)), rows]);
    await load(rows, () => list(context, who, filter));
    patterns(context, who, above);
}

// Parts of an entry

/** The asker, the reader or whoever changed something. */
const actor = entry => entry.kind === 'query' ? entry.requester : entry.kind === 'read' ? entry.reader : entry.actor;

/** One of `outcomes`, for the filter, beside `pending`. */
export function outcome(entry) {
    if (entry.kind === 'change' || entry.kind === 'act') return 'change';
    if (entry.verdict === 'refused') return 'refused';
    if (entry.verdict === 'own' && entry.kind === 'read') return 'own';
    if (entry.kind === 'read') return 'read';
    return !entry.end ? 'pending' : entry.end.startsWith('answered') ? 'answered' : entry.end === 'refused' ? 'refused' : 'noAnswer';
}

function matches(entry, filter) {
    if (filter.who && actor(entry) !== filter.who) return false;
    // One's own readings, for example by this page, are on record too, but are not what the list is for.
    if (!filter.outcome) return outcome(entry) !== 'own' || Boolean(filter.who);
    if (filter.outcome === 'all') return true;
    return filter.outcome === 'asked' ? entry.kind === 'query' : outcome(entry) === filter.outcome;
}

/** The parameter by which the service leaves out the person's own reads, if the filter shows none of them. */
const by = (who, filter) => ['own', 'all'].includes(filter.outcome) || filter.who === who ? undefined : 'others';

export function outcomePill(entry) {
    const kind = outcome(entry);
    const took = kind === 'answered' && entry.endedAt ? ` · ${milliseconds((entry.endedAt - entry.at) * 1000)}` : '';
    return pill(strings(`audit.outcome.${kind}`) + took, { answered: 'ok', read: 'ok', own: '', refused: 'no', pending: 'wait' }[kind]);
}

const shownSpan = (from, to) => {
    const day = seconds => time.date(new Date(seconds * 1000).toISOString().slice(0, 10), { short: true });
    return from === undefined && to === undefined ? '' : to - from <= 90_000 ? day((from + to) / 2) : `${from ? day(from) : '…'} – ${to ? day(to) : '…'}`;
};

const second = text => h('span', { class: 'mut' }, text);
const twoLines = (first, below) => h('div', {}, first, below && h('br'), below && second(below));

/** A token of the page itself: one of a session, or a link that opens one. */
const pageToken = ({ event, scopes = [] }) => !/^Token(Issued|Revoked)$/.test(event) ? '' : scopes.includes('session') ? 'Session' : scopes.includes('sign-in') ? 'Link' : '';

/** What a change was of, in the page's words where the record has one of the interface. */
function changed({ event, name }) {
    if (event === 'LocationPushTokenRegistered') return '';
    if (event === 'AuthorizationReported') return word('devices.status', name.split(',')[0]);
    if (event === 'CorrectionMade') return word('places.kinds', name);
    if (event === 'ScheduleSet') return strings('sharing.every', { time: time.duration(Number.parseInt(name.replace(/\D+/g, ''), 10)) });
    if (event === 'ImportEnded') return strings('audit.newFixes', { count: Number.parseInt(name, 10) });
    return name;
}

function what(entry) {
    if (entry.kind === 'act') return word('audit.act', entry.act);
    if (entry.kind === 'change') {
        return twoLines(word('audit.change', entry.event + pageToken(entry)), [
            entry.other, changed(entry), entry.precision && precise(entry.precision), entry.until && strings('audit.until', { time: time.moment(entry.until, time.zone()) }),
        ].filter(Boolean).join(' · '));
    }
    const question = entry.kind === 'query' ? strings('audit.whereNow') : [word('audit.question', entry.question), shownSpan(entry.from, entry.to)].filter(Boolean).join(', ');
    return twoLines(question, entry.purpose && `“${entry.purpose}”`);
}

/** What left the house, in words. */
function wasShown(entry) {
    if (entry.kind === 'query') {
        const last = entry.disclosed?.at(-1);
        if (!last) return twoLines(strings('audit.nothing'), entry.reason ? word('audit.reason', entry.reason) : entry.end && word('audit.end', entry.end));
        const age = strings('audit.fixAge', { age: time.duration(Math.max(0, last.at - last.timestamp)) });
        return twoLines(last.place ?? strings('audit.location'), [precise(last.precision), age].join(' · '));
    }
    if (entry.kind === 'read') {
        if (entry.verdict === 'refused' || !entry.count) return twoLines(strings('audit.nothing'), entry.reason && word('audit.reason', entry.reason));
        return twoLines(strings('audit.entries', { count: entry.count }), precise(entry.precision));
    }
    return '';
}

/** The path from the question to what was shown, each step with its time. */
export function pathOf(entry) {
    const after = at => milliseconds((at - entry.at) * 1000);
    const list = [{ label: strings('audit.step.asked'), detail: time.clock(entry.at, time.zone(), true) }];
    if (entry.verdict === 'refused') return [...list, { label: strings('audit.outcome.refused'), detail: word('audit.reason', entry.reason ?? ''), state: 'no' }];
    const open = !entry.end;
    if (entry.consent) {
        const waits = entry.consent === 'asked';
        list.push({ label: strings(`audit.consent.${entry.consent}`), detail: waits ? '' : after(entry.consentAt), state: waits ? open ? 'wait' : 'no' : entry.consent === 'given' ? 'done' : 'no' });
    }
    for (const push of entry.pushes ?? []) {
        const is = { accepted: 'done', underWay: 'wait' }[push.outcome] ?? 'no';
        list.push({ label: word('audit.push', push.outcome), detail: [push.device, push.status && `APNs ${push.status}`, push.reason, push.endedAt && after(push.endedAt)].filter(Boolean).join(' · '), state: is });
    }
    const consents = !entry.consent || entry.consent === 'given';
    if (entry.fix) list.push({ label: strings('audit.step.fix'), detail: [entry.fix.receivedAt && after(entry.fix.receivedAt), entry.fix.horizontalAccuracy && strings.accuracy(entry.fix.horizontalAccuracy)].filter(Boolean).join(' · ') });
    else if (open && consents) list.push({ label: strings('audit.step.fix'), detail: strings('audit.step.waiting'), state: 'wait' });
    for (const one of entry.disclosed ?? []) list.push({ label: strings('audit.step.shown'), detail: [after(one.at), one.place, precise(one.precision)].filter(Boolean).join(' · ') });
    if (open && !entry.disclosed?.length) list.push({ label: strings('audit.step.shown'), detail: '', state: 'todo' });
    if (entry.end && !entry.end.startsWith('answered')) list.push({ label: word('audit.end', entry.end), detail: entry.endedAt ? after(entry.endedAt) : '', state: 'no' });
    return list;
}

/** How far the entry is proven, in words; an act of the operator is no entry of the person's log. */
export function proven({ proof }) {
    if (!proof) return '';
    const state = proof.witnesses?.length ? strings('audit.proof.witnessedBy', { who: proof.witnesses.join(', ') }) : strings(`audit.proof.${proof.state}`);
    return [state, proof.contents && strings(`audit.proof.${proof.contents}`)].filter(Boolean).join(', ');
}

// The list

async function list(context, who, filter) {
    const zone = time.zone();
    const range = {
        from: isDate(filter.from) ? instant(zone, filter.from) : undefined,
        to: isDate(filter.to) ? instant(zone, addDays(filter.to, 1)) : undefined,
    };
    const next = api.pages(api.person(who, 'audit'), { ...range, by: by(who, filter), limit: turn => turn ? 200 : 60 }, { signal: context.signal, ...purpose(context) });
    const more = sieve(next, entry => matches(entry, filter));
    const first = await more(firstRows);
    list.whole = undefined;
    if (!first.length) {
        const filtered = Object.values(filter).some(Boolean);
        return filtered ? empty(strings('audit.noMatch'), strings('audit.noMatchText'), h('a', { class: 'button', href: `/audit${own(context)}` }, strings('audit.all')))
            : empty(strings('audit.none'), strings('audit.noneText'));
    }
    const shown = table({
        // The caption is printed too, where the fields of the filter are not.
        caption: [strings('audit.caption'), filter.who, filter.from && `${strings('audit.from')} ${filter.from}`, filter.to && `${strings('audit.to')} ${filter.to}`, filter.outcome && strings(`audit.filters.${filter.outcome}`)].filter(Boolean).join(' · '), rows: first, name: entry => entry.number,
        columns: [
            { label: strings('audit.when'), cell: entry => h('div', { class: 'when' }, twoLines(moment(entry.at), proven(entry))) },
            { label: strings('audit.who'), cell: entry => h('b', {}, named(actor(entry))) },
            { label: strings('audit.what'), cell: what },
            { label: strings('audit.outcomeHead'), cell: entry => entry.kind === 'change' || entry.kind === 'act' ? second(strings('audit.outcome.change')) : outcomePill(entry) },
            { label: strings('audit.shown'), cell: wasShown },
            { label: strings('audit.details'), cell: entry => detailsButton(context, entry) },
        ],
    });
    const says = h('span', { class: 'mut' });
    const older = action(strings('audit.older'), async () => {
        shown.add(await more(firstRows));
        state();
    });
    const state = () => {
        older.hidden = more.done;
        put(says, [older.hidden ? strings('audit.isAll') : more.back ? strings('audit.back', { time: time.moment(more.back, zone) }) : '', !filter.outcome && !filter.who && [' ', h('a', { href: `/audit?outcome=all${context.person ? '' : `&person=${encodeURIComponent(who)}`}` }, strings('audit.ownHidden'))]]);
    };
    state();
    // Paper has no button for older entries: all that match are loaded first.
    list.whole = async () => {
        while (!more.done) shown.add(await more(500));
        state();
    };
    return [shown, h('p', { class: 'row below' }, older, says), zoneNote()];
}
const own = context => context.person ? '' : `?person=${encodeURIComponent(subject(context))}`;

/** A button that shows what lies behind a row, in a row of its own below. */
function detailsButton(context, entry) {
    const button = h('button', { type: 'button', class: 'quiet', 'aria-expanded': 'false', 'aria-label': strings('audit.detailsOf', { what: `${named(actor(entry))}, ${time.moment(entry.at, time.zone())}` }) }, strings('audit.details'));
    let opened;
    button.addEventListener('click', () => {
        const isOpen = button.getAttribute('aria-expanded') === 'true';
        button.setAttribute('aria-expanded', String(!isOpen));
        opened ??= h('tr', { role: 'row', class: 'opened' }, h('td', { role: 'cell', colspan: 6 }, details(context, entry)));
        if (isOpen) opened.remove(); else button.closest('tr').after(opened);
    });
    return button;
}

function details(context, entry) {
    return h('div', {},
        entry.kind === 'query' && steps(pathOf(entry)),
        facts([
            [strings('audit.grant'), entry.grant && h('a', { href: `/sharing#${entry.grant}` }, h('code', {}, entry.grant))],
            [strings('audit.precision'), entry.precision && precise(entry.precision)],
            [strings('audit.verdict'), entry.verdict && word('audit.verdicts', entry.verdict)],
            [strings('audit.reasonHead'), entry.reason && word('audit.reason', entry.reason)],
            [strings('audit.deadline'), entry.deadline && moment(entry.deadline, true)],
            [strings('audit.initiation'), entry.initiation && strings(`audit.by.${entry.initiation}`)],
            [strings('audit.fix'), entry.fix && [entry.fix.device, ' · ', moment(entry.fix.timestamp, true)]],
            [strings('audit.range'), entry.from !== undefined && shownSpan(entry.from, entry.to)],
            [strings('audit.proofHead'), proven(entry)],
            [strings('audit.reference'), entry.number && h('code', {}, entry.number)],
        ]),
        entry.id && h('p', {}, h('a', { href: `/requests/${entry.id}${own(context)}` }, strings('audit.openRequest'))),
        context.me.operator && entry.number && more(strings('audit.chain'), () => chain(entry)),
        h('details', { class: 'more-below' }, h('summary', {}, 'JSON'), h('pre', { tabindex: 0 }, JSON.stringify(entry, null, 1))));
}

/** For the operator: the events that led to this one, as they are stored. */
async function chain(entry) {
    const events = [];
    for (let number = entry.number; number > 0 && events.length < 12;) {
        const { items } = await api.get('/v1/events', { after: number - 1, limit: 1, asStored: true });
        if (items[0]?.number !== number) break;
        events.push(items[0]);
        number = items[0].cause;
    }
    return h('ol', { class: 'chain' }, events.map(event => h('li', {},
        h('b', {}, `${event.number} ${event.kind}`), ' ', moment(event.recordedAt, true),
        h('details', {}, h('summary', {}, strings('audit.asStored')), h('pre', { tabindex: 0 }, JSON.stringify(event, null, 1))))));
}

// Above the list

/** What this browser remembers of the log's proof, and the check of it, which is loaded with its first use. */
function proof(context) {
    const known = JSON.parse(localStorage.getItem(`checkpoint ${context.me.log}`) ?? 'null');
    const part = () => import('./proof.js');
    const box = h('div', { class: 'proof-state' }, known ? [h('span', { class: 'ok', 'aria-hidden': 'true' }, '✓ '), strings('proof.seen', { count: known.size, time: time.moment(known.at, time.zone()) })] : strings('proof.never'));
    if (known?.refused) part().then(module => module.show(context, box, known));
    return h('section', { class: 'note proof', 'aria-labelledby': 'proof' },
        h('div', {}, h('h2', { id: 'proof', class: 'flat' }, strings('proof.heading')), h('p', { class: 'flat mut' }, strings('proof.means')), box),
        h('p', { class: 'row no-print end' },
            action(strings('proof.check'), async () => (await part()).check(context, box)),
            action(strings('proof.save'), async () => (await part()).file(context), '', { title: strings('proof.saveNote') })));
}

function filters(context, filter) {
    const form = h('form', {
        class: 'filters', role: 'search', 'aria-label': strings('audit.filter'), action: '/audit',
        onsubmit: event => {
            event.preventDefault();
            const wanted = new URLSearchParams(Object.entries(values(form)).filter(([, value]) => value));
            if (!context.person) wanted.set('person', subject(context));
            context.navigate(`/audit${wanted.size ? `?${wanted}` : ''}`);
        },
    },
    field({ name: 'who', label: strings('audit.who'), value: filter.who, size: 14 }),
    field({ name: 'from', label: strings('audit.from'), type: 'date', value: filter.from }),
    field({ name: 'to', label: strings('audit.to'), type: 'date', value: filter.to }),
    field({ name: 'outcome', label: strings('audit.outcomeHead'), type: 'select', value: filter.outcome, options: [['', strings('audit.byOthers')], ...outcomes.map(one => [one, strings(`audit.filters.${one}`)])] }),
    h('button', {}, strings('audit.filter')),
    Object.values(filter).some(Boolean) && h('a', { class: 'button quiet', href: `/audit${own(context)}` }, strings('audit.clear')));
    return form;
}

function exports(context, who, filter) {
    const zone = time.zone();
    const range = { from: isDate(filter.from) ? instant(zone, filter.from) : undefined, to: isDate(filter.to) ? instant(zone, addDays(filter.to, 1)) : undefined };
    const name = `audit-${who}-${time.today(zone)}`;
    range.by = by(who, filter);
    const all = async () => (await api.all(api.person(who, 'audit'), { ...range, limit: 500 }, { most: 100_000, ...purpose(context) })).filter(entry => matches(entry, filter));
    return h('p', { class: 'row no-print end' },
        action('JSON', async () => save(`${name}.json`, 'application/json', JSON.stringify(await all(), null, 1))),
        action('CSV', async () => save(`${name}.csv`, 'text/csv', linesOf(await csv(who, range, context), filter)), '', { title: strings('audit.csvNote') }),
        action(strings('audit.print'), async () => { await list.whole?.(); print(); }));
}

/** The service's own CSV, page after page: its `Link` field names the next one. */
async function csv(who, range, context) {
    const pages = [];
    let next = new URL(api.person(who, 'audit'), location.origin);
    for (const [key, value] of Object.entries({ ...range, limit: 500 })) if (value !== undefined) next.searchParams.set(key, value);
    while (next && pages.length < 1000) {
        const answer = await fetch(next, { headers: { Accept: 'text/csv', ...(context.person ? {} : { 'Whereabouts-Purpose': encodeURIComponent(strings('parts.purpose')) }) } });
        if (!answer.ok) throw Object.assign(new Error(strings('problem.title')), await answer.json().catch(() => ({})));
        const text = await answer.text();
        pages.push(pages.length ? text.replace(/^[^\n]*\n/, '') : text);
        const link = /<([^>]+)>\s*;\s*rel="?next/.exec(answer.headers.get('Link') ?? '');
        // The link has the place only: the time and the length are those of the page before.
        const after = link && new URL(link[1], next).searchParams.get('after');
        if (after) next.searchParams.set('after', after); else next = undefined;
    }
    return pages.join('');
}

/** The cells of a line (RFC 4180). */
const cells = line => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",\r\n]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain);

/** The lines of a CSV text that match the filter, each as the service wrote it. */
function linesOf(text, filter) {
    let wanted = true;
    return [...text.matchAll(/(?:"(?:[^"]|"")*"|[^"\r\n])+\r?\n/g)].filter(([line], index) => {
        const [, , kind, , who, , , said] = cells(line);
        // The pushes, the fix and the disclosures of a question follow its own line.
        if (index && ['query', 'read', 'change', 'act'].includes(kind)) {
            const end = kind === 'query' && said !== 'open' ? said : undefined;
            wanted = matches({ kind, requester: who, reader: who, actor: who, verdict: said.startsWith('refused: ') ? 'refused' : said, end }, filter);
        }
        return wanted;
    }).map(([line]) => line).join('');
}

/** Conspicuous patterns in how others ask. The service reads the whole audit for them, so the list comes first. */
function patterns(context, who, box) {
    api.get(api.person(who, 'findings'), {}, { signal: context.signal, ...purpose(context) }).then(({ items }) => put(box, items.map(one => note(true,
        h('span', {}, strings.rich(`audit.pattern.${one.pattern}`, { who: h('b', {}, named(one.requester)), count: one.count })),
        h('span', { class: 'end mut' }, moment(one.from), ' – ', moment(one.to)))))).catch(() => {});
}
