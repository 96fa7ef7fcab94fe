// Regions: circles and polygons that the house watches, drawn on the map or typed; when the person entered and left them.
import { api } from './api.js';
import { choice, confirm, empty, field, h, page, pill, problem, busy, table, values } from './kit.js';
import { load, moment, people, purpose, put, section, subject, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { time } from './time.js';

export const title = 'regions.title';

const days = 30;
const firstCrossings = 12;

export async function show(context) {
    const who = subject(context);
    const content = h('div');
    page(context, { title: strings('regions.heading'), lead: strings('regions.lead') }, content);
    if (!who) return load(content, () => people('regions'));
    const canvas = h('div', { class: 'map regions-map' });
    const list = h('div');
    const crossings = h('div');
    const editor = makeEditor(context, who, async number => { await read(number); await drawing?.show(); });
    put(content, [h('div', { class: 'split' }, h('div', {}, list, section(strings('regions.new'), editor.form)), canvas), section(strings('regions.crossings'), crossings)]);
    let items = [];
    const read = number => Promise.all([
        load(list, async () => {
            items = (await api.get(api.person(who, 'regions'), { 'at-least': number }, { signal: context.signal, ...purpose(context) })).items;
            return regionList(context, who, items, read, region => drawing?.focus(region));
        }),
        load(crossings, () => crossingTable(context, who)),
    ]);
    await read();
    const drawing = await drawOn(context, canvas, editor, () => items);
    drawing?.show();
    const wanted = context.query.get('region');
    if (wanted) drawing?.focus(items.find(one => one.id === wanted));
}

function regionList(context, who, items, read, focus) {
    if (!items.length) return empty(strings('regions.none'), strings('regions.noneText'));
    return h('ul', { class: 'cards' }, items.map(one => h('li', { class: 'card row' },
        h('span', {}, h('b', {}, one.id), h('br'), h('span', { class: 'mut' }, [shape(one), one.notifyOnEntry === false && strings('regions.exitsOnly'), one.notifyOnExit === false && strings('regions.entriesOnly')].filter(Boolean).join(' · '))),
        h('span', { class: 'end row' },
            h('button', { type: 'button', 'aria-label': strings('regions.showOf', { name: one.id }), onclick: () => focus(one) }, strings('regions.show')),
            h('button', {
                type: 'button', class: 'danger', 'aria-label': strings('regions.removeOf', { name: one.id }),
                onclick: () => confirm(strings('regions.removeOf', { name: one.id }), strings('regions.removeLead'), strings('regions.remove'), async () => {
                    const { number } = await api.delete(api.person(who, `regions/${encodeURIComponent(one.id)}`));
                    await read(number);
                }),
            }, strings('regions.remove'))))));
}

const shape = one => one.circle ? strings('regions.circleOf', { radius: strings.distance(one.circle.radiusMeters) }) : strings('regions.polygonOf', { count: one.polygon.coordinates[0].length - 1 });

async function crossingTable(context, who) {
    const from = Math.floor(time.now() - days * 86_400);
    const items = await api.all(api.person(who, 'crossings'), { from }, { signal: context.signal, ...purpose(context) });
    if (!items.length) return h('p', { class: 'mut' }, strings('regions.noCrossings', { count: days }));
    items.sort((a, b) => b.time - a.time);
    const shown = table({
        caption: strings('regions.caption', { count: days }), rows: items.splice(0, firstCrossings), columns: [
            { label: strings('audit.when'), cell: one => moment(one.time) },
            { label: strings('regions.what'), cell: one => h('span', {}, h('span', { class: 'mark cross inline', 'aria-hidden': 'true' }), ' ', strings.rich(`regions.${one.type}`, { name: h('b', {}, one.region) })) },
            { label: strings('regions.stayed'), cell: one => one.dwellSeconds ? time.duration(one.dwellSeconds) : '' },
        ],
    });
    return [shown, items.length > 0 && h('p', { class: 'below' }, h('button', { type: 'button', onclick: event => { shown.add(items); event.target.parentElement.remove(); } }, strings('regions.all', { count: items.length }))), zoneNote()];
}

// The form: with it a region can be made without the map, and what is drawn is written into it.

function makeEditor(context, who, done) {
    const editor = { kind: 'circle', changed: () => {} };
    const circle = h('fieldset', {}, h('legend', { class: 'unseen' }, strings('regions.circle')),
        field({ name: 'latitude', label: strings('regions.latitude'), type: 'number', step: 'any', min: -90, max: 90, required: true }),
        field({ name: 'longitude', label: strings('regions.longitude'), type: 'number', step: 'any', min: -180, max: 180, required: true }),
        field({ name: 'radius', label: strings('regions.radius'), type: 'number', step: 'any', min: 1, value: 150, required: true }));
    const polygon = h('fieldset', { hidden: true, disabled: true }, h('legend', { class: 'unseen' }, strings('regions.polygon')),
        field({ name: 'corners', label: strings('regions.corners'), type: 'textarea', rows: 5, required: true, spellcheck: 'false', hint: strings('regions.cornersHint') }));
    const go = h('button', { class: 'primary' }, strings('regions.add'));
    const hint = h('p', { class: 'mut small' });
    const become = kind => {
        editor.kind = kind;
        circle.hidden = circle.disabled = kind !== 'circle';
        polygon.hidden = polygon.disabled = kind !== 'polygon';
        hint.textContent = strings(`regions.draw.${kind}`);
        editor.changed();
    };
    const found = h('p', { class: 'row small', role: 'status' });
    const form = h('form', {
        class: 'card', oninput: () => editor.changed(),
        onsubmit: event => {
            event.preventDefault();
            busy(go, async () => {
                const wanted = values(form);
                const ring = editor.ring();
                if (editor.kind === 'polygon' && ring.length < 3) throw new Error(strings('regions.tooFew'));
                const body = editor.kind === 'circle' ? { circle: editor.circle() } : { polygon: { type: 'Polygon', coordinates: [[...ring, ring[0]].map(([latitude, longitude]) => [longitude, latitude])] } };
                const { number } = await api.post(api.person(who, 'regions'), { id: wanted.id, ...body, notifyOnEntry: wanted.entry, notifyOnExit: wanted.exit });
                form.reset();
                context.announce(strings('regions.added', { name: wanted.id }));
                await done(number);
            }, form);
        },
    },
    field({ name: 'id', label: strings('regions.name'), required: true, maxlength: 100 }),
    choice(strings('regions.shape'), [['circle', strings('regions.circle')], ['polygon', strings('regions.polygon')]], 'circle', become), hint,
    h('div', { class: 'filters' }, field({ name: 'place', label: strings('regions.search'), type: 'search' }), h('button', {
        type: 'button',
        onclick: event => busy(event.currentTarget, async () => {
            const { items } = await api.get('/v1/geocode/forward', { q: form.elements.place.value.trim(), limit: 1 });
            const [one] = items;
            found.textContent = one ? strings.place(one) : strings('regions.notFound');
            if (one) { editor.setCircle(one.latitude, one.longitude); editor.goTo?.(one.latitude, one.longitude); }
        }, found),
    }, strings('regions.find'))), found, circle, polygon,
    field({ name: 'entry', label: strings('regions.onEntry'), type: 'checkbox', value: true }),
    field({ name: 'exit', label: strings('regions.onExit'), type: 'checkbox', value: true }), go);
    const { elements } = form;
    Object.assign(editor, {
        form,
        circle: () => ({ latitude: elements.latitude.valueAsNumber, longitude: elements.longitude.valueAsNumber, radiusMeters: elements.radius.valueAsNumber }),
        /** The corners as pairs of latitude and longitude; lines that are none are left out. */
        ring: () => elements.corners.value.split('\n').map(line => line.split(/[,;\s]+/).filter(Boolean).map(Number)).filter(pair => pair.length === 2 && pair.every(Number.isFinite)),
        setCircle(latitude, longitude, radius) {
            elements.latitude.value = latitude.toFixed(6);
            elements.longitude.value = longitude.toFixed(6);
            if (radius) elements.radius.value = Math.max(10, Math.round(radius));
            editor.changed();
        },
        addCorner(latitude, longitude) {
            elements.corners.value = `${elements.corners.value.trim()}\n${latitude.toFixed(6)}, ${longitude.toFixed(6)}`.trim();
            editor.changed();
        },
    });
    form.addEventListener('reset', () => setTimeout(() => editor.changed()));
    become('circle');
    return editor;
}

// The map: a view of the list and of the form, and a pen for both.

async function drawOn(context, box, editor, items) {
    let map;
    try { map = await (await import('./map.js')).openMap(box, { label: strings('regions.map'), description: strings('regions.mapText') }); } catch (error) { put(box, problem(error)); }
    if (!map) {
        if (!box.childElementCount) put(box, h('p', { class: 'mut map-absent' }, strings('regions.noMap')));
        return undefined;
    }
    const { L, leaflet } = map;
    const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const style = (name, more) => ({ color: color(name), weight: 2, fillOpacity: 0.12, ...more });
    const regions = L.layerGroup().addTo(leaflet);
    const draft = L.layerGroup().addTo(leaflet);
    const bounds = one => one.circle ? L.latLng(one.circle.latitude, one.circle.longitude).toBounds(one.circle.radiusMeters * 2.4)
        : L.latLngBounds(one.polygon.coordinates[0].map(([longitude, latitude]) => [latitude, longitude]));
    const layer = (one, look) => one.circle ? L.circle([one.circle.latitude, one.circle.longitude], { radius: one.circle.radiusMeters, ...look })
        : L.polygon(one.polygon.coordinates[0].map(([longitude, latitude]) => [latitude, longitude]), look);
    const drawing = {
        show() {
            regions.clearLayers();
            for (const one of items()) layer(one, style('--cross')).addTo(regions).bindTooltip(document.createTextNode(one.id), { permanent: true, direction: 'top', className: 'region-name' });
            if (items().length) leaflet.fitBounds(items().map(bounds).reduce((all, one) => all.extend(one), L.latLngBounds([])), { padding: [30, 30], maxZoom: 16 });
        },
        focus(one) { if (one) leaflet.fitBounds(bounds(one), { padding: [60, 60] }); },
    };
    editor.goTo = (latitude, longitude) => leaflet.setView([latitude, longitude], Math.max(leaflet.getZoom(), 13));
    editor.changed = () => {
        draft.clearLayers();
        const look = style('--ask', { dashArray: '6 5' });
        if (editor.kind === 'circle') {
            const one = editor.circle();
            if (Object.values(one).every(Number.isFinite) && one.radiusMeters > 0) layer({ circle: one }, look).addTo(draft);
        } else {
            const ring = editor.ring();
            if (ring.length > 1) L.polygon(ring, look).addTo(draft);
            for (const corner of ring) L.circleMarker(corner, { ...look, radius: 5, fillOpacity: 1, dashArray: null }).addTo(draft);
        }
    };
    leaflet.on('click', event => {
        const { lat, lng } = event.latlng.wrap();
        if (editor.kind === 'polygon') return editor.addCorner(lat, lng);
        // The first click is the center; a further one outside is the edge.
        const now = editor.circle();
        const away = Number.isFinite(now.latitude) ? leaflet.distance([now.latitude, now.longitude], [lat, lng]) : Infinity;
        if (drawing.center && away < 100_000) { editor.setCircle(now.latitude, now.longitude, away); drawing.center = false; } else { editor.setCircle(lat, lng); drawing.center = true; }
    });
    addEventListener('theme', drawing.show);
    context.onLeave(() => removeEventListener('theme', drawing.show));
    return drawing;
}
