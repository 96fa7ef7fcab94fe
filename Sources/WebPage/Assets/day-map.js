// The day's map: ways, stays, crossings, silences, and the disclosed places.
import { addFix, circle, drawDots, firstAt, latitudeOf, longitudeOf, makeTrack, marker, openMap, text, traceLine } from './map.js';
import { strings } from './strings.js';

// Half the diagonal of a cell: the rows of `kilometer` have 0.01°, those of `city` 0.1° (Cell.swift).
const REACH = { kilometer: 790, city: 7900 };
const seenRadius = seen => REACH[seen.precision] ?? Math.max(seen.horizontalAccuracy ?? 0, 15);

/** Reads the track of a range into arrays, from the service's binary form (HTTP.md). */
export async function readTrack(api, range, zoom, signal) {
    const bytes = new Uint8Array(await api.bytes(api.mine('track'), { ...range, form: 'points', zoom }, { signal, headers: { Accept: 'application/vnd.whereabouts.track' } }));
    let at = 5;
    const plain = () => {
        let value = 0;
        for (let factor = 1; ; factor *= 128) {
            const byte = bytes[at++];
            value += (byte & 127) * factor;
            if (byte < 128) return value;
        }
    };
    const signed = () => { const value = plain(); return value % 2 ? -(value + 1) / 2 : value / 2; };
    plain();
    const count = plain();
    const track = makeTrack(count);
    let [latitude, longitude, seconds] = [0, 0, 0];
    for (let n = 0; n < count; n++) {
        latitude += signed();
        longitude += signed();
        seconds += signed();
        addFix(track, latitude / 1e6, longitude / 1e6, seconds, plain() - 1);
    }
    return track;
}

/**
 * The map of a day in an element. `show({list, track, span, selected, words})` draws; `focus(entry)` goes to an entry;
 * `picked(entry)` is called for a click on one. `seen` says whether circles of what askers saw are drawn.
 */
export async function dayMap(element, { picked, seen }) {
    let state = { list: [], track: makeTrack(0) };
    const withPlace = entry => entry.visit ?? (entry.kind === 'cross' ? placeOf(entry.from) : undefined);
    // A crossing has no coordinate: it is drawn on the track, at its time.
    function placeOf(seconds) {
        const { track } = state;
        const n = Math.min(firstAt(track, seconds), track.count - 1);
        if (n < 0) return undefined;
        return { world: [track.x[n], track.y[n]] };
    }
    const inSpan = entry => !state.span || (entry.from < state.span[1] && (entry.to ?? Infinity) >= state.span[0]);
    const pixels = (view, place) => {
        if (!place.world) return view.at(place.latitude, place.longitude);
        const shift = Math.round((view.left + view.width / 2) / view.scale - place.world[0]);
        return [(place.world[0] + shift) * view.scale - view.left, place.world[1] * view.scale - view.top];
    };
    let boxes = [];
    const map = await openMap(element, { taken: () => boxes });
    if (!map) return null;
    const stays = () => {
        const places = new Map();
        for (const entry of state.list) {
            if (entry.kind !== 'visit' || !inSpan(entry)) continue;
            const key = `${entry.visit.latitude.toFixed(3)} ${entry.visit.longitude.toFixed(3)}`;
            const found = places.get(key) ?? { entry, seconds: 0 };
            found.seconds += (entry.to ?? entry.from + 3600) - entry.from;
            if (entry.id === state.selected) found.entry = entry;
            places.set(key, found);
        }
        return [...places.values()].sort((a, b) => b.seconds - a.seconds);
    };
    const layer = map.layer((context, view) => {
        const { colours } = view;
        const { track, list } = state;
        boxes = [];
        context.lineCap = context.lineJoin = 'round';
        context.fillStyle = colours.visit;
        context.globalAlpha = 0.25;
        drawDots(context, view, track, state.span ? firstAt(track, state.span[0]) : 0, state.span ? firstAt(track, state.span[1]) : track.count);
        context.globalAlpha = 1;
        for (const entry of list) {
            if (!inSpan(entry)) continue;
            const chosen = entry.id === state.selected;
            if (entry.kind === 'trip') {
                context.beginPath();
                const [first, last] = [Math.max(0, firstAt(track, entry.from) - 1), firstAt(track, entry.to + 1)];
                // A way without fixes has only its two ends.
                const bare = last - first < 2;
                if (bare) {
                    context.moveTo(...view.at(entry.trip.from.latitude, entry.trip.from.longitude));
                    context.lineTo(...view.at(entry.trip.to.latitude, entry.trip.to.longitude));
                } else traceLine(context, view, track, first, last);
                for (const [colour, width] of [[colours.land, chosen ? 9 : 6], [colours.trip, chosen ? 5 : 3]]) {
                    context.setLineDash(bare ? [8, 8] : []);
                    context.strokeStyle = colour;
                    context.lineWidth = width;
                    context.stroke();
                }
            } else if (entry.kind === 'gap' && entry.trip.from && entry.trip.to) {
                context.beginPath();
                context.moveTo(...view.at(entry.trip.from.latitude, entry.trip.from.longitude));
                context.lineTo(...view.at(entry.trip.to.latitude, entry.trip.to.longitude));
                context.setLineDash([1, 7]);
                context.strokeStyle = colours.soft;
                context.lineWidth = 3;
                context.stroke();
            }
        }
        if (seen()) {
            const drawn = new Set();
            for (const entry of list) {
                if (entry.kind !== 'ask' || !inSpan(entry)) continue;
                for (const one of entry.item.disclosed ?? []) {
                    if (one.latitude === undefined) continue;
                    circle(context, view, { ...one, radius: seenRadius(one) }, colours.ask, { dash: [6, 5], fill: entry.id === state.selected ? 0.2 : 0.1, width: entry.id === state.selected ? 2.6 : 1.6 });
                    const [x, y] = view.at(one.latitude, one.longitude);
                    const reach = Math.max(8, view.meters(one.latitude, seenRadius(one)));
                    const words = strings('day.sawOnMap', { who: entry.item.requester ?? strings('day.erased') });
                    const key = `${words} ${x | 0} ${y | 0}`;
                    if (reach > 14 && reach < view.width && !drawn.has(key)) {
                        context.textAlign = 'center';
                        context.textBaseline = 'middle';
                        text(context, view, words, x, y + reach + 12 + 16 * drawn.size, 12.5, colours.ask);
                        drawn.add(key);
                    }
                }
            }
        }
        const places = stays();
        if (!places.length && track.count) {
            // No visit yet: the last fix.
            const [latitude, longitude] = [latitudeOf(track.y[track.count - 1]), longitudeOf(track.x[track.count - 1])];
            circle(context, view, { latitude, longitude, radius: track.accuracy[track.count - 1] }, colours.visit, { fill: 0.18 });
            marker(context, view, 'ring', latitude, longitude, colours.visit, 8);
        }
        for (const { entry, seconds } of places.toReversed()) {
            const { visit } = entry;
            const chosen = entry.id === state.selected;
            if (chosen && visit.horizontalAccuracy > 0) circle(context, view, { ...visit, radius: visit.horizontalAccuracy }, colours.visit, { fill: 0.18 });
            const size = (chosen ? 3 : 0) + 6 + Math.min(5, Math.sqrt(seconds / 3600) * 1.8);
            marker(context, view, 'disc', visit.latitude, visit.longitude, colours.visit, size);
        }
        for (const entry of list) {
            if (entry.kind !== 'cross' || !inSpan(entry)) continue;
            const place = withPlace(entry);
            if (!place) continue;
            const [x, y] = pixels(view, place);
            marker(context, { ...view, at: () => [x, y] }, 'diamond', 0, 0, colours.cross, entry.id === state.selected ? 11 : 8);
        }
        context.textAlign = 'start';
        context.textBaseline = 'middle';
        for (const { entry } of places) {
            const words = entry.visit.place ?? '';
            const [x, y] = view.at(entry.visit.latitude, entry.visit.longitude);
            const short = words.split(', ')[0];
            const box = [x - 14, y - 12, x + 16 + short.length * 8.2, y + 12];
            if (boxes.some(one => one[0] < box[2] && one[2] > box[0] && one[1] < box[3] && one[3] > box[1])) continue;
            boxes.push([...box, short]);
            text(context, view, short, x + (entry.id === state.selected ? 20 : 15), y, 14, colours.ink, 600);
        }
    }, strings('day.map'));
    map.leaflet.on('click', event => {
        const pane = event.layerPoint.subtract(layer.position);
        let best;
        const view = { left: map.leaflet.getPixelOrigin().add(layer.position).x, top: map.leaflet.getPixelOrigin().add(layer.position).y, scale: 256 * 2 ** map.leaflet.getZoom(), width: layer.canvas.clientWidth };
        for (const entry of state.list) {
            const place = withPlace(entry);
            if (!place || !inSpan(entry)) continue;
            const [x, y] = place.world ? pixels(view, place) : [map.leaflet.latLngToLayerPoint([place.latitude, place.longitude])].map(at => [at.x - layer.position.x, at.y - layer.position.y])[0];
            const away = Math.hypot(x - pane.x, y - pane.y);
            if (away < 22 && !(best?.away <= away)) best = { entry, away };
        }
        if (best) picked(best.entry);
    });
    const range = (from, to) => {
        const { track } = state;
        const places = [];
        for (let n = firstAt(track, from); n < firstAt(track, to); n++) places.push([latitudeOf(track.y[n]), longitudeOf(track.x[n])]);
        return places;
    };
    return {
        show(next) {
            state = { ...state, ...next };
            if (next.words) layer.name(next.words);
            layer.redraw();
            // The names make room for the labels of the day.
            if (next.list || next.span !== undefined) map.redraw();
        },
        /** Shows the whole day, or its chosen part. */
        fit() {
            const places = state.list.filter(entry => entry.kind === 'visit' && inSpan(entry)).map(entry => [entry.visit.latitude, entry.visit.longitude]);
            const all = places.concat(state.span ? range(...state.span) : range(-Infinity, Infinity));
            map.fit(all.length ? all : [], { maxZoom: 14, paddingBottomRight: [110, 130] });
        },
        /** Goes to an entry. */
        focus(entry) {
            if (entry.kind === 'visit') map.fit([[entry.visit.latitude, entry.visit.longitude]], { maxZoom: Math.max(15, map.leaflet.getZoom()), animate: true });
            else if (entry.kind === 'ask') {
                const one = entry.item.disclosed?.find(seen => seen.latitude !== undefined);
                if (one) {
                    const reach = seenRadius(one) / 111_000 * 1.3;
                    map.fit([[one.latitude - reach, one.longitude - reach], [one.latitude + reach, one.longitude + reach]], { animate: true });
                }
            } else map.fit(range(entry.from - 60, entry.to + 60), { maxZoom: 16, animate: true });
        },
        hasPlaces: () => state.track.count > 0 || state.list.some(entry => entry.kind === 'visit'),
        remove: () => map.remove(), redraw: () => map.redraw(),
    };
}
