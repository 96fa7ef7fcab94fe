// Year: countries and cities with the days in each, distance by mode, and a calendar of the days.
import { api } from './api.js';
import { empty, h, page, s, table } from './kit.js';
import { load, people, purpose, put, section, subject, word, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { addDays, dateOf, instant, time } from './time.js';

export const title = 'year.title';

/** The service sums up at most so many days at once. */
const mostDays = 90;

export async function show(context) {
    const who = subject(context);
    const zone = time.zone();
    const thisYear = Number(dateOf(zone, time.now()).slice(0, 4));
    const year = /^\d{4}$/.test(context.path[0] ?? '') ? Number(context.path[0]) : thisYear;
    const content = h('div');
    const more = context.person ? '' : `?person=${encodeURIComponent(who ?? '')}`;
    page(context, { title: strings('year.heading', { year: String(year) }), lead: strings('year.lead') },
        h('p', { class: 'row no-print' },
            h('a', { class: 'button', rel: 'prev', href: `/year/${year - 1}${more}` }, `‹ ${year - 1}`),
            year < thisYear && h('a', { class: 'button', rel: 'next', href: `/year/${year + 1}${more}` }, `${year + 1} ›`)), content);
    if (!who) return load(content, () => people('year'));
    return load(content, async () => {
        const days = await summaries(context, who, zone, year);
        const lived = days.filter(one => one.staySeconds + one.moveSeconds > 0);
        if (!lived.length) return empty(strings('year.none', { year: String(year) }), strings('year.noneText'), h('a', { class: 'button', href: `/year/${year - 1}${more}` }, String(year - 1)));
        const places = await located(context, who, zone, year);
        const sum = key => lived.reduce((total, one) => total + one[key], 0);
        const { countries, cities } = where(lived, places);
        const drawn = calendar(context, year, days);
        // On a narrow screen the newest days are in sight.
        setTimeout(() => drawn.firstChild.scrollTo({ left: drawn.firstChild.scrollWidth * (lived.at(-1).period.slice(5, 7) - 4) / 12 }));
        return [
            h('dl', { class: 'totals' }, [
                [strings('year.distance'), strings.distance(sum('distanceMeters'))], [strings('year.daysSeen'), strings.number(lived.length)],
                [strings('year.countries'), strings.number(countries.length)], [strings('year.cities'), strings.number(cities.length)], [strings('year.visits'), strings.number(sum('visits'))],
            ].map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
            section(strings('year.calendar'), drawn, months(lived)),
            section(strings('year.whereHeading'), h('div', { class: 'pair' }, areas(strings('year.countries'), countries), areas(strings('year.cities'), cities))),
            section(strings('year.modes'), modes(lived)), zoneNote(),
        ];
    });
}

/** A period for each day of the year until today. */
async function summaries(context, who, zone, year) {
    const end = Math.min(instant(zone, `${year + 1}-01-01`), time.now());
    const parts = [];
    for (let date = `${year}-01-01`; instant(zone, date) < end; date = addDays(date, mostDays)) {
        parts.push({ from: instant(zone, date), to: Math.min(instant(zone, addDays(date, mostDays)), end) });
    }
    const found = [];
    for (const part of parts) {
        found.push(...(await api.get(api.person(who, 'summary'), { ...part, period: 'day', dayStartMinutes: time.start || undefined }, { signal: context.signal, ...purpose(context) })).items);
    }
    // A day at the seam of two parts comes in both.
    const byDay = new Map();
    for (const one of found) {
        const had = byDay.get(one.period);
        if (!had) byDay.set(one.period, one);
        else {
            for (const key of ['staySeconds', 'moveSeconds', 'distanceMeters', 'visits']) had[key] += one[key];
            had.places.push(...one.places);
            had.modes.push(...one.modes);
        }
    }
    return [...byDay.values()].filter(one => one.period.startsWith(String(year)));
}

/** Country and city of each place of the year; the names come from the service's own gazetteer. */
async function located(context, who, zone, year) {
    const range = { from: instant(zone, `${year}-01-01`), to: instant(zone, `${year + 1}-01-01`) };
    const { items } = await api.get(api.person(who, 'places'), range, { signal: context.signal, ...purpose(context) });
    const known = new Map();
    for (let first = 0; first < items.length; first += 1000) {
        const part = items.slice(first, first + 1000);
        const marks = await api.post('/v1/geocode/reverse', { coordinates: part.map(one => [one.latitude, one.longitude]) });
        part.forEach((one, index) => known.set(one.id, marks.items[index] ?? {}));
    }
    return known;
}

/** Days and time in each country and city; a day counts for each in which some of it was spent. */
function where(days, places) {
    const kinds = { countries: new Map(), cities: new Map() };
    const add = (group, name, day, seconds) => {
        if (!name) return;
        const entry = group.get(name) ?? { name, days: new Set(), seconds: 0 };
        entry.days.add(day);
        entry.seconds += seconds;
        group.set(name, entry);
    };
    for (const { period, places: there } of days) {
        for (const { id, seconds } of there) {
            const mark = places.get(id) ?? {};
            add(kinds.countries, mark.country, period, seconds);
            add(kinds.cities, mark.locality ?? mark.name, period, seconds);
        }
    }
    const sorted = group => [...group.values()].sort((a, b) => b.days.size - a.days.size || b.seconds - a.seconds);
    return { countries: sorted(kinds.countries), cities: sorted(kinds.cities) };
}

const areas = (caption, rows) => table({
    caption, rows, columns: [
        { label: strings('year.area'), cell: one => h('b', {}, one.name) },
        { label: strings('year.days'), number: true, cell: one => strings.number(one.days.size) },
        { label: strings('year.stayed'), number: true, cell: one => time.duration(one.seconds) },
    ],
});

function modes(days) {
    const sums = new Map();
    for (const one of days.flatMap(day => day.modes)) {
        const entry = sums.get(one.mode) ?? { mode: one.mode, trips: 0, seconds: 0, meters: 0 };
        entry.trips += one.trips;
        entry.seconds += one.seconds;
        entry.meters += one.distanceMeters;
        sums.set(one.mode, entry);
    }
    const rows = [...sums.values()].sort((a, b) => b.meters - a.meters);
    if (!rows.length) return h('p', { class: 'mut' }, strings('year.noTrips'));
    return table({
        caption: strings('year.modesCaption'), rows, columns: [
            { label: strings('year.mode'), cell: one => h('b', {}, word('year.by', one.mode)) },
            { label: strings('year.distance'), cell: one => h('div', {}, strings.distance(one.meters), h('meter', { class: 'gauge trip', min: 0, max: rows[0].meters || 1, value: one.meters, 'aria-hidden': 'true' })) },
            { label: strings('year.trips'), number: true, cell: one => strings.number(one.trips) },
            { label: strings('year.time'), number: true, cell: one => time.duration(one.seconds) },
        ],
    });
}

// The calendar: a picture of what the table of months says. More distance is a larger and stronger square.

const cell = 13;
const levels = [0, 1000, 5000, 20_000, 60_000];

function calendar(context, year, days) {
    const byDay = new Map(days.map(one => [one.period, one]));
    const weekday = date => (new Date(date).getUTCDay() + 6) % 7;
    const first = `${year}-01-01`;
    const lead = weekday(first);
    const squares = [];
    const labels = [];
    let count = 0;
    for (let date = first; date.startsWith(String(year)); date = addDays(date, 1), count++) {
        const column = Math.floor((count + lead) / 7);
        const row = weekday(date);
        if (date.endsWith('-01')) labels.push(s('text', { x: 30 + column * cell, y: 10 }, new Intl.DateTimeFormat(strings.language, { month: 'short', timeZone: 'UTC' }).format(Date.parse(date))));
        const one = byDay.get(date);
        const seen = one && one.staySeconds + one.moveSeconds > 0;
        const level = seen ? levels.findLastIndex(least => one.distanceMeters >= least) : -1;
        const size = [3, 5, 7, 9, 10, 11][level + 1];
        squares.push(s('rect', { class: `level-${level + 1}`, x: 30 + column * cell + (cell - 2 - size) / 2, y: 18 + row * cell + (cell - 2 - size) / 2, width: size, height: size, rx: 2, data: seen ? { date } : {} },
            s('title', {}, `${time.date(date)}: ${seen ? strings('year.dayTitle', { distance: strings.distance(one.distanceMeters), count: one.visits }) : strings('year.dayEmpty')}`)));
    }
    const names = [0, 2, 4].map(row => s('text', { x: 24, y: 27 + row * cell, 'text-anchor': 'end' }, new Intl.DateTimeFormat(strings.language, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + row))));
    const width = 30 + 54 * cell;
    return h('figure', { class: 'calendar' },
        h('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': strings('year.calendar') }, s('svg', {
            viewBox: `0 0 ${width} ${18 + 7 * cell}`, role: 'img', 'aria-label': strings('year.calendarLabel', { year: String(year) }),
            onclick: event => { const { date } = event.target.closest('rect')?.dataset ?? {}; if (date && context.person) context.navigate(`/day/${date}`); },
        }, labels, names, squares)),
        h('figcaption', { class: 'mut small' }, strings('year.legend')));
}

function months(days) {
    const groups = Map.groupBy(days, one => one.period.slice(0, 7));
    return table({
        caption: strings('year.monthsCaption'), rows: [...groups], columns: [
            { label: strings('year.month'), cell: ([month, [{ period }]]) => h('a', { href: `/day/${period}` }, new Intl.DateTimeFormat(strings.language, { month: 'long', timeZone: 'UTC' }).format(Date.parse(`${month}-01`))) },
            { label: strings('year.days'), number: true, cell: ([, list]) => strings.number(list.length) },
            { label: strings('year.distance'), number: true, cell: ([, list]) => strings.distance(list.reduce((sum, one) => sum + one.distanceMeters, 0)) },
            { label: strings('year.visits'), number: true, cell: ([, list]) => strings.number(list.reduce((sum, one) => sum + one.visits, 0)) },
        ],
    });
}
