// Places: a person's stays by place, with their length and usual hours, and the person's names, which can be withdrawn.
import { api } from './api.js';
import { withdrawn } from './fixes.js';
import { action, ask, empty, field, h, note, page, table, values } from './kit.js';
import { load, moment, people, purpose, put, section, subject, word, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { addDays, dateOf, instant, isDate, time } from './time.js';

export const title = 'places.title';

export async function show(context) {
    const who = subject(context);
    const content = h('div');
    page(context, { title: strings('places.heading'), lead: strings('places.lead') }, content);
    if (!who) return load(content, () => people('places'));
    const filter = Object.fromEntries(['from', 'to', 'q'].map(name => [name, context.query.get(name) ?? '']));
    const rows = h('div');
    const names = h('div');
    const fixes = h('div');
    const done = h('div', { class: 'extra' });
    put(content, [filters(context, filter), done, rows, section(strings('places.corrections'), names, h('h3', {}, strings('fixes.withdrawn')), fixes), zoneNote()]);
    // `made` is the id of a correction that has just been made, and can be undone at once.
    const read = (atLeast, made) => {
        done.replaceChildren(...made ? [note(false, strings('fix.done'), h('button', { type: 'button', class: 'end', onclick: async () => read((await remove(who, made)).number) }, strings('fix.undo')))] : []);
        return Promise.all([
            load(rows, () => places(context, who, filter, atLeast, read)),
            load(names, () => corrections(context, who, atLeast, read)),
            load(fixes, () => withdrawnFixes(context, who, atLeast, read)),
        ]);
    };
    return read();
}

function filters(context, filter) {
    const form = h('form', {
        class: 'filters', role: 'search', 'aria-label': strings('places.filter'),
        onsubmit: event => {
            event.preventDefault();
            const wanted = new URLSearchParams(values(form));
            if (!context.person) wanted.set('person', subject(context));
            context.navigate(`/places${wanted.size ? `?${wanted}` : ''}`);
        },
    }, field({ name: 'q', label: strings('places.name'), type: 'search', value: filter.q }), field({ name: 'from', label: strings('audit.from'), type: 'date', value: filter.from }),
    field({ name: 'to', label: strings('audit.to'), type: 'date', value: filter.to }), h('button', {}, strings('audit.filter')));
    return form;
}

async function places(context, who, filter, atLeast, read) {
    const zone = time.zone();
    const { items } = await api.get(api.person(who, 'places'), {
        from: isDate(filter.from) ? instant(zone, filter.from) : undefined,
        to: isDate(filter.to) ? instant(zone, addDays(filter.to, 1)) : undefined, 'at-least': atLeast,
    }, { signal: context.signal, ...purpose(context) });
    const rows = items.filter(one => !filter.q || one.place?.toLocaleLowerCase().includes(filter.q.toLocaleLowerCase()));
    if (!rows.length) return items.length || filter.from || filter.to ? empty(strings('places.noMatch'), strings('places.noMatchText')) : empty(strings('places.none'), strings('places.noneText'), h('a', { class: 'button', href: '/devices' }, strings('devices.nav')));
    const most = rows[0].totalSeconds;
    return table({
        caption: strings('places.caption', { count: rows.length }), rows, columns: [
            { label: strings('places.name'), cell: one => h('b', {}, one.place ?? strings('places.unnamed')) },
            { label: strings('places.usual'), cell: one => one.usualHours ? strings.hours(one.usualHours) : h('span', { class: 'mut' }, strings('places.notUsual')) },
            { label: strings('places.time'), cell: one => h('div', {}, one.totalSeconds < 1 ? strings('places.begun') : time.duration(one.totalSeconds), h('meter', { class: 'gauge', min: 0, max: most, value: one.totalSeconds, 'aria-label': strings('places.share') })) },
            { label: strings('places.visits'), number: true, cell: one => strings.number(one.visits) },
            { label: strings('places.days'), number: true, cell: one => days(context, one) },
            { label: strings('places.last'), cell: one => dayLink(context, one) },
            { label: strings('places.change'), cell: one => h('div', { class: 'row' },
                action(strings('places.rename'), () => rename(context, who, one, read), '', { 'aria-label': strings('places.renameOf', { name: one.place ?? '' }) }),
                items.length > 1 && action(strings('places.same'), () => same(context, who, one, items, read), 'quiet', { 'aria-label': strings('places.sameOf', { name: one.place ?? strings('places.unnamed') }) })) },
        ],
    });
}

function dayLink(context, one) {
    const zone = time.zone(one.timeZone);
    const date = dateOf(zone, one.lastArrival);
    return one.lastDeparture === null ? h('a', { href: '/day' }, strings('places.now'))
        : h('a', { href: `/day/${date}${context.person ? '' : `?person=${encodeURIComponent(subject(context))}`}` }, time.date(date, { short: true }));
}

/** How many days, and the newest of them as links. The operator has no view of a day. */
function days(context, one) {
    if (!context.person) return strings.number(one.days);
    return h('details', { class: 'more-below' }, h('summary', { 'aria-label': strings('places.daysOf', { count: one.days, name: one.place ?? '' }) }, strings.number(one.days)),
        h('ul', { class: 'plain' }, one.newestDays.map(date => h('li', {}, h('a', { href: `/day/${date}` }, time.date(date, { short: true }))))),
        one.days > one.newestDays.length && h('p', { class: 'mut small flat' }, strings('places.older', { count: one.days - one.newestDays.length })));
}

/** Says that a place is the same as another one, which gives the name. Their visits, time and hours become one row. */
const same = (context, who, one, items, read) => ask({
    title: strings('places.sameOf', { name: one.place ?? strings('places.unnamed') }), lead: strings('places.sameLead'), label: strings('places.join'),
    fields: [{
        name: 'other', label: strings('places.sameAs'), type: 'select',
        options: items.filter(other => other.id !== one.id).map(other => [other.id, `${other.place ?? strings('places.unnamed')} · ${time.duration(other.totalSeconds)}`]),
    }],
    submit: async ({ other }) => {
        const kept = items.find(item => item.id === other);
        const { id, number } = await api.post(api.person(who, 'corrections'), { type: 'samePlace', latitude: kept.latitude, longitude: kept.longitude, otherLatitude: one.latitude, otherLongitude: one.longitude });
        await read(number, id);
        context.announce(strings('places.joined'));
    },
});

const remove = (who, id) => api.delete(api.person(who, `corrections/${encodeURIComponent(id)}`));

const rename = (context, who, one, read) => ask({
    title: strings('places.renameOf', { name: one.place ?? '' }), lead: strings('places.renameLead'),
    fields: [{ name: 'name', label: strings('places.name'), value: one.place ?? '', required: true, maxlength: 100 }],
    submit: async ({ name }) => {
        const { id, number } = await api.post(api.person(who, 'corrections'), { type: 'rename', latitude: one.latitude, longitude: one.longitude, name });
        await read(number, id);
        context.announce(strings('places.renamed', { name }));
    },
});

const degrees = (...pair) => pair.map(one => one.toFixed(4)).join(', ');

async function corrections(context, who, atLeast, read) {
    const items = await api.all(api.person(who, 'corrections'), { 'at-least': atLeast }, { signal: context.signal, ...purpose(context) });
    if (!items.length) return h('p', { class: 'mut' }, strings('places.noCorrections'));
    return table({
        caption: strings('places.correctionsCaption'), rows: items, columns: [
            { label: strings('places.kind'), cell: one => word('places.kinds', one.type) },
            { label: strings('places.what'), cell: one => one.name ?? (one.otherLatitude !== undefined ? `${degrees(one.latitude, one.longitude)} = ${degrees(one.otherLatitude, one.otherLongitude)}` : one.at ? moment(one.at) : [moment(one.from), ' – ', moment(one.to)]) },
            { label: strings('places.change'), cell: one => action(strings('places.withdraw'), async () => read((await remove(who, one.id)).number), '', { 'aria-label': `${strings('places.withdraw')}: ${word('places.kinds', one.type)} ${one.name ?? ''}` }) },
        ],
    });
}

const withdrawnFixes = (context, who, atLeast, read) => withdrawn(who, { 'at-least': atLeast }, async ({ number }) => {
    await read(number);
    context.announce(strings('fixes.restored'));
}, { signal: context.signal, ...purpose(context) }, Boolean(context.person));
