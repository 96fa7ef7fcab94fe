// Land, water and borders from the service's own cells, and names of places. No request leaves the origin.
import { api } from './api.js';

/** Longitude and latitude in degrees to the world's square, 0 to 1 (Web Mercator). */
export const worldX = longitude => longitude / 360 + 0.5;
export const worldY = latitude => {
    const sine = Math.sin(Math.max(-85.0511, Math.min(85.0511, latitude)) * Math.PI / 180);
    return 0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI);
};
export const longitudeOf = x => (x - 0.5) * 360;
export const latitudeOf = y => Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180 / Math.PI;

/** The layers of a cell, each an array of paths, each a Float64Array of x and y in steps; see build_basemap.py. */
export function decode(bytes) {
    let at = 0;
    const varint = () => {
        let value = 0;
        for (let shift = 1; ; shift *= 128) {
            const byte = bytes[at++];
            value += (byte & 127) * shift;
            if (byte < 128) return value;
        }
    };
    const difference = () => { const value = varint(); return value % 2 ? -(value + 1) / 2 : value / 2; };
    const layers = [];
    while (at < bytes.length) {
        let x = 0, y = 0;
        layers.push(Array.from({ length: varint() }, () => {
            const path = new Float64Array(varint() * 2);
            for (let index = 0; index < path.length; index += 2) {
                path[index] = x += difference();
                path[index + 1] = y += difference();
            }
            return path;
        }));
    }
    return layers;
}

// A cell's paths are kept as Path2D in units of 1/UNIT of the world from the cell's corner, so that single precision does.
const UNIT = 65_536;

function shape(bytes, band, column, row) {
    const [west, south] = [column * band.degrees - 180, row * band.degrees - 90];
    const left = worldX(west);
    const top = worldY(Math.min(85.0511, south + band.degrees));
    const edge = Math.round(band.degrees / band.step) + 2 * band.margin;
    const rows = new Map();
    const toX = x => (worldX(west + (x - band.margin) * band.step) - left) * UNIT;
    const toY = y => {
        let found = rows.get(y);
        if (found === undefined) rows.set(y, found = (worldY(south + (y - band.margin) * band.step) - top) * UNIT);
        return found;
    };
    const onCut = (a, b) => a === b && (a === 0 || a === edge);
    const [land, lakes, rivers, countries, divisions] = decode(bytes);
    const draw = (paths, ring, open) => {
        const result = new Path2D();
        for (const path of paths ?? []) {
            let down = false;
            for (let index = 0; index < path.length; index += 2) {
                const before = (index || path.length) - 2;
                const skip = open && (onCut(path[index], path[before]) || onCut(path[index + 1], path[before + 1]));
                if (index && !skip) result.lineTo(toX(path[index]), toY(path[index + 1]));
                else if (open && !index && !skip && path.length > 4) {
                    result.moveTo(toX(path[before]), toY(path[before + 1]));
                    result.lineTo(toX(path[0]), toY(path[1]));
                } else result.moveTo(toX(path[index]), toY(path[index + 1]));
                down = true;
            }
            if (ring && down) result.closePath();
        }
        return result;
    };
    return {
        left, top, land: draw(land, true), shore: draw(land, false, true), lakes: draw(lakes, true), banks: draw(lakes, false, true),
        rivers: draw(rivers), countries: draw(countries), divisions: draw(divisions),
    };
}

let index;
const cells = new Map();
const names = new Map();

/** Gets the index once; `null` if the service has no basemap. */
export async function basemapIndex() {
    index ??= api.get('/basemap/index.json').then(found => {
        for (const band of found.bands) {
            band.present = Uint8Array.from(atob(band.cells), one => one.charCodeAt(0));
            Object.assign(band, { columns: Math.max(1, 360 / band.degrees), rows: Math.max(1, 180 / band.degrees) });
        }
        return found;
    }).catch(() => null);
    return index;
}

/** The cells of a view as `{key, band, number, column, row, shift}`; `shift` is the copy of the world. */
function cellsOf(found, view) {
    const number = found.bands.findLastIndex(band => band.zoom <= view.zoom + 0.01);
    const band = found.bands[Math.max(0, number)];
    const result = [];
    const [west, east] = [longitudeOf(view.left / view.scale), longitudeOf((view.left + view.width) / view.scale)];
    const [north, south] = [latitudeOf(Math.max(0, view.top / view.scale)), latitudeOf(Math.min(1, (view.top + view.height) / view.scale))];
    for (let row = Math.max(0, Math.floor((south + 90) / band.degrees)); row < Math.min(band.rows, (north + 90) / band.degrees); row++) {
        for (let far = Math.floor((west + 180) / band.degrees); far < (east + 180) / band.degrees; far++) {
            const column = ((far % band.columns) + band.columns) % band.columns;
            const cell = row * band.columns + column;
            if (band.present[cell >> 3] & 1 << (cell & 7)) result.push({ key: `${Math.max(0, number)}/${cell}`, band, column, row, shift: Math.floor(far / band.columns) });
        }
    }
    return result;
}

/** Gets what a view needs and has not; `arrived` is called for each piece. */
export async function need(view, arrived) {
    const found = await basemapIndex();
    if (found) {
        for (const { key, band, column, row } of cellsOf(found, view)) {
            if (cells.has(key)) continue;
            cells.set(key, undefined);
            api.bytes(`/basemap/${key}`, { v: found.hash }, { headers: { Accept: '*/*' }, cache: 'default' }).then(body => {
                cells.set(key, shape(new Uint8Array(body), band, column, row));
                arrived();
            }).catch(() => cells.delete(key));
        }
    }
    for (const { key, box } of tilesOf(view)) {
        if (names.has(key)) continue;
        names.set(key, []);
        api.get('/v1/places/names', { ...box, zoom: Math.floor(view.zoom) }, { cache: 'default' }).then(answer => {
            names.set(key, answer.items);
            if (answer.items.length) arrived();
        }).catch(() => setTimeout(() => names.delete(key), 30_000));
    }
}

// Names are asked for in squares of 1024 pixels.
function tilesOf(view) {
    const zoom = Math.max(0, Math.floor(view.zoom) - 2);
    const count = 2 ** zoom;
    const result = [];
    const size = view.scale / count;
    for (let y = Math.max(0, Math.floor(view.top / size)); y < Math.min(count, (view.top + view.height) / size); y++) {
        for (let x = Math.floor(view.left / size); x < (view.left + view.width) / size; x++) {
            const column = ((x % count) + count) % count;
            const degree = value => Number(value.toFixed(5));
            result.push({
                key: `${Math.floor(view.zoom)}/${column}/${y}`, shift: Math.floor(x / count),
                box: { west: degree(longitudeOf(column / count)), east: degree(longitudeOf((column + 1) / count)), south: degree(latitudeOf((y + 1) / count)), north: degree(latitudeOf(y / count)) },
            });
        }
    }
    return result;
}

/** Draws land, water and borders. */
export function drawLand(context, view, found) {
    const { colours, dpr } = view;
    for (const { key, band, column, row, shift } of cellsOf(found, view)) {
        const cell = cells.get(key);
        const scale = view.scale / UNIT;
        const left = (worldX(column * band.degrees - 180) + shift) * view.scale - view.left;
        const top = worldY(Math.min(85.0511, (row + 1) * band.degrees - 90)) * view.scale - view.top;
        if (!cell) {
            // Until it is here: land, because people are mostly there.
            context.fillStyle = colours.land;
            context.fillRect(left, top, band.degrees / 360 * view.scale + 1, worldY(row * band.degrees - 90) * view.scale - view.top - top + 1);
            continue;
        }
        context.save();
        context.setTransform(scale * dpr, 0, 0, scale * dpr, left * dpr, top * dpr);
        const line = (path, colour, width, dash = []) => {
            context.strokeStyle = colour;
            context.lineWidth = width / scale;
            context.setLineDash(dash.map(one => one / scale));
            context.stroke(path);
        };
        context.fillStyle = colours.land;
        context.fill(cell.land, 'evenodd');
        line(cell.rivers, colours.water, view.zoom < 6 ? 0.7 : view.zoom < 9 ? 1.2 : 2);
        context.fillStyle = colours.sea;
        context.fill(cell.lakes, 'evenodd');
        line(cell.banks, colours.water, 0.8);
        line(cell.shore, colours.water, 1);
        if (view.zoom >= 6) line(cell.divisions, colours.border, 0.7, [3, 4]);
        line(cell.countries, colours.border, 1.2);
        context.restore();
    }
}

/** Writes names, the largest places first, where there is room; `taken` are boxes `[left, top, right, bottom]` to leave free. */
export function drawNames(context, view, taken) {
    const boxes = [...taken];
    const all = tilesOf(view).flatMap(({ key, shift }) => (names.get(key) ?? []).map(item => ({ ...item, shift })));
    all.sort((a, b) => b.population - a.population);
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    let most = view.width * view.height / 14_000;
    for (const { name, latitude, longitude, population, shift } of all) {
        if (most < 1) break;
        if (taken.some(one => one[4] === name)) continue;
        const x = (worldX(longitude) + shift) * view.scale - view.left;
        const y = worldY(latitude) * view.scale - view.top;
        const size = population > 1e6 ? 14.5 : population > 1e5 ? 13 : 12;
        const half = name.length * size * 0.3 + 5;
        const box = [x - half, y - 11, x + half, y + 11];
        if (box[2] < 0 || box[0] > view.width || box[3] < 0 || box[1] > view.height) continue;
        if (boxes.some(one => one[0] < box[2] && one[2] > box[0] && one[1] < box[3] && one[3] > box[1])) continue;
        boxes.push(box);
        most--;
        text(context, view, name, x, y, size, population > 1e5 ? view.colours.ink : view.colours.soft, population > 1e6 ? 560 : 400);
    }
}

/** Text with a halo in the colour of the land. */
export function text(context, view, words, x, y, size = 13, colour = view.colours.ink, weight = 400) {
    context.font = `${weight} ${size}px Inter, system-ui, sans-serif`;
    context.lineWidth = 3;
    context.setLineDash([]);
    context.strokeStyle = view.colours.land;
    context.strokeText(words, x, y);
    context.fillStyle = colour;
    context.fillText(words, x, y);
}
