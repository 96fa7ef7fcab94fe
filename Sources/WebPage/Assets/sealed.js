// Opens sealed locations with a file of keys that the reader chooses. The keys are in this module's memory alone: nothing here
// sends or stores anything, and a reload, another page, or the end of the session forgets them. envelopes.cddl in the
// documentation describes the bytes. WebCrypto has X25519, Ed25519 and HMAC, but not ChaCha20-Poly1305 (RFC 8439): that is below.
const subtle = globalThis.crypto?.subtle;
const ascii = text => new TextEncoder().encode(text);
const join = (...parts) => {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) { all.set(part, at); at += part.length; }
    return all;
};
const hex = bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
const same = (a, b) => a.length === b.length && a.reduce((sum, byte, index) => sum | (byte ^ b[index]), 0) === 0;
function bytesOf(text) {
    if (typeof text !== 'string' || !/^[0-9a-f]{64}$/i.test(text)) throw new Refused('notKeys');
    return Uint8Array.from(text.match(/../g), pair => parseInt(pair, 16));
}

/** Why an envelope or a file is refused: `reason` is a word. */
export class Refused extends Error {
    constructor(reason) { super(reason); Object.assign(this, { name: 'Refused', reason }); }
}

// The keys of this page.
let ring;

/** Forgets the keys. */
export function forget() { ring = undefined; }
globalThis.addEventListener?.('pagehide', forget);
globalThis.addEventListener?.('forget', forget);

/** The handle of the keys' owner; `undefined` without keys. */
export const owner = () => ring?.person;

/** Whether the keys can open what `who` seals: the file knows the identity key of `who`. */
export const knows = who => Boolean(ring?.people.has(who));

// PKCS #8 with a key of 32 bytes (RFC 8410).
const pkcs8 = (algorithm, secret) => join(Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, algorithm, 4, 0x22, 4, 0x20), secret);
const agree = async (key, other) => new Uint8Array(await subtle.deriveBits(
    { name: 'X25519', public: await subtle.importKey('raw', other, 'X25519', false, []) }, key, 256));

/** Takes the text of a file that `whereabouts key add` made. */
export async function take(text) {
    if (!subtle) throw new Refused('insecure');
    let file;
    try { file = JSON.parse(text); } catch { throw new Refused('notKeys'); }
    if (typeof file?.person !== 'string' || !Array.isArray(file.recipients) || file.recipients.length > 1000) throw new Refused('notKeys');
    const recipients = [];
    for (const { key } of file.recipients) {
        const secret = await subtle.importKey('pkcs8', pkcs8(0x6e, bytesOf(key)), 'X25519', false, ['deriveBits']);
        const open = await agree(secret, Uint8Array.of(9, ...new Uint8Array(31)));
        recipients.push({ secret, open, id: hex(new Uint8Array(await subtle.digest('SHA-256', open)).slice(0, 16)) });
    }
    const people = new Map();
    for (const { person, identity } of file.people ?? []) people.set(person, bytesOf(identity));
    // The owner's own public key, from the secret one.
    const own = await subtle.importKey('pkcs8', pkcs8(0x70, bytesOf(file.identity)), 'Ed25519', true, ['sign']);
    const { x } = await subtle.exportKey('jwk', own);
    people.set(file.person, Uint8Array.from(atob(x.replace(/-/g, '+').replace(/_/g, '/')), char => char.charCodeAt(0)));
    ring = { person: file.person, recipients, people };
}

// ChaCha20-Poly1305

function block(key, counter, nonce) {
    const state = new Uint32Array(16);
    state.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
    const word = (bytes, at) => bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24;
    for (let i = 0; i < 8; i++) state[4 + i] = word(key, 4 * i);
    state[12] = counter;
    for (let i = 0; i < 3; i++) state[13 + i] = word(nonce, 4 * i);
    const x = state.slice();
    const turn = (a, b, c, d) => {
        for (const [p, q, r, left] of [[a, b, d, 16], [c, d, b, 12], [a, b, d, 8], [c, d, b, 7]]) {
            x[p] += x[q];
            const value = x[r] ^ x[p];
            x[r] = value << left | value >>> 32 - left;
        }
    };
    for (let round = 0; round < 10; round++) {
        for (let i = 0; i < 4; i++) turn(i, 4 + i, 8 + i, 12 + i);
        for (let i = 0; i < 4; i++) turn(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    const bytes = new Uint8Array(64);
    const view = new DataView(bytes.buffer);
    for (let i = 0; i < 16; i++) view.setUint32(4 * i, x[i] + state[i], true);
    return bytes;
}

const number = bytes => bytes.reduceRight((sum, byte) => sum << 8n | BigInt(byte), 0n);

function poly1305(key, message) {
    const r = number(key.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
    const prime = (1n << 130n) - 5n;
    let sum = 0n;
    for (let at = 0; at < message.length; at += 16) {
        const part = message.subarray(at, at + 16);
        sum = (sum + number(part) + (1n << BigInt(8 * part.length))) * r % prime;
    }
    sum += number(key.subarray(16, 32));
    return Uint8Array.from({ length: 16 }, (_, index) => Number(sum >> BigInt(8 * index) & 0xffn));
}

const padded = bytes => join(bytes, new Uint8Array((16 - bytes.length % 16) % 16));
function length(bytes) {
    const field = new Uint8Array(8);
    new DataView(field.buffer).setUint32(0, bytes.length, true);
    return field;
}

/** The plaintext of `box` with its tag of 16 bytes; throws unless key, nonce and associated data are right. */
export function open(box, key, nonce, associated) {
    if (box.length < 16) throw new Refused('undecryptable');
    const sealed = box.subarray(0, box.length - 16);
    const tag = poly1305(block(key, 0, nonce).subarray(0, 32), join(padded(associated), padded(sealed), length(associated), length(sealed)));
    if (!same(tag, box.subarray(box.length - 16))) throw new Refused('undecryptable');
    const plain = new Uint8Array(sealed.length);
    for (let at = 0; at < sealed.length; at += 64) {
        const stream = block(key, 1 + at / 64, nonce);
        for (let i = at; i < Math.min(at + 64, sealed.length); i++) plain[i] = sealed[i] ^ stream[i - at];
    }
    return plain;
}

// HPKE (RFC 9180): base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, ChaCha20-Poly1305

async function mac(key, ...parts) {
    const secret = await subtle.importKey('raw', key.length ? key : new Uint8Array(32), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    return new Uint8Array(await subtle.sign('HMAC', secret, join(...parts)));
}
const none = new Uint8Array(0);
const kem = join(ascii('KEM'), Uint8Array.of(0, 0x20));
const suite = join(ascii('HPKE'), Uint8Array.of(0, 0x20, 0, 1, 0, 3));
const extract = (id, salt, label, secret) => mac(salt, ascii('HPKE-v1'), id, ascii(label), secret);
const expand = async (id, key, label, info, count) => (await mac(key, Uint8Array.of(0, count), ascii('HPKE-v1'), id, ascii(label), info, Uint8Array.of(1))).slice(0, count);

async function hpke(recipient, encapsulated, info, sealed, associated) {
    const agreed = await agree(recipient.secret, encapsulated);
    const shared = await expand(kem, await extract(kem, none, 'eae_prk', agreed), 'shared_secret', join(encapsulated, recipient.open), 32);
    const context = join(Uint8Array.of(0), await extract(suite, none, 'psk_id_hash', none), await extract(suite, none, 'info_hash', info));
    const secret = await extract(suite, shared, 'secret', none);
    return open(sealed, await expand(suite, secret, 'key', context, 32), await expand(suite, secret, 'base_nonce', context, 12), associated);
}

// CBOR in its one encoding (RFC 8949, section 4.2.1)

function reader(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    const need = test => { if (!test) throw new Refused('malformed'); };
    function head() {
        need(at < bytes.length);
        const [major, short] = [bytes[at] >> 5, bytes[at++] & 31];
        if (short < 24) return [major, short, 0];
        need(short < 28);
        const size = 1 << short - 24;
        need(at + size <= bytes.length);
        const value = size === 1 ? view.getUint8(at) : size === 2 ? view.getUint16(at) : size === 4 ? view.getUint32(at) : Number(view.getBigUint64(at));
        at += size;
        // Floats have their own rule.
        need(major === 7 || value >= [24, 256, 65536, 4294967296][short - 24] && Number.isSafeInteger(value));
        return [major, value, size];
    }
    const count = wanted => { const [major, value] = head(); need(major === wanted); return value; };
    const read = {
        get at() { return at; },
        array: () => count(4),
        map: () => count(5),
        integer(least, most) { const value = count(0); need(value >= least && value <= most); return value; },
        string(size) { const value = count(2); need(value === size && at + size <= bytes.length); at += size; return bytes.subarray(at - size, at); },
        /** A number or a boolean. */
        value() {
            const [major, value, size] = head();
            if (major === 0) return value;
            if (major === 1) return -1 - value;
            need(major === 7);
            if (size === 0) { need(value === 20 || value === 21); return value === 21; }
            need(size > 1);
            if (size > 2) return size === 4 ? view.getFloat32(at - 4) : view.getFloat64(at - 8);
            const [exponent, fraction] = [value >> 10 & 31, value & 1023];
            const size16 = exponent === 0 ? fraction * 2 ** -24 : exponent === 31 ? NaN : (1 + fraction / 1024) * 2 ** (exponent - 15);
            return value >> 15 ? -size16 : size16;
        },
        end() { need(at === bytes.length); },
    };
    return read;
}

const quarter = 900_000;
const tiers = [, 'kilometer', 'exact', 'city'];

/** The members of an envelope, whose signature by `identity` is checked before anything else is believed. */
async function decode(base64, identity) {
    let bytes;
    try { bytes = Uint8Array.from(atob(base64), char => char.charCodeAt(0)); } catch { throw new Refused('malformed'); }
    if (bytes.length > 4096) throw new Refused('malformed');
    const read = reader(bytes);
    const members = read.array();
    const type = read.integer(1, 3);
    if (members !== [, 10, 9, 7][type]) throw new Refused('malformed');
    const found = { type, device: read.integer(1, Number.MAX_SAFE_INTEGER), scope: hex(read.string(16)) };
    if (type === 3) read.integer(0, 253402300799999);
    else {
        read.string(16);
        found.bucket = read.integer(65536, 4294967295);
    }
    found.precision = tiers[read.integer(1, 3)];
    if (type !== 2) {
        found.header = bytes.subarray(0, read.at);
        found.wrapped = Array.from({ length: Math.min(read.array(), 33) }, () => {
            if (read.array() !== 3) throw new Refused('malformed');
            return { id: read.string(16), encapsulated: read.string(32), sealed: read.string(48) };
        });
        if (!found.wrapped.length || found.wrapped.length > 32) throw new Refused('malformed');
    }
    if (type !== 3) {
        found.nonce = read.string(12);
        found.beforeBox = bytes.subarray(0, read.at);
        found.box = read.string(256);
    }
    const signed = bytes.subarray(0, read.at);
    const signature = read.string(64);
    read.end();
    const key = await subtle.importKey('raw', identity, 'Ed25519', false, ['verify']);
    if (!await subtle.verify('Ed25519', key, signature, join(ascii('whereabouts/1 envelope '), signed))) throw new Refused('wrongSignature');
    return found;
}

/** The key that an envelope holds for one of the page's keys. */
async function unwrap({ type, wrapped, header }) {
    for (const { id, encapsulated, sealed } of wrapped) {
        const recipient = ring.recipients.find(one => one.id === hex(id));
        if (recipient) return hpke(recipient, encapsulated, join(ascii('whereabouts/1 '), Uint8Array.of(type), id), sealed, header);
    }
    throw new Refused('notARecipient');
}

/** The fix in the box, with the names that answers have. */
function fix({ box, nonce, beforeBox, bucket, precision }, key) {
    const plain = open(box, key, nonce, beforeBox);
    let end = plain.length - 1;
    while (end > 0 && plain[end] === 0) end -= 1;
    if (plain[end] !== 0x80) throw new Refused('inconsistent');
    const read = reader(plain.subarray(0, end));
    const fields = new Map();
    let last = 0;
    for (let left = read.map(); left > 0; left--) {
        const name = read.integer(last + 1, 15);
        fields.set(name, read.value());
        last = name;
    }
    read.end();
    // Degrees are integers of 10⁻⁷ or floats; whole degrees are always integers.
    const degrees = name => Number.isInteger(fields.get(name)) ? fields.get(name) / 1e7 : fields.get(name);
    const [time, latitude, longitude] = [fields.get(1), degrees(2), degrees(3)];
    const isCoarse = precision !== 'exact';
    if (!(Math.floor(time / quarter) === bucket && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)
        || isCoarse && (fields.size > 3 || time % quarter !== 0)) throw new Refused('inconsistent');
    return { timestamp: time / 1000, latitude, longitude, horizontalAccuracy: fields.get(4), altitude: fields.get(5), speed: fields.get(9), course: fields.get(11), precision };
}

/** The location in the answer to one's own query about `who`; `earliest` in seconds is the oldest that it accepts. */
export async function answer(item, { who, query, earliest }) {
    const found = await decode(item.envelope, ring.people.get(who));
    if (found.type !== 1 || found.scope !== query.replace(/-/g, '').toLowerCase()) throw new Refused('foreignQuery');
    if ((found.bucket + 1) * quarter / 1000 <= earliest) throw new Refused('tooOld');
    return fix(found, await unwrap(found));
}

/** The newest location in a list of envelopes of `who` that the keys open; `null` if there is none. */
export async function newest(items, who) {
    const identity = ring.people.get(who);
    const found = [];
    const keys = new Map();
    for (const { envelope } of items) {
        const one = await decode(envelope, identity);
        found.push(one);
        // A period that is not sealed for these keys stays closed.
        if (one.type === 3) await unwrap(one).then(key => keys.set(one.scope, key), () => {});
    }
    let best = null;
    for (const one of found.sort((a, b) => (b.bucket ?? 0) - (a.bucket ?? 0))) {
        if (one.type === 3 || best && one.bucket * quarter / 1000 + quarter / 1000 <= best.timestamp) continue;
        const key = one.type === 2 ? keys.get(one.scope) : await unwrap(one).catch(() => undefined);
        if (!key) continue;
        const at = fix(one, key);
        if (!best || at.timestamp > best.timestamp) best = at;
    }
    return best;
}
