// The ledger of a day: visits, ways, silences, crossings and who asked become entries of one list, in order of time.
import { addDays, dateOf, dayRange, instant } from './time.js';

/** The zone of a date at its places: of the visit at the date's noon in UTC, else of the nearest one. */
export function zoneOfDay(visits, date) {
    const noon = instant('UTC', date, 720);
    const away = visit => Math.max(0, visit.arrival - noon, noon - (visit.departure ?? Infinity));
    return visits.filter(visit => visit.timeZone).sort((a, b) => away(a) - away(b))[0]?.timeZone;
}

/** The range in UTC that holds the date in every zone, for the first request. */
export const anyZone = date => ({ from: instant('UTC', addDays(date, -1), 600), to: instant('UTC', addDays(date, 2), 720) });

const rank = { cross: 1, trip: 2, gap: 2, visit: 3, ask: 4 };

/**
 * The entries that overlap `range`, in order. `at` is when an entry stands in the list: not before the day begins. `zone`
 * is that of its place, `endZone` that of a trip's end if it is another one.
 */
export function entries({ visits, trips, crossings, audit }, range, now) {
    const overlaps = (from, to) => from < range.to && (to ?? now) > range.from;
    const zoneAt = seconds => (visits.find(visit => visit.arrival <= seconds && (visit.departure ?? Infinity) >= seconds)
        ?? visits.filter(visit => visit.arrival <= seconds).at(-1) ?? visits[0])?.timeZone;
    const list = [];
    for (const visit of visits) {
        if (overlaps(visit.arrival, visit.departure)) list.push({ kind: 'visit', id: visit.id, from: visit.arrival, to: visit.departure, zone: visit.timeZone, visit });
    }
    for (const trip of trips) {
        if (!overlaps(trip.start, trip.end)) continue;
        const endZone = visits.find(visit => Math.abs(visit.arrival - trip.end) < 1)?.timeZone;
        list.push({ kind: trip.type, id: String(Math.round(trip.start)), from: trip.start, to: trip.end, zone: trip.timeZone ?? zoneAt(trip.start), endZone, trip });
    }
    for (const crossing of crossings) {
        if (crossing.time >= range.from && crossing.time < range.to) list.push({ kind: 'cross', id: `${crossing.region}-${Math.round(crossing.time)}`, from: crossing.time, to: crossing.time, zone: zoneAt(crossing.time), crossing });
    }
    for (const item of audit) {
        if (item.verdict === 'own' || !['query', 'read'].includes(item.kind) || item.at < range.from || item.at >= range.to) continue;
        list.push({ kind: 'ask', id: String(item.id ?? item.number), from: item.at, to: item.endedAt ?? item.at, zone: zoneAt(item.at), item, count: 1 });
    }
    for (const entry of list) entry.at = Math.max(entry.from, range.from);
    list.sort((a, b) => a.at - b.at || rank[a.kind] - rank[b.kind]);
    return grouped(list);
}

/** Reads of one asker that follow each other within an hour are one entry with a count. */
function grouped(list) {
    const result = [];
    const open = new Map();
    for (const entry of list) {
        if (entry.item?.kind === 'read') {
            const key = [entry.item.reader, entry.item.question, entry.item.verdict, entry.item.precision].join();
            const first = open.get(key);
            if (first && entry.from - first.last < 3600) {
                first.count++;
                first.last = entry.from;
                continue;
            }
            entry.last = entry.from;
            open.set(key, entry);
        }
        result.push(entry);
    }
    return result;
}

/**
 * Marks the visits of a list by the person's places: whether it was the first time there (a place has the id of its first
 * visit), and when the person usually is there.
 */
export function annotate(list, places) {
    for (const entry of list) {
        if (entry.kind !== 'visit') continue;
        entry.first = places.some(place => place.id === entry.id);
        const away = ({ latitude, longitude }) => apart(latitude, longitude, entry.visit);
        entry.usual = places.filter(place => away(place) < 150).sort((a, b) => away(a) - away(b))[0]?.usualHours;
    }
}

/** The sums of the day: different places, meters, questions, and seconds at places, on the way and without data. */
export function totals(list, range, now) {
    const inside = entry => Math.max(0, Math.min(entry.to ?? now, range.to) - Math.max(entry.from, range.from));
    const sums = { places: new Set(), meters: 0, questions: 0, visit: 0, trip: 0, gap: 0 };
    for (const entry of list) {
        if (entry.kind in sums) sums[entry.kind] += inside(entry);
        // A trip over midnight counts by its share of time.
        if (entry.kind === 'trip') sums.meters += entry.trip.distanceMeters * (entry.to > entry.from ? inside(entry) / (entry.to - entry.from) : 1);
        if (entry.kind === 'visit') sums.places.add(near(sums.places, entry.visit));
        if (entry.kind === 'ask') sums.questions += entry.count;
    }
    return { ...sums, places: sums.places.size };
}
// Visits within 150 m of each other are at one place.
function near(places, visit) {
    for (const one of places) if (apart(...one.split(' ').map(Number), visit) < 150) return one;
    return `${visit.latitude} ${visit.longitude}`;
}
// The distance in meters, exact enough for short ways: a degree of latitude is 111 km.
const apart = (a, b, { latitude, longitude }) => Math.hypot(a - latitude, (b - longitude) * Math.cos(latitude * Math.PI / 180)) * 111_000;

/** The days beside a date. */
export const beside = date => ({ before: addDays(date, -1), after: addDays(date, 1) });
export { dateOf, dayRange };
