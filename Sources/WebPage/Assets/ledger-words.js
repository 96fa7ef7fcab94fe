// The entries of the ledger as a person would say them.
import { h } from './kit.js';
import { strings } from './strings.js';
import { dateOf, offset, time } from './time.js';

const bold = text => h('b', {}, text);
const join = parts => parts.flat().filter(part => part !== '' && part !== undefined && part !== null && part !== false)
    .flatMap((part, index) => index ? [' · ', part] : [part]);
// Questions whose answers have places; the others are about rights and settings.
const POSITIONS = ['location', 'track', 'visits', 'crossings', 'trips', 'places', 'friends', 'summary'];
const quote = text => strings('day.quote', { text });
const who = name => name === null || name === undefined ? strings('day.erased') : name;
const word = (group, name) => strings.has(`${group}.${name}`) ? strings(`${group}.${name}`) : name;

/** What the entry says: `{what, sub, how}`; arrays of texts and elements, and the duration as a text. */
export function say(entry, { range, zone, now }) {
    return { visit, trip, gap, cross, ask }[entry.kind](entry, { range, zone, now });
}

function edge(key, seconds, zone) {
    return strings(key, { time: time.moment(seconds, zone) });
}

function visit({ visit: one, from, to, first, usual }, { range, zone, now }) {
    const [name, ...rest] = (one.place ?? strings('day.unnamed')).split(', ');
    const end = Math.min(to ?? now, range.to);
    return {
        what: [bold(name)],
        sub: join([
            rest.join(', '), strings.accuracy(one.horizontalAccuracy),
            from < range.from && edge('day.since', from, zone),
            to > range.to && edge('day.until', to, zone),
            first && strings('day.firstTime'), usual && strings('day.usual', { hours: strings.hours(usual) }), one.provisional && strings('day.provisional'),
        ]),
        how: to === null && now < range.to ? strings('day.stillHere') : time.duration(end - Math.max(from, range.from)),
    };
}

function trip({ trip: one, from, to, zone: own, endZone }) {
    const zones = time.mode === 'place' && endZone && offset(endZone, to) !== offset(own || time.mine, to);
    return {
        what: [strings(`mode.${one.mode}`, { distance: strings.distance(one.distanceMeters) })],
        sub: join([
            zones && strings('day.acrossZones', { start: `${time.clock(from, own)} ${time.label(own, from)}`, end: `${time.clock(to, endZone)} ${time.label(endZone, to)}` }),
            one.confidence < 0.6 && strings('day.unsure'),
        ]),
        how: time.duration(to - from),
    };
}

function gap({ from, to }) {
    return { what: [strings('day.noData')], sub: [strings('day.noDataWhy')], how: time.duration(to - from) };
}

function cross({ crossing }) {
    return {
        what: strings.rich(crossing.type === 'enter' ? 'day.entered' : 'day.left', { region: h('em', {}, crossing.region) }),
        sub: join([crossing.dwellSeconds > 0 && strings('day.after', { time: time.duration(crossing.dwellSeconds) })]),
        how: '',
    };
}

function ask({ item, count }, { now }) {
    const name = bold(who(item.requester === undefined ? item.reader : item.requester));
    const link = item.id && h('a', { href: `/requests/${item.id}` }, strings('day.howItWent'));
    if (item.verdict === 'refused') {
        return { what: strings.rich('day.wasRefused', { who: name }), sub: join([word('reason', item.reason), strings('day.sawNothing'), item.purpose && quote(item.purpose)]), how: '', refused: true };
    }
    if (item.kind === 'read') {
        const days = item.from && item.to && dateOf('UTC', item.from) !== dateOf('UTC', item.to - 1) ? strings('day.range', { from: time.date(dateOf(time.mine, item.from), { short: true }), to: time.date(dateOf(time.mine, item.to - 1), { short: true }) }) : '';
        return {
            what: strings.rich(count > 1 ? 'day.readTimes' : 'day.read', { who: name, what: word('question', item.question), count }),
            sub: join([POSITIONS.includes(item.question) && [!['location', 'friends'].includes(item.question) && strings('day.shown', { count: item.count ?? 0 }), word('precision', item.precision)], days, item.purpose && quote(item.purpose)]),
            how: '',
        };
    }
    const seen = item.disclosed?.at(-1);
    const total = Object.values(item.latency ?? {}).reduce((sum, one) => sum + one, 0);
    const place = typeof seen?.place === 'string' ? seen.place : strings.place(seen?.place);
    return {
        what: item.purpose ? strings.rich('day.askedWhy', { who: name, purpose: quote(item.purpose) }) : strings.rich('day.asked', { who: name }),
        sub: seen
            ? join([h('span', {}, strings.rich(place ? 'day.sawPlace' : 'day.saw', { place: bold(place), precision: word('atPrecision', seen.precision) })), total >= 100 && strings('time.s', { n: strings.number(total / 1000) }), link])
            : item.end?.startsWith('answered') ? join([strings('day.unread'), link]) : item.deadline > now && !item.end ? join([strings(item.consent === 'asked' ? 'day.waitsForYou' : 'day.pending'), link])
                : join([item.consent === 'asked' && (item.end ?? 'timedOut') === 'timedOut' ? strings('day.consentMissed') : word('end', item.end ?? 'timedOut'), strings('day.sawNothing'), link]),
        how: '',
    };
}

/** The sentence of the day, which names the map: `4 places, 6 trips, 22.4 km`. */
export const sentenceOf = (date, sums, list) => `${time.date(date)}: ${[
    strings('day.places', { count: sums.places }), strings('day.trips', { count: list.filter(entry => entry.kind === 'trip').length }),
    strings.distance(sums.meters), strings('day.questions', { count: sums.questions }),
].join(', ')}`;
