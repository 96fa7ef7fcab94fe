// Times in zones. Every instant is in Unix seconds, as in the interface; every date is `2026-03-29`; every zone has its
// IANA name. A local day begins `start` minutes after midnight and has 23, 24 or 25 hours.
import { strings } from './strings.js';

const formats = new Map();
function format(zone, options) {
    const key = `${strings.language}|${zone}|${JSON.stringify(options)}`;
    let found = formats.get(key);
    if (!found) {
        try { found = new Intl.DateTimeFormat(strings.language === 'en' ? 'en-GB' : 'de-AT', { timeZone: zone, ...options }); } catch {
            // A zone that this browser does not know yet: UTC, and the label says so.
            found = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: 'UTC' });
        }
        formats.set(key, found);
    }
    return found;
}

const fields = new Map();
/** What a clock on the wall of the zone shows: year, month, day, hour, minute, second. */
export function wall(zone, seconds) {
    let one = fields.get(zone);
    if (!one) {
        const options = { calendar: 'iso8601', numberingSystem: 'latn', hourCycle: 'h23', year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' };
        try { one = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...options }); } catch { one = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options }); }
        fields.set(zone, one);
    }
    const parts = {};
    for (const { type, value } of one.formatToParts(Math.floor(seconds) * 1000)) parts[type] = Number(value);
    return parts;
}
const asIfUTC = parts => Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) / 1000;

/** How far the zone is ahead of UTC at an instant, in seconds. */
export const offset = (zone, seconds) => asIfUTC(wall(zone, seconds)) - Math.floor(seconds);

/** The instant of a time on the wall; the later side of a gap, the earlier of two when clocks go back. */
export function instant(zone, date, minutes = 0) {
    const [year, month, day] = date.split('-').map(Number);
    const local = Date.UTC(year, month - 1, day) / 1000 + minutes * 60;
    // Offsets a day before and after bracket every transition between them.
    const guesses = [...new Set([offset(zone, local - 86_400), offset(zone, local + 86_400)])].map(ahead => local - ahead).sort((a, b) => a - b);
    for (const guess of guesses) if (asIfUTC(wall(zone, guess)) === local) return guess;
    // The time does not exist: the first instant after the gap.
    let [before, after] = [guesses[0] - 86_400, guesses.at(-1) + 86_400];
    while (after - before > 1) {
        const middle = Math.floor((before + after) / 2);
        if (asIfUTC(wall(zone, middle)) >= local) after = middle; else before = middle;
    }
    return after;
}

const two = number => String(number).padStart(2, '0');

/** The date `days` later. */
export function addDays(date, days) {
    const [year, month, day] = date.split('-').map(Number);
    return new Date(Date.UTC(year, month - 1, day + days)).toISOString().slice(0, 10);
}

/** The local date of an instant, for days that begin `start` minutes after midnight. */
export function dateOf(zone, seconds, start = 0) {
    const { year, month, day } = wall(zone, seconds);
    const date = `${year}-${two(month)}-${two(day)}`;
    if (start === 0) return date;
    return seconds < instant(zone, date, start) ? addDays(date, -1) : date;
}

/** The instants where a local day begins and ends. */
export const dayRange = (zone, date, start = 0) => ({ from: instant(zone, date, start), to: instant(zone, addDays(date, 1), start) });

/** `+02:00`. */
export function ahead(zone, seconds) {
    const minutes = Math.round(offset(zone, seconds) / 60);
    return `${minutes < 0 ? '−' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Whether a text is a date that exists. */
export const isDate = text => /^\d{4}-\d\d-\d\d$/.test(text ?? '') && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);

/** The times of the page: the zone that the reader chose, and everything in words. */
export const time = {
    /** `place`, `mine` or `utc`; from the address, then from what was chosen last. */
    mode: 'place',
    /** Minutes after midnight at which a day begins. */
    start: 0,

    /** The browser's own zone. */
    mine: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',

    /** The zone in which to show something that happened in `place` (an IANA name or nothing). */
    zone: place => time.mode === 'utc' ? 'UTC' : time.mode === 'mine' ? time.mine : place || time.mine,

    now: () => Date.now() / 1000,
    today: zone => dateOf(zone, time.now(), time.start),

    /** `09:12`, or `09:12:04`. */
    clock: (seconds, zone, withSeconds = false) => format(zone, { hour: '2-digit', minute: '2-digit', ...(withSeconds ? { second: '2-digit' } : {}), hourCycle: 'h23' }).format(seconds * 1000),

    /** `Sunday 22 November`, with the year if it is another one. */
    date(date, { year = date.slice(0, 4) !== String(new Date().getFullYear()), short = false } = {}) {
        return format('UTC', { weekday: short ? 'short' : 'long', day: 'numeric', month: short ? 'short' : 'long', ...(year ? { year: 'numeric' } : {}) }).format(Date.parse(date)).replace(',', '');
    },

    /** `Sat 21 Nov 20:40`; today only the clock. */
    moment(seconds, zone, withSeconds = false) {
        const date = dateOf(zone, seconds);
        const clock = time.clock(seconds, zone, withSeconds);
        return date === dateOf(zone, time.now()) ? clock : `${time.date(date, { short: true })} ${clock}`;
    },

    /** `Europe/Vienna +01:00`. */
    label: (zone, seconds = time.now()) => zone === 'UTC' ? 'UTC' : `${zone.replaceAll('_', ' ')} ${ahead(zone, seconds)}`,

    /** How long: `41 min`, `1 h 40`, `3 d 4 h`. */
    duration(seconds) {
        const minutes = Math.round(seconds / 60);
        if (seconds < 59.5) return strings('time.s', { n: Math.round(seconds) });
        if (minutes < 60) return strings('time.min', { n: minutes });
        if (minutes < 48 * 60) return strings('time.h', { h: Math.floor(minutes / 60), m: two(minutes % 60) });
        return strings('time.d', { d: Math.floor(minutes / 1440), h: Math.floor(minutes % 1440 / 60) });
    },

    /** How long ago, in words: `just now`, `4 minutes ago`, `yesterday`. */
    age(seconds, now = time.now()) {
        const past = now - seconds;
        if (past < 45 && past > -120) return strings('time.justNow');
        const words = new Intl.RelativeTimeFormat(strings.language, { numeric: 'auto' });
        for (const [unit, size, most] of [['minute', 60, 90], ['hour', 3600, 36], ['day', 86_400, 45], ['month', 2_629_800, 18]]) {
            if (Math.abs(past) / size < most) return words.format(-Math.round(past / size), unit);
        }
        return words.format(-Math.round(past / 31_557_600), 'year');
    },

    /** A `<time>` with a text of its own or `09:12`; its title is the whole date with the zone. */
    element(seconds, zone, text = time.clock(seconds, zone)) {
        const element = document.createElement('time');
        element.dateTime = new Date(seconds * 1000).toISOString();
        element.title = `${time.date(dateOf(zone, seconds), { year: true })} ${time.clock(seconds, zone, true)} ${time.label(zone, seconds)}`;
        element.textContent = text;
        return element;
    },
};
