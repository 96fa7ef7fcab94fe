// The fixes behind a stay or a way: each can be withdrawn, with a reason, and restored. Loaded with its first use.
import { api } from './api.js';
import { action, ask, h, table } from './kit.js';
import { strings } from './strings.js';
import { dateOf, time } from './time.js';

const rowsAtOnce = 25;
const reference = (who, fix) => api.person(who, `track/${encodeURIComponent(fix.number)}`);

const reason = (label, hint) => ({ name: 'reason', label: strings(label), hint: strings(hint), required: true, maxlength: 500 });

/** Asks why a fix does not count and withdraws it; `done(answer, {undo})` reads again. */
const withdraw = (who, fix, zone, done) => ask({
    title: strings('fixes.withdrawOf', { time: time.moment(fix.timestamp, zone, true) }), lead: strings('fixes.withdrawLead'), label: strings('fixes.withdraw'), danger: true,
    fields: [reason('fixes.why', 'fixes.whyHint')],
    submit: async ({ reason: text }) => {
        const answer = await api.delete(reference(who, fix), { params: { reason: text } });
        done(answer, { undo: () => api.post(reference(who, fix), { reason: strings('fixes.undone') }) });
        return answer;
    },
});

/** Asks why a fix counts again and restores it. */
export const restore = (who, fix, zone, done) => ask({
    title: strings('fixes.restoreOf', { time: time.moment(fix.timestamp, zone, true) }), lead: strings('fixes.restoreLead'), label: strings('fixes.restore'),
    fields: [reason('fixes.whyRestore', 'fixes.whyRestoreHint')],
    submit: async ({ reason: text }) => {
        const answer = await api.post(reference(who, fix), { reason: text });
        await done(answer);
        return answer;
    },
});

/** A table whose rows come from `next(count)`, some at a time; `next.done` says that there are no more. */
async function rowsOf(next, caption, columns, none) {
    const rows = await next(rowsAtOnce);
    if (!rows.length) return h('p', { class: 'mut' }, none);
    const shown = table({ caption, rows, columns });
    const more = action(strings('fixes.more'), async () => {
        shown.add(await next(rowsAtOnce));
        more.hidden = next.done;
    });
    more.hidden = next.done;
    return h('div', {}, shown, h('p', { class: 'below' }, more));
}

/** Pages of the service as rows. */
function paged(path, params, options) {
    const page = api.pages(path, { ...params, limit: rowsAtOnce }, options);
    const next = async () => {
        const { items, done } = await page();
        next.done = done;
        return items;
    };
    return next;
}

const columns = (who, zone, done, extra) => [
    { label: strings('audit.when'), cell: fix => time.element(fix.timestamp, zone, time.clock(fix.timestamp, zone, true)) },
    { label: strings('fixes.accuracy'), number: true, cell: fix => strings.accuracy(fix.horizontalAccuracy) || '–' },
    ...extra,
    { label: strings('places.change'), cell: fix => h('button', { type: 'button', class: 'quiet', 'aria-label': strings('fixes.withdrawOf', { time: time.clock(fix.timestamp, zone, true) }), onclick: () => withdraw(who, fix, zone, done) }, strings('fixes.withdraw')) },
];

/** The fixes that were looked at for a visit, as its explanation has them. */
export function ofVisit(who, fixes, zone, done) {
    let at = 0;
    const next = async count => {
        const rows = fixes.slice(at, at += count);
        next.done = at >= fixes.length;
        return rows;
    };
    return rowsOf(next, strings('fixes.ofVisit'), columns(who, zone, done, [
        { label: strings('fixes.away'), number: true, cell: fix => strings.distance(fix.metersOff) },
        { label: strings('fixes.used'), cell: fix => fix.used ? strings('fixes.yes') : h('span', { class: 'mut' }, strings('fixes.no')) },
    ]), strings('fixes.none'));
}

/** The fixes of a time, from the track. */
export const ofTime = (who, { from, to }, zone, done, options) => rowsOf(paged(api.person(who, 'track'), { from, to }, options), strings('fixes.ofTrip'),
    columns(who, zone, done, [{ label: strings('fixes.device'), cell: fix => fix.device ?? '' }]), strings('fixes.none'));

/** The fixes that are withdrawn, with a button that restores one. */
export const withdrawn = (who, params, done, options, linked) => rowsOf(paged(api.person(who, 'withdrawn-fixes'), params, options), strings('fixes.withdrawnCaption'), [
    { label: strings('audit.when'), cell: fix => {
        const date = dateOf(time.zone(), fix.timestamp, time.start);
        const words = time.element(fix.timestamp, time.zone(), time.moment(fix.timestamp, time.zone(), true));
        return linked ? h('a', { href: `/day/${date}` }, words) : words;
    } },
    { label: strings('fixes.device'), cell: fix => fix.device ?? '' },
    { label: strings('fixes.where'), cell: fix => h('code', {}, `${fix.latitude.toFixed(5)}, ${fix.longitude.toFixed(5)}`) },
    { label: strings('places.change'), cell: fix => h('button', { type: 'button', 'aria-label': strings('fixes.restoreOf', { time: time.moment(fix.timestamp, time.zone(), true) }), onclick: () => restore(who, fix, time.zone(), done) }, strings('fixes.restore')) },
], strings('fixes.noneWithdrawn'));
