// Shared parts of the views of rights and records: states of loading, details, times, the path of a question, the subject.
import { api } from './api.js';
import { empty, h, problem } from './kit.js';
import { strings } from './strings.js';
import { time } from './time.js';

const turns = new WeakMap();

/** Fills `box` with what `make` gives; meanwhile it is busy, and afterwards it says what went wrong and how to go on. */
export async function load(box, make) {
    if (!box.childElementCount) box.append(h('p', { class: 'mut' }, strings('parts.loading')));
    box.setAttribute('aria-busy', 'true');
    // Of two reads the one that began later counts, whichever ends first.
    const turn = (turns.get(box) ?? 0) + 1;
    turns.set(box, turn);
    try {
        const made = await make();
        if (turns.get(box) !== turn) return;
        put(box, made);
    } catch (error) {
        if (turns.get(box) !== turn) return;
        if (error.name !== 'AbortError') put(box, [problem(error), h('p', {}, h('button', { type: 'button', onclick: () => load(box, make) }, strings('problem.again')))]);
    }
    box.removeAttribute('aria-busy');
}
export const put = (box, content) => box.replaceChildren(...[content].flat(Infinity).filter(Boolean));

let sections = 0;
export function section(title, ...content) {
    const id = `section-${++sections}`;
    return h('section', { 'aria-labelledby': id }, h('h2', { id }, title), ...content);
}

/** A summary whose content is made when it is first opened. */
export function more(label, make, props) {
    const box = h('details', { class: 'more-below', ...props }, h('summary', {}, label));
    const open = () => { if (box.open && box.childElementCount < 2) { const inner = h('div'); box.append(inner); load(inner, async () => make()); } };
    box.addEventListener('toggle', open);
    open();
    return box;
}

export const moment = (seconds, withSeconds) => time.element(seconds, time.zone(), time.moment(seconds, time.zone(), withSeconds));
export const zoneNote = () => h('p', { class: 'mut small' }, strings('parts.zone', { zone: time.label(time.zone()) }));
export const milliseconds = count => count < 1000 ? `${strings.number(count, 0)} ms` : count < 60_000 ? `${strings.number(count / 1000, 1)} s` : time.duration(count / 1000);
export const precise = value => strings(`parts.precision.${value}`);
/** A word of the page for a word of the interface, or that word itself, with spaces, if it is newer than the page. */
export const word = (group, name) => strings.has(`${group}.${name}`) ? strings(`${group}.${name}`) : name.replace(/([a-z])([A-Z])/g, (all, a, b) => `${a} ${b.toLowerCase()}`);
export const named = handle => handle ?? strings('parts.erased');

/** How much time is left, counted down; then `over` is called. */
export function left(context, deadline, over) {
    const box = h('span', { class: 'num' });
    const tick = () => {
        const seconds = Math.ceil(deadline - time.now());
        box.textContent = seconds > 0 ? strings('parts.left', { time: seconds < 100 ? strings('time.s', { n: seconds }) : time.duration(seconds) }) : strings('parts.over');
        if (seconds > 0) return;
        clearInterval(timer);
        over?.();
    };
    const timer = setInterval(tick, 1000);
    context.onLeave(() => clearInterval(timer));
    tick();
    return box;
}

/** Reads again soon after one of these live events, not for each of them, and when the stream may have missed some. */
export function follow(context, kinds, read) {
    let timer;
    context.onLeave(context.live.on([...kinds, 'resync'], () => {
        clearTimeout(timer);
        timer = setTimeout(read, 150);
    }));
    context.onLeave(() => clearTimeout(timer));
}

/** Says since when the live stream has been lost; nothing while it is open. */
export function liveState(context) {
    // The operator has no stream: it is about the signed-in person.
    if (!context.person) return h('p', { hidden: true });
    const box = h('p', { class: 'note bad', role: 'status', hidden: true });
    const show = () => {
        box.hidden = context.live.open || !context.live.since;
        if (!box.hidden) box.textContent = strings('parts.lost', { time: time.clock(context.live.since, time.zone(), true) });
    };
    context.onLeave(context.live.on('state', show));
    show();
    return box;
}

/** Steps of a question: `{label, detail, state}`; the state is done, wait, todo or no. */
export const steps = list => h('ol', { class: 'path' }, list.map(({ label, detail, state = 'done' }) =>
    h('li', { class: `step ${state}`, 'aria-current': state === 'wait' ? 'step' : undefined },
        h('b', {}, label), h('i', { class: 'unseen' }, strings(`parts.step.${state}`)), h('span', {}, detail))));

/**
 * Entries that pass a test, from pages of all: one's own readings are many between them. `await more(20)` gives the next
 * ones; `more.done` says that there are no others, `more.back` until when they were looked for.
 */
export function sieve(next, passes) {
    const waiting = [];
    let isLast = false;
    const more = async count => {
        while (waiting.length < count && !isLast) {
            const { items, done } = await next();
            isLast = done;
            more.back = items.at(-1)?.at ?? more.back;
            waiting.push(...items.filter(passes));
        }
        const found = waiting.splice(0, count);
        more.done = isLast && waiting.length === 0;
        return found;
    };
    return more;
}

/** Saves text as a file of this name. */
export function save(name, type, text) {
    const url = URL.createObjectURL(new Blob([text], { type }));
    h('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Whose data a view shows: the person signed in, or for the operator the one that the address names. */
export const subject = context => context.person ?? context.query.get('person');
/** What the operator says about a read of a person's data, which that person sees. */
export const purpose = context => context.person ? {} : { purpose: strings('parts.purpose') };

/** A list of the people of the house, for the operator to choose from. */
export async function people(view) {
    const items = await api.all('/v1/people');
    if (!items.length) return empty(strings('parts.nobody'), strings('parts.nobodyText'), h('a', { class: 'button', href: '/welcome' }, strings('welcome.nav')));
    return section(strings('parts.whose'), h('ul', { class: 'cards' }, items.map(({ handle }) =>
        h('li', {}, h('a', { class: 'card row', href: `/${view}?person=${encodeURIComponent(handle)}` }, handle)))));
}

/** A date field's value as an instant of the reader's zone. */
export const whole = date => new Date(`${date}T00:00`).getTime() / 1000;
