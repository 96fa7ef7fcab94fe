// Corrections in place: an entry of the ledger is merged, split, named, or said not to be a visit; each can be undone.
import { api } from './api.js';
import { action, ask, confirm, h } from './kit.js';
import { strings } from './strings.js';
import { dateOf, instant, time } from './time.js';

async function correct(correction, done) {
    const answer = await api.post(api.mine('corrections'), correction);
    done(answer, { undo: () => api.delete(`${api.mine('corrections')}/${encodeURIComponent(answer.id)}`) });
    return answer;
}

/** The buttons for a visit. `next` is the visit after it; `done(answer, {undo})` reads the day again. */
export function visitActions(entry, { next, now, done }) {
    const { visit } = entry;
    const zone = time.zone(entry.zone);
    const end = entry.to ?? now;
    return [
        h('button', {
            type: 'button',
            onclick: () => ask({
                title: strings('fix.rename'), lead: strings('fix.renameLead'), label: strings('kit.save'),
                fields: [{ name: 'name', label: strings('fix.name'), value: (visit.place ?? '').split(', ')[0], required: true, maxlength: 100 }],
                submit: ({ name }) => correct({ type: 'rename', latitude: visit.latitude, longitude: visit.longitude, name }, done),
            }),
        }, strings('fix.rename')),
        next && h('button', {
            type: 'button',
            onclick: () => confirm(strings('fix.merge'), strings('fix.mergeLead', { first: visit.place ?? '', second: next.visit.place ?? '' }), strings('fix.merge'),
                () => correct({ type: 'merge', from: entry.from, to: next.to ?? now }, done)),
        }, strings('fix.merge')),
        h('button', {
            type: 'button',
            onclick: () => {
                const middle = (entry.from + end) / 2;
                const date = dateOf(zone, middle);
                return ask({
                    title: strings('fix.split'), lead: strings('fix.splitLead', { from: time.moment(entry.from, zone), to: time.moment(end, zone) }), label: strings('fix.split'),
                    fields: [
                        { name: 'date', type: 'date', label: strings('fix.date'), value: date, required: true },
                        { name: 'clock', type: 'time', label: strings('fix.time', { zone: time.label(zone, middle) }), value: time.clock(middle, zone), required: true },
                    ],
                    submit: ({ date: day, clock }) => {
                        const [hour, minute] = clock.split(':').map(Number);
                        const at = instant(zone, day, hour * 60 + minute);
                        if (at <= entry.from || at >= end) throw new Error(strings('fix.splitOutside'));
                        return correct({ type: 'split', at }, done);
                    },
                });
            },
        }, strings('fix.split')),
        h('button', {
            type: 'button', class: 'danger',
            onclick: () => confirm(strings('fix.notVisit'), strings('fix.notVisitLead'), strings('fix.notVisit'),
                () => correct({ type: 'notVisit', from: entry.from, to: end }, done)),
        }, strings('fix.notVisit')),
    ].filter(Boolean);
}

const fixes = () => import('./fixes.js');

/** A button that says which fixes decided a visit, each of which can be withdrawn. */
export function whyButton(entry, place, { who, done }) {
    const zone = time.zone(entry.zone);
    return action(strings('fix.why'), async () => {
        const { visit, during = [], before = [], after = [], rules } = await api.get(`${api.mine('visits')}/${encodeURIComponent(entry.id)}`);
        if (!visit) return place.replaceChildren(strings('fix.gone'));
        const used = during.filter(fix => fix.used);
        const edge = (key, fix) => fix && h('li', {}, strings(key, { time: time.clock(fix.timestamp, zone, true), accuracy: strings.accuracy(fix.horizontalAccuracy) || '–', meters: strings.distance(fix.metersOff) }));
        place.replaceChildren(h('p', {}, strings('fix.decided', { count: used.length, all: during.length, rules: String(rules) })),
            h('ul', {}, [edge('fix.before', before.at(-1)), edge('fix.first', used[0]), edge('fix.last', used.at(-1)), edge('fix.after', after[0])]),
            await (await fixes()).ofVisit(who, [...before, ...during, ...after], zone, done));
    });
}

/** A button that shows and hides the fixes of a way, each of which can be withdrawn. */
export function fixesButton(entry, place, { who, done, signal }) {
    const button = action(strings('fixes.show'), async () => {
        const isOpen = button.getAttribute('aria-expanded') === 'true';
        place.replaceChildren(...isOpen ? [] : [await (await fixes()).ofTime(who, entry, time.zone(entry.zone), done, { signal })]);
        button.setAttribute('aria-expanded', String(!isOpen));
    }, '', { 'aria-expanded': 'false' });
    return button;
}
