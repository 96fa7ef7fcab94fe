// QR codes (ISO/IEC 18004): bytes, error correction M, the smallest of the versions 1 to 40, the mask with the least penalty.

// Codewords of error correction in a block, and blocks, by version at level M.
const correction = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28];
const blocks = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49];

/** Where the alignment patterns of a version have their centers. */
function alignment(version) {
    if (version === 1) return [];
    const count = Math.floor(version / 7) + 2;
    const step = version === 32 ? 26 : Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
    return [6, ...Array.from({ length: count - 1 }, (_, index) => version * 4 + 10 - step * (count - 2 - index))];
}

/** The modules of a version that are not taken by patterns, in whole codewords. */
function codewords(version) {
    let modules = (16 * version + 128) * version + 64;
    if (version > 1) {
        const count = Math.floor(version / 7) + 2;
        modules -= (25 * count - 10) * count - 55;
        if (version > 6) modules -= 36;
    }
    return modules >> 3;
}

// The field of 256 elements with the polynomial 0x11d.
function times(a, b) {
    let product = 0;
    for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ ((b >> bit & 1) * a);
    return product;
}
function generator(degree) {
    const result = [...Array(degree - 1).fill(0), 1];
    let root = 1;
    for (let turn = 0; turn < degree; turn++) {
        for (let index = 0; index < degree; index++) result[index] = times(result[index], root) ^ (result[index + 1] ?? 0);
        root = times(root, 2);
    }
    return result;
}
function remainder(data, divisor) {
    const result = divisor.map(() => 0);
    for (const byte of data) {
        const factor = byte ^ result.shift();
        result.push(0);
        divisor.forEach((one, index) => { result[index] ^= times(one, factor); });
    }
    return result;
}

/** The data with its length and padding, in blocks with their error correction, interleaved. */
function message(bytes, version) {
    const total = codewords(version), parts = blocks[version - 1], extra = correction[version - 1];
    const capacity = total - parts * extra;
    const bits = [];
    const put = (value, length) => { for (let bit = length - 1; bit >= 0; bit--) bits.push(value >> bit & 1); };
    put(4, 4);
    put(bytes.length, version < 10 ? 8 : 16);
    for (const byte of bytes) put(byte, 8);
    put(0, Math.min(4, capacity * 8 - bits.length));
    put(0, (8 - bits.length % 8) % 8);
    for (let pad = 0xec; bits.length < capacity * 8; pad ^= 0xec ^ 0x11) put(pad, 8);
    const data = Array.from({ length: capacity }, (_, index) => bits.slice(index * 8, index * 8 + 8).reduce((byte, bit) => byte << 1 | bit, 0));
    const divisor = generator(extra);
    const short = Math.floor(total / parts) - extra, shortOnes = parts - total % parts;
    const made = [];
    for (let part = 0, at = 0; part < parts; part++) {
        const block = data.slice(at, at += short + (part < shortOnes ? 0 : 1));
        made.push({ block, ends: remainder(block, divisor) });
    }
    const result = [];
    for (let index = 0; index <= short; index++) for (const { block } of made) if (index < block.length) result.push(block[index]);
    for (let index = 0; index < extra; index++) for (const { ends } of made) result.push(ends[index]);
    return result;
}

const masks = [(x, y) => (x + y) % 2, (x, y) => y % 2, x => x % 3, (x, y) => (x + y) % 3, (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => x * y % 2 + x * y % 3, (x, y) => (x * y % 2 + x * y % 3) % 2, (x, y) => ((x + y) % 2 + x * y % 3) % 2];

/** The code of a text: rows from the top, `true` where it is dark, without the quiet zone of four modules. */
export function encode(text) {
    const bytes = new TextEncoder().encode(text);
    let version = 1;
    while (version <= 40 && 4 + (version < 10 ? 8 : 16) + bytes.length * 8 > (codewords(version) - blocks[version - 1] * correction[version - 1]) * 8) version++;
    if (version > 40) throw new RangeError('The text is too long for a QR code.');
    const size = version * 4 + 17;
    const dark = Array.from({ length: size }, () => Array(size).fill(false));
    const taken = Array.from({ length: size }, () => Array(size).fill(false));
    const set = (x, y, value) => {
        if (x < 0 || y < 0 || x >= size || y >= size) return;
        dark[y][x] = Boolean(value);
        taken[y][x] = true;
    };

    for (let index = 0; index < size; index++) { set(6, index, index % 2 === 0); set(index, 6, index % 2 === 0); }
    for (const [cx, cy] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
        for (let dy = -4; dy <= 4; dy++) for (let dx = -4; dx <= 4; dx++) { const ring = Math.max(Math.abs(dx), Math.abs(dy)); set(cx + dx, cy + dy, ring !== 2 && ring !== 4); }
    }
    const centers = alignment(version), last = centers.length - 1;
    centers.forEach((cy, row) => centers.forEach((cx, column) => {
        if ((row === 0 && column === 0) || (row === 0 && column === last) || (row === last && column === 0)) return;
        for (let dy = -2; dy <= 2; dy++) for (let dx = -2; dx <= 2; dx++) set(cx + dx, cy + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
    }));
    const format = mask => {
        // Level M is 00 in the format's first two bits.
        let rest = mask;
        for (let bit = 0; bit < 10; bit++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
        const bits = (mask << 10 | rest) ^ 0x5412;
        const one = index => bits >> index & 1;
        for (let index = 0; index <= 5; index++) set(8, index, one(index));
        set(8, 7, one(6)); set(8, 8, one(7)); set(7, 8, one(8));
        for (let index = 9; index < 15; index++) set(14 - index, 8, one(index));
        for (let index = 0; index < 8; index++) set(size - 1 - index, 8, one(index));
        for (let index = 8; index < 15; index++) set(8, size - 15 + index, one(index));
        set(8, size - 8, true);
    };
    format(0);
    if (version > 6) {
        let rest = version;
        for (let bit = 0; bit < 12; bit++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
        const bits = version << 12 | rest;
        for (let index = 0; index < 18; index++) {
            const a = size - 11 + index % 3, b = Math.floor(index / 3), one = bits >> index & 1;
            set(a, b, one);
            set(b, a, one);
        }
    }

    const data = message(bytes, version);
    let at = 0;
    for (let right = size - 1; right >= 1; right -= 2) {
        if (right === 6) right = 5;
        for (let step = 0; step < size; step++) {
            for (const x of [right, right - 1]) {
                const y = (right + 1 & 2) === 0 ? size - 1 - step : step;
                if (taken[y][x] || at >= data.length * 8) continue;
                dark[y][x] = Boolean(data[at >> 3] >> (7 - (at & 7)) & 1);
                at++;
            }
        }
    }

    const flip = mask => dark.forEach((row, y) => row.forEach((_, x) => { if (!taken[y][x] && masks[mask](x, y) === 0) row[x] = !row[x]; }));
    let best = 0, least = Infinity;
    for (let mask = 0; mask < 8; mask++) {
        format(mask);
        flip(mask);
        const cost = penalty(dark, size);
        if (cost < least) [best, least] = [mask, cost];
        flip(mask);
    }
    format(best);
    flip(best);
    return dark;
}

/** How hard a code is to read: runs, blocks, patterns like a finder's, and too much of one color. */
function penalty(dark, size) {
    let cost = 0, count = 0;
    for (let a = 0; a < size; a++) {
        for (const at of [b => dark[a][b], b => dark[b][a]]) {
            let run = 0, bits = 0;
            for (let b = 0; b < size; b++) {
                run = b > 0 && at(b) === at(b - 1) ? run + 1 : 1;
                if (run === 5) cost += 3; else if (run > 5) cost++;
                bits = (bits << 1 | (at(b) ? 1 : 0)) & 0x7ff;
                if (b >= 10 && (bits === 0x5d0 || bits === 0x05d)) cost += 40;
            }
        }
        for (let b = 0; b < size; b++) {
            if (dark[a][b]) count++;
            if (a && b && dark[a][b] === dark[a - 1][b] && dark[a][b] === dark[a][b - 1] && dark[a][b] === dark[a - 1][b - 1]) cost += 3;
        }
    }
    return cost + Math.floor(Math.abs(count * 20 - size * size * 10) / (size * size)) * 10;
}
