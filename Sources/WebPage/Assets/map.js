// The map: Debian's Leaflet for dragging and zooming, canvas layers of our own for what is shown. The list beside it is
// the content; the map is a view of it, with a role, a name and a sentence.
import { basemapIndex, drawLand, drawNames, latitudeOf, longitudeOf, need, text, worldX, worldY } from './basemap.js';
import { h } from './kit.js';
import { strings } from './strings.js';

export { latitudeOf, longitudeOf, text, worldX, worldY };

let leaflet;
const motion = matchMedia('(prefers-reduced-motion: reduce)');
const forced = matchMedia('(forced-colors: active)');
const names = ['land', 'sea', 'border', 'ink', 'soft', 'panel', 'visit', 'trip', 'cross', 'ask', 'warn', 'line'];

/** The colours of the style sheet as a canvas takes them; the system's own if it forces colours. */
function readColours(element) {
    if (forced.matches) {
        return { ...Object.fromEntries(names.map(name => [name, 'CanvasText'])), land: 'Canvas', sea: 'Canvas', panel: 'Canvas', water: 'GrayText', border: 'GrayText', visit: 'LinkText', ask: 'Highlight' };
    }
    const probe = element.appendChild(h('i', { hidden: true }));
    const colours = {};
    for (const name of names) {
        probe.style.setProperty('color', `var(--${name})`);
        colours[name] = getComputedStyle(probe).color;
    }
    probe.style.setProperty('color', 'color-mix(in srgb, var(--sea) 62%, var(--visit))');
    colours.water = getComputedStyle(probe).color;
    probe.remove();
    return colours;
}

async function getLeaflet() {
    if (leaflet === undefined) {
        try {
            leaflet = await import('./leaflet.js');
            if (!document.querySelector('link[href$="/leaflet.css"]')) await new Promise(done => document.head.prepend(h('link', { rel: 'stylesheet', href: new URL('./leaflet.css', import.meta.url).href, onload: done, onerror: done })));
        } catch { leaflet = null; }
    }
    return leaflet;
}

/** How much larger than the window a canvas is, on each side, so that dragging does not show its end at once. */
const PADDING = 0.15;

function makeLayer(L, map, colours, draw, name, pane = 'overlayPane') {
    const Layer = L.Layer.extend({
        onAdd() {
            this.canvas = L.DomUtil.create('canvas', 'leaflet-zoom-animated', map.getPane(pane));
            if (name) this.name(name); else this.canvas.setAttribute('aria-hidden', 'true');
            this.paint();
        },
        onRemove() { this.canvas.remove(); },
        name(words) {
            this.canvas.setAttribute('role', 'img');
            this.canvas.setAttribute('aria-label', words);
        },
        getEvents() {
            return { moveend: this.paint, resize: this.paint, viewreset: this.paint, zoomanim: event => this.scale(event.center, event.zoom), zoom: () => this.scale(map.getCenter(), map.getZoom()) };
        },
        scale(center, zoom) {
            if (!this.center) return;
            const scale = map.getZoomScale(zoom, this.zoom);
            const half = map.getSize().multiplyBy(0.5 + PADDING);
            const moved = map.project(center, zoom).subtract(map.project(this.center, zoom));
            L.DomUtil.setTransform(this.canvas, half.multiplyBy(-scale).add(this.position).add(half).subtract(moved), scale);
        },
        redraw() {
            this.asked ??= requestAnimationFrame(() => { this.asked = undefined; if (this.canvas.isConnected && map.getPane('mapPane')) this.paint(); });
        },
        paint() {
            const { canvas } = this;
            const size = map.getSize();
            const pad = size.multiplyBy(PADDING).round();
            const dpr = Math.min(devicePixelRatio || 1, 2);
            const [width, height] = [size.x + 2 * pad.x, size.y + 2 * pad.y];
            Object.assign(this, { position: map.containerPointToLayerPoint(pad.multiplyBy(-1)), center: map.getCenter(), zoom: map.getZoom() });
            L.DomUtil.setTransform(canvas, this.position, 1);
            if (canvas.width !== Math.round(width * dpr) || canvas.height !== Math.round(height * dpr)) {
                Object.assign(canvas, { width: Math.round(width * dpr), height: Math.round(height * dpr) });
                canvas.style.width = `${width}px`;
                canvas.style.height = `${height}px`;
            }
            const context = canvas.getContext('2d');
            context.setTransform(dpr, 0, 0, dpr, 0, 0);
            context.clearRect(0, 0, width, height);
            const origin = map.getPixelOrigin().add(this.position);
            const scale = 256 * 2 ** this.zoom;
            draw(context, {
                zoom: this.zoom, scale, left: origin.x, top: origin.y, width, height, dpr, colours: colours(),
                /** Pixels of a place; copies of the world are chosen by the nearest to the middle. */
                at(latitude, longitude) {
                    const x = worldX(longitude);
                    const shift = Math.round((origin.x + width / 2) / scale - x);
                    return [(x + shift) * scale - origin.x, worldY(latitude) * scale - origin.y];
                },
                /** Pixels of a length in meters at a latitude. */
                meters: (latitude, length) => length / (40_075_017 * Math.cos(latitude * Math.PI / 180)) * scale,
            });
        },
    });
    return new Layer().addTo(map);
}

/** The pane for our lines, which are below tiles. */
function ground(map) {
    map.createPane('ground').style.zIndex = 150;
    return 'ground';
}

/** Adds the operator's own tiles, if there are any, else offers those of a server; gives the pane for our lines. */
function ownTiles(L, map, element) {
    const { tiles: own, onlineTiles } = document.documentElement.dataset;
    const tiles = own && JSON.parse(own);
    if (!tiles && onlineTiles) import('./online-tiles.js').then(part => element.isConnected && part.offer(L, map, element, JSON.parse(onlineTiles)));
    if (!tiles) return onlineTiles && ground(map);
    const [west, south, east, north] = tiles.bounds;
    L.tileLayer(`/tiles/{z}/{x}/{y}?v=${tiles.hash}`, {
        minZoom: tiles.minZoom, maxZoom: 19, maxNativeZoom: tiles.maxZoom, bounds: [[south, west], [north, east]],
        // Leaflet takes markup here, and this is text.
        attribution: h('i', {}, tiles.attribution).innerHTML,
    }).addTo(map);
    return ground(map);
}

/**
 * A map in an element of class `map`: `{L, leaflet, layer, fit, center, redraw, remove}`, or `null` without Leaflet (the
 * element says so). `map.layer((context, view) => …, 'words for who does not see it')` adds a canvas; it has `redraw()`,
 * `name(words)` and `remove()`. `view.at(latitude, longitude)` gives pixels, `view.meters(latitude, length)` too,
 * `view.colours` the colours. `taken: view => [[left, top, right, bottom, name?]]` keeps names away from boxes, and those names
 * from the map. The element itself has the name of the landmark.
 */
export async function openMap(element, { taken } = {}) {
    const [L, found] = await Promise.all([getLeaflet(), basemapIndex()]);
    if (!L) {
        element.replaceChildren(h('p', { class: 'empty' }, strings('map.missing')));
        return null;
    }
    if (!element.isConnected) return null;
    const box = element.appendChild(h('div', { role: 'group', 'aria-label': strings('map.title') }));
    const leafletMap = L.map(box, { attributionControl: false, zoomControl: false, minZoom: 1, maxZoom: 19, maxBounds: [[-85.06, -Infinity], [85.06, Infinity]], maxBoundsViscosity: 1, fadeAnimation: false, zoomAnimation: !motion.matches, inertia: !motion.matches, zoomSnap: 0.5, zoomDelta: 1, wheelPxPerZoomLevel: 90 });
    L.control.zoom({ position: 'topleft', zoomInTitle: strings('map.in'), zoomOutTitle: strings('map.out') }).addTo(leafletMap);
    L.control.scale({ imperial: false, position: 'bottomleft' }).addTo(leafletMap);
    L.control.attribution({ prefix: false }).addTo(leafletMap).addAttribution('Natural Earth · GeoNames');
    leafletMap.setView([20, 10], 2);
    const layers = [];
    // Nothing is fetched for the world if the map goes to a place at once.
    let placed = false;
    setTimeout(() => { placed = true; base?.redraw(); }, 400);
    let colours;
    const current = () => colours ??= readColours(element);
    const base = makeLayer(L, leafletMap, current, (context, view) => {
        if (found) drawLand(context, view, found);
        drawNames(context, view, taken?.(view) ?? []);
        if (placed) need(view, () => base?.redraw());
    }, undefined, ownTiles(L, leafletMap, element));
    const redraw = () => { colours = undefined; for (const one of [base, ...layers]) one.redraw(); };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    for (const query of [dark, forced]) query.addEventListener('change', redraw);
    addEventListener('theme', redraw);
    const watcher = new ResizeObserver(() => leafletMap.invalidateSize({ animate: false }));
    watcher.observe(element);
    base.redraw();
    return {
        L, leaflet: leafletMap, redraw,
        layer(draw, name) {
            const one = makeLayer(L, leafletMap, current, draw, name);
            layers.push(one);
            return one;
        },
        /** Shows all of these places `[latitude, longitude]`; a single one at `maxZoom`. */
        fit(places, { maxZoom = 15, animate = false, padding = [48, 48], paddingBottomRight } = {}) {
            if (!places.length) return;
            placed = true;
            leafletMap.fitBounds(L.latLngBounds(unwrapped(places)), { maxZoom, animate: animate && !motion.matches, paddingTopLeft: padding, paddingBottomRight: paddingBottomRight ?? padding });
        },
        remove() {
            watcher.disconnect();
            for (const query of [dark, forced]) query.removeEventListener('change', redraw);
            removeEventListener('theme', redraw);
            // Leaflet ends a zoom's animation by a timer that it does not cancel; without this, the timer looks for the removed map.
            leafletMap._animatingZoom = false;
            leafletMap.remove();
        },
    };
}

/** Places in order without a jump at 180°: each longitude is taken nearest to the one before. */
export function unwrapped(places) {
    let last;
    return places.map(([latitude, longitude]) => {
        last = last === undefined ? longitude : longitude + 360 * Math.round((last - longitude) / 360);
        return [latitude, last];
    });
}

/** A circle of a radius in meters. */
export function circle(context, view, { latitude, longitude, radius }, colour, { fill = 0.1, dash = [], width = 1.6 } = {}) {
    const [x, y] = view.at(latitude, longitude);
    context.beginPath();
    context.arc(x, y, Math.max(2, view.meters(latitude, radius)), 0, 7);
    context.setLineDash(dash);
    context.lineWidth = width;
    context.strokeStyle = context.fillStyle = colour;
    context.stroke();
    context.globalAlpha = fill;
    context.fill();
    context.globalAlpha = 1;
}

/** A shape with an edge in the panel's colour: `disc`, `diamond`, `ring` (of a question). */
export function marker(context, view, form, latitude, longitude, colour, size) {
    const [x, y] = view.at(latitude, longitude);
    context.setLineDash([]);
    context.beginPath();
    if (form === 'diamond') {
        context.moveTo(x, y - size);
        context.lineTo(x + size, y);
        context.lineTo(x, y + size);
        context.lineTo(x - size, y);
        context.closePath();
    } else context.arc(x, y, size, 0, 7);
    context.fillStyle = form === 'ring' ? view.colours.panel : colour;
    context.strokeStyle = form === 'ring' ? colour : view.colours.panel;
    context.lineWidth = 2.5;
    context.fill();
    context.stroke();
    if (form === 'ring') {
        context.beginPath();
        context.arc(x, y, size * 0.35, 0, 7);
        context.fillStyle = colour;
        context.fill();
    }
}

/** A track: world coordinates, times and accuracies, made once. Never an object for a fix. */
export function makeTrack(count) {
    return { count: 0, x: new Float64Array(count), y: new Float64Array(count), time: new Float64Array(count), accuracy: new Float32Array(count) };
}
export function addFix(track, latitude, longitude, seconds, accuracy) {
    const n = track.count++;
    let x = worldX(longitude);
    if (n) x += Math.round(track.x[n - 1] - x);
    track.x[n] = x;
    track.y[n] = worldY(latitude);
    track.time[n] = seconds;
    track.accuracy[n] = accuracy ?? 0;
}

/** The place of the first fix not before an instant. */
export function firstAt(track, seconds) {
    let [low, high] = [0, track.count];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (track.time[middle] < seconds) low = middle + 1; else high = middle;
    }
    return low;
}

/** Adds the line of fixes `first` to `last` to the context's path: points in one square of 2×2 pixels are drawn once. */
export function traceLine(context, view, track, first, last) {
    const { scale, left, top, width, height } = view;
    const shift = copyOf(view, track);
    let [lastX, lastY, outside, isUp] = [NaN, NaN, 0, true];
    for (let n = first; n < last; n++) {
        const x = (track.x[n] + shift) * scale - left;
        const y = track.y[n] * scale - top;
        if ((x | 0) >> 1 === (lastX | 0) >> 1 && (y | 0) >> 1 === (lastY | 0) >> 1 && n > first) continue;
        // A line whose ends are both beyond the same edge is not seen.
        const beyond = (x < 0) | (x > width) << 1 | (y < 0) << 2 | (y > height) << 3;
        if (n > first && !(beyond & outside)) {
            if (isUp) context.moveTo(lastX, lastY);
            context.lineTo(x, y);
            isUp = false;
        } else isUp = true;
        [lastX, lastY, outside] = [x, y, beyond];
    }
}

/** Draws fixes as dots of 2×2 pixels, each square once. */
export function drawDots(context, view, track, first, last) {
    const { scale, left, top, width, height } = view;
    const shift = copyOf(view, track);
    const across = (width >> 1) + 1;
    const painted = new Uint8Array(across * ((height >> 1) + 1));
    for (let n = first; n < last; n++) {
        const x = (track.x[n] + shift) * scale - left;
        const y = track.y[n] * scale - top;
        if (x < 0 || y < 0 || x >= width || y >= height) continue;
        const place = (y >> 1) * across + (x >> 1);
        if (painted[place]) continue;
        painted[place] = 1;
        context.fillRect((x >> 1) << 1, (y >> 1) << 1, 2, 2);
    }
}
const copyOf = (view, track) => track.count ? Math.round((view.left + view.width / 2) / view.scale - (track.x[0] + track.x[track.count - 1]) / 2) : 0;
