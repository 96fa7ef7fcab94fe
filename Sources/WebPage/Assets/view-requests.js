// Requests: the path of one question, drawn as it happens; the questions that I asked and those about me; a new question.
import { api } from './api.js';
import { action, empty, facts, field, h, page, pill, table, values, busy } from './kit.js';
import { follow, left, liveState, load, moment, people, precise, purpose, put, section, sieve, steps, subject, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { time } from './time.js';
import { outcomePill, pathOf } from './view-audit.js';

export const title = 'requests.title';

/** The page's own knowledge of the answers that it was given; a location is shown again only when somebody asks for that. */
const answers = new Map();
const firstRows = 20;

export const show = context => context.path[0] ? one(context, context.path[0]) : overview(context);

async function overview(context) {
    const who = subject(context);
    const content = h('div');
    page(context, { title: strings('requests.heading'), lead: strings('requests.lead') }, content);
    if (!who) return load(content, () => people('requests'));
    const mine = h('div');
    const about = h('div');
    put(content, [liveState(context), context.person && newQuestion(context), section(strings('requests.mine'), mine), section(strings('requests.about'), about), zoneNote()]);
    const read = () => Promise.all([load(mine, () => asked(context, who)), load(about, () => askedAbout(context, who))]);
    if (context.person) follow(context, ['query', 'consent', 'push', 'end', 'disclosure', 'asked'], read);
    return read();
}

// Lists

const link = (context, id, text) => h('a', { href: `/requests/${id}${context.person ? '' : `?person=${encodeURIComponent(subject(context))}`}` }, text);

const isQuestion = entry => entry.kind === 'query';

async function asked(context, who) {
    return questions(context, api.person(who, 'asked'), strings(context.person ? 'requests.noneMine' : 'requests.noneOf'), strings('requests.captionMine'), [
        { label: strings('audit.when'), cell: entry => moment(entry.at) },
        { label: strings('requests.whom'), cell: entry => h('b', {}, entry.subject ?? strings('requests.nobody')) },
        { label: strings('requests.why'), cell: entry => `“${entry.purpose}”` },
        { label: strings('audit.outcomeHead'), cell: entry => statusPill(entry.status) },
        { label: strings('requests.path'), cell: entry => link(context, entry.id, strings('requests.open')) },
    ]);
}

async function askedAbout(context, who) {
    return questions(context, api.person(who, 'audit'), strings('requests.noneAbout'), strings('requests.captionAbout'), [
        { label: strings('audit.when'), cell: entry => moment(entry.at) },
        { label: strings('audit.who'), cell: entry => h('b', {}, entry.requester ?? strings('parts.erased')) },
        { label: strings('requests.why'), cell: entry => `“${entry.purpose}”` },
        { label: strings('audit.outcomeHead'), cell: outcomePill },
        { label: strings('requests.path'), cell: entry => link(context, entry.id, strings('requests.open')) },
    ]);
}

/** Pages of a record. Of an audit, without the person's own readings, none of which is a question. */
const longPage = path => ({ limit: 200, by: path.endsWith('/audit') ? 'others' : undefined });

/** The questions of a record of questions and readings, the newest of them first. */
async function questions(context, path, none, caption, columns) {
    const more = sieve(api.pages(path, longPage(path), { signal: context.signal, ...purpose(context) }), isQuestion);
    const rows = await more(firstRows);
    if (!rows.length) return h('p', { class: 'mut' }, none);
    const shown = table({ caption, rows, columns });
    const older = action(strings('requests.older'), async () => {
        shown.add(await more(firstRows));
        older.parentElement.hidden = more.done;
    });
    return [shown, h('p', { class: 'below', hidden: more.done }, older)];
}

const statusPill = status => pill(strings(`requests.status.${status}`), { pending: 'wait', noAnswer: '', noSuchPerson: 'no' }[status] ?? 'ok');

// A new question

function newQuestion(context) {
    const names = h('datalist', { id: 'whom' });
    const whom = field({ name: 'whom', label: strings('requests.whom'), required: true, list: 'whom', value: context.query.get('whom') ?? '', size: 14, autocapitalize: 'none', spellcheck: 'false' });
    const says = h('p', { class: 'mut small' });
    const go = h('button', { class: 'primary' }, strings('requests.ask'));
    const form = h('form', {
        class: 'card filters',
        onsubmit: event => {
            event.preventDefault();
            busy(go, async () => {
                const wanted = values(form);
                const { id } = await api.post(api.person(wanted.whom, 'location-queries'), { purpose: wanted.purpose, maxAgeSeconds: Number(wanted.age) });
                answers.set(id, { fresh: true });
                context.navigate(`/requests/${id}`);
            }, form);
        },
    }, whom, names,
    field({ name: 'purpose', label: strings('requests.whyHint'), required: true, maxlength: 200, size: 30, placeholder: strings('requests.example') }),
    field({ name: 'age', label: strings('requests.age'), type: 'select', value: '60', options: [['60', strings('requests.ageMinute')], ['0', strings('requests.ageNew')], ['900', strings('requests.ageQuarter')]] }),
    go);
    // A typed name need not be among the suggestions: the answer shows whether that person shares.
    sharers().then(others => {
        put(names, others.map(handle => h('option', { value: handle })));
        const [only] = others;
        if (others.length === 1 && !whom.querySelector('input').value) whom.querySelector('input').value = only;
        put(says, others.length ? strings('requests.canAsk', { who: strings.list(others) }) : [strings('requests.noOne'), ' ', h('a', { href: '/sharing' }, strings('requests.redeem'))]);
    }).catch(() => {});
    return section(strings('requests.new'), form, says);
}

/** Who shares with me now. */
const sharers = async () => (await api.all('/v1/shared-with-me')).map(({ handle }) => handle);

// One question

async function one(context, id) {
    const who = subject(context);
    const content = h('div');
    page(context, { title: strings('requests.one') }, h('p', {}, h('a', { href: `/requests${context.person ? '' : `?person=${encodeURIComponent(who ?? '')}`}` }, `‹ ${strings('requests.back')}`)), liveState(context), content);
    if (!who) return load(content, () => people('requests'));
    let said = '';
    const read = () => load(content, async () => {
        const found = await find(context, who, id);
        if (!found) return empty(strings('requests.absent'), strings('requests.absentText'), h('a', { class: 'button', href: '/requests' }, strings('requests.back')));
        const state = found.isMine ? strings(`requests.status.${found.entry.status}`) : outcomePill(found.entry).textContent;
        if (said && said !== state) context.announce(state);
        said = state;
        if (found.isMine && found.entry.status === 'pending') watch(context, id, read);
        return found.isMine ? mineCard(context, found.entry, read) : aboutCard(context, found.entry);
    });
    if (context.person) follow(context, ['query', 'consent', 'push', 'end', 'disclosure', 'asked'], read);
    return read();
}

/** The question among those that `who` asked, else among those about `who`. Newest first, so a live one is on the first page. */
async function find(context, who, id) {
    const mine = await search(context, api.person(who, 'asked'), id);
    if (mine) return { isMine: true, entry: mine };
    const about = await search(context, api.person(who, 'audit'), id);
    return about && { isMine: false, entry: about };
}
async function search(context, path, id) {
    const more = sieve(api.pages(path, longPage(path), { signal: context.signal, ...purpose(context) }), entry => isQuestion(entry) && entry.id === id);
    return (await more(1))[0];
}

function aboutCard(context, entry) {
    return h('div', { class: 'card' },
        h('div', { class: 'row' }, h('b', {}, entry.requester ?? strings('parts.erased')),
            h('span', { class: 'mut' }, strings.rich('requests.askedAt', { time: moment(entry.at, true) }), ` · “${entry.purpose}”`),
            h('span', { class: 'end' }, outcomePill(entry))),
        steps(pathOf(entry)),
        entry.consent === 'asked' && !entry.end && h('p', {}, h('a', { class: 'button primary', href: '/sharing' }, strings('requests.decide'))),
        facts([
            [strings('audit.initiation'), strings(`audit.by.${entry.initiation}`)],
            [strings('audit.deadline'), moment(entry.deadline, true)],
            [strings('audit.grant'), entry.grant && h('a', { href: `/sharing#${entry.grant}` }, h('code', {}, entry.grant))],
            [strings('audit.reference'), context.me.operator && h('code', {}, entry.number)],
        ]), zoneNote());
}

/** My own question. What I may know of it is: it waits, or how it ended. */
function mineCard(context, entry, read) {
    const list = [{ label: strings('audit.step.asked'), detail: time.clock(entry.at, time.zone(), true) }];
    const isOpen = entry.status === 'pending';
    if (isOpen) list.push({ label: strings('requests.status.pending'), detail: left(context, entry.deadline, read), state: 'wait' }, { label: strings('requests.status.answered'), detail: '', state: 'todo' });
    else {
        const good = entry.status.startsWith('answered');
        list.push({ label: strings(`requests.status.${entry.status}`), detail: good ? strings('requests.shown', { count: entry.shown?.length ?? 0 }) : strings(`requests.means.${entry.status}`), state: good ? 'done' : 'no' });
    }
    const place = h('div');
    const known = answers.get(entry.id);
    if (known?.location) put(place, locationFacts(known.location));
    else if (known?.fresh && entry.status.startsWith('answered')) fetchAnswer(entry.id, place);
    else if (entry.status.startsWith('answered')) {
        put(place, h('p', { class: 'row' }, action(strings('requests.showAgain'), () => fetchAnswer(entry.id, place)), h('span', { class: 'mut small' }, strings('requests.recorded'))));
    }
    return h('div', { class: 'card' },
        h('div', { class: 'row' }, h('b', {}, entry.subject ?? strings('requests.nobody')),
            h('span', { class: 'mut' }, strings.rich('requests.askedAt', { time: moment(entry.at, true) }), ` · “${entry.purpose}”`),
            h('span', { class: 'end' }, statusPill(entry.status))),
        steps(list), place,
        isOpen && h('p', {}, action(strings('requests.cancel'), async () => {
            await api.delete(`/v1/location-queries/${entry.id}`);
            answers.delete(entry.id);
            await read();
        })), zoneNote());
}

async function fetchAnswer(id, place) {
    const answer = await api.get(`/v1/location-queries/${id}`);
    answers.set(id, answer);
    if (answer.location) put(place, locationFacts(answer.location));
}

/** A location as it is shown to whoever may see it. */
export const locationFacts = one => facts([
    [strings('requests.where'), h('b', {}, strings.place(one.place) || (one.latitude === undefined ? strings('day.unnamed') : `${one.latitude}, ${one.longitude}`))],
    [strings('audit.precision'), [precise(one.precision), strings.accuracy(one.horizontalAccuracy)].filter(Boolean).join(', ')],
    [strings('requests.fixTime'), [moment(one.timestamp, true), ' · ', time.age(one.timestamp)]],
    [strings('requests.coordinates'), one.precision === 'exact' && h('code', {}, `${one.latitude}, ${one.longitude}`)],
]);

let watching;
/** Waits for the end of a question; the service holds each request for a while, so this does not poll. */
async function watch(context, id, read) {
    if (watching === id) return;
    watching = id;
    try {
        for (let status = 'pending'; status === 'pending' && !context.signal.aborted;) {
            const answer = await api.get(`/v1/location-queries/${id}`, { wait: 25 }, { signal: context.signal });
            status = answer.status;
            if (status !== 'pending') answers.set(id, answer);
        }
        if (!context.signal.aborted) await read();
    } catch { /* The stream or the next look says it. */ } finally { watching = undefined; }
}
