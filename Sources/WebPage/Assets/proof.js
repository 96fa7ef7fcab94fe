// The proof of a person's log: whether the house's newest checkpoint continues the one that this browser remembers. The check
// is made here, from the formats of C2SP tlog-checkpoint and RFC 9162, so that the house need not be believed.
import { api } from './api.js';
import { action, confirm, facts, h, note } from './kit.js';
import { more, moment, put, save } from './view-parts.js';
import { strings } from './strings.js';
import { time } from './time.js';

// Formats and arithmetic

const bytes = base64 => Uint8Array.from(atob(base64), one => one.charCodeAt(0));
const base64 = data => btoa(String.fromCharCode(...data));
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(parts.flatMap(one => [...one]))));
const node = (left, right) => sha256(Uint8Array.of(1), left, right);
const utf8 = text => new TextEncoder().encode(text);

/** The parts of a checkpoint's note: `{origin, size, root, text, signatures: [[name, base64]]}`. Throws for another form. */
export function parse(signed) {
    const end = signed.lastIndexOf('\n\n') + 1;
    const text = signed.slice(0, end);
    const [origin, size, root, ...rest] = text.split('\n');
    const signatures = signed.slice(end + 1).split('\n').map(line => /^— (\S+) (\S+)$/.exec(line)?.slice(1)).filter(Boolean);
    if (!end || !origin || !/^(0|[1-9]\d{0,14})$/.test(size) || rest.at(-1) !== '' || !signatures.length || bytes(root).length !== 32 || base64(bytes(root)) !== root) throw new Error(strings('proof.malformed'));
    return { origin, size: Number(size), root, text, signatures };
}

/** Whether the tree of `first` leaves is the beginning of the tree of `second` leaves (RFC 9162, 2.1.4.2). Roots and proof are base 64. */
export async function continues(first, firstRoot, second, secondRoot, proof) {
    if (!Number.isSafeInteger(first) || !Number.isSafeInteger(second) || first < 1 || first > second) return false;
    if (first === second) return proof.length === 0 && firstRoot === secondRoot;
    if (!proof.length || proof.length > 64) return false;
    const path = proof.map(bytes);
    if (path.some(one => one.length !== 32)) return false;
    let isPower = first;
    while (isPower % 2 === 0) isPower /= 2;
    if (isPower === 1) path.unshift(bytes(firstRoot));
    let [fn, sn] = [first - 1, second - 1];
    const up = () => { fn = Math.floor(fn / 2); sn = Math.floor(sn / 2); };
    while (fn % 2) up();
    let [fr, sr] = [path[0], path[0]];
    for (const one of path.slice(1)) {
        if (sn === 0) return false;
        if (fn % 2 || fn === sn) {
            fr = await node(one, fr);
            sr = await node(one, sr);
            while (fn % 2 === 0 && fn) up();
        } else sr = await node(sr, one);
        up();
    }
    return sn === 0 && base64(fr) === firstRoot && base64(sr) === secondRoot;
}

/** Whether the key `NAME+HASH+BASE64` has signed the note: true or false, or `undefined` if this browser has no Ed25519. */
export async function signedBy(key, { origin, text, signatures }) {
    const [, name, hash, body] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(key) ?? [];
    const typed = bytes(body ?? '');
    if (typed.length !== 33 || typed[0] !== 1 || name !== origin) return false;
    const id = (await sha256(utf8(`${name}\n`), typed)).slice(0, 4);
    if (hash !== [...id].map(one => one.toString(16).padStart(2, '0')).join('')) return false;
    const found = signatures.filter(one => one[0] === name).map(one => bytes(one[1])).find(one => id.every((part, index) => part === one[index]));
    if (found?.length !== 68) return false;
    let verifier;
    try { verifier = await crypto.subtle.importKey('raw', typed.slice(1), { name: 'Ed25519' }, false, ['verify']); } catch { return undefined; }
    return crypto.subtle.verify({ name: 'Ed25519' }, verifier, found.slice(4), utf8(text));
}

// What this browser remembers: `{origin, size, root, note, key, at}`, and `refused` with a checkpoint that contradicts it

const place = origin => `checkpoint ${origin}`;
const remembered = origin => JSON.parse(localStorage.getItem(place(origin)) ?? 'null');
const remember = one => { localStorage.setItem(place(one.origin), JSON.stringify(one)); return one; };
const all = () => Object.keys(localStorage).filter(key => key.startsWith('checkpoint ')).map(key => remembered(key.slice(11)));

// The check

async function ask(context, known) {
    const path = api.person(context.person, 'checkpoint');
    let answer;
    // 422: the log has fewer entries now. The checkpoint itself is then the evidence, or shows that it is another log.
    try { answer = await api.get(path, { since: known?.size }, { signal: context.signal }); } catch (error) {
        if (error.status !== 422 || !known) throw error;
        answer = await api.get(path, {}, { signal: context.signal });
    }
    const { text, signatures, ...found } = parse(answer.checkpoint);
    return { ...found, note: answer.checkpoint, key: answer.key, consistency: answer.consistency ?? [], at: time.now() };
}

/** Why the checkpoint contradicts the one before, as a name of a sentence; nothing if it does not. */
async function contradiction(known, now, isSigned) {
    if (isSigned === false) return 'signature';
    if (!known) return undefined;
    if (now.size < known.size) return 'shorter';
    return await continues(known.size, known.root, now.size, now.root, now.consistency) ? undefined : 'changed';
}

/** Reads the newest checkpoint, compares it with the remembered one, and says in `box` how they stand to each other. */
export async function check(context, box) {
    // Browsers have SHA-256 on pages that come by https or from the same machine.
    if (!globalThis.crypto?.subtle) return put(box, note(true, h('span', {}, strings('proof.cannot'))));
    let known = remembered(context.me.log);
    let now = await ask(context, known);
    if (now.origin !== context.me.log) {
        known = remembered(now.origin);
        if (known) now = await ask(context, known);
    }
    const isSigned = await signedBy(now.key, parse(now.note));
    const { consistency, ...kept } = now;
    const reason = await contradiction(known, now, isSigned);
    if (reason) {
        const refused = { ...now, reason };
        return show(context, box, known ? remember({ ...known, refused }) : { refused });
    }
    const others = known ? [] : all();
    if (others.length || known && known.key !== now.key) return put(box, unknown(context, box, known, others, now, isSigned));
    accept(context, box, known, kept, isSigned);
}

function accept(context, box, known, now, isSigned) {
    const says = known ? strings('proof.continues', { count: now.size, before: known.size, time: time.moment(known.at, time.zone()) }) : strings('proof.first', { count: now.size });
    show(context, box, remember({ ...now, refused: known?.refused }), `${says}${isSigned ? ` ${strings('proof.signed')}` : ''}`);
    context.announce(says);
}

// The block

/** The state of a remembered checkpoint: `says` after a check, or when the last one was; a contradiction stays until it is dismissed. */
export function show(context, box, known, says = known.size && strings('proof.seen', { count: known.size, time: time.moment(known.at, time.zone()) })) {
    const { refused } = known;
    put(box, [
        refused && note(true, h('div', {},
            h('p', { class: 'flat no' }, '✕ ', h('b', {}, strings(`proof.refused.${refused.reason}`, { count: refused.size, before: known.size ?? 0 }))),
            h('p', { class: 'flat' }, strings('proof.refusedMeans', { time: time.moment(refused.at, time.zone()) })),
            h('p', { class: 'row' },
                h('button', { type: 'button', onclick: () => evidence(known.size ? [known] : [], refused) }, strings('proof.evidence')),
                action(strings('proof.dismiss'), () => confirm(strings('proof.dismiss'), strings('proof.dismissLead'), strings('proof.dismiss'), () => {
                    if (known.size) show(context, box, remember({ ...remembered(known.origin), refused: undefined }));
                    else put(box, strings('proof.never'));
                }), 'quiet')))),
        // Below a warning, the last good check has no tick, because the warning is about it.
        says && h('p', { class: refused?.at > known.at ? 'flat mut' : 'flat' }, refused?.at > known.at ? `${strings('proof.before')}: ` : h('span', { class: 'ok', 'aria-hidden': 'true' }, '✓ '), says),
        known.size && more(strings('proof.remembers'), () => facts([
            [strings('proof.log'), h('code', {}, known.origin)], [strings('proof.count'), strings.number(known.size)], [strings('proof.root'), h('code', {}, known.root)],
            [strings('proof.key'), h('code', {}, known.key)], [strings('proof.at'), moment(known.at, true)],
        ])),
    ]);
}

/** A log that this browser does not know, or with another key: what that may mean, and the choice. */
function unknown(context, box, known, others, now, isSigned) {
    const end = origin => origin.split('/').at(-1);
    const same = others.filter(one => end(one.origin) === end(now.origin));
    const before = known ? [known] : same.length ? same : others;
    const { consistency, ...kept } = now;
    return note(true, h('div', {},
        h('p', { class: 'flat' }, h('b', {}, strings(known ? 'proof.otherKey' : 'proof.otherLog'))),
        h('p', { class: 'flat' }, strings(known ? 'proof.otherKeyMeans' : same.length ? 'proof.renamedMeans' : 'proof.otherLogMeans')),
        facts([...before.map(one => [strings('proof.before'), [h('code', {}, known ? one.key : one.origin), ` · ${strings('proof.entries', { count: one.size })} · `, moment(one.at)]]),
            [strings('proof.now'), [h('code', {}, known ? now.key : now.origin), ` · ${strings('proof.entries', { count: now.size })}`]]]),
        h('p', { class: 'row' },
            action(strings('proof.accept'), async () => accept(context, box, known, kept, isSigned)),
            h('button', { type: 'button', onclick: () => evidence(before, now) }, strings('proof.evidence')))));
}

/** Saves checkpoints as they were signed: with them others see what this browser has seen. */
function evidence(before, now) {
    const part = (title, one) => `${title}, ${new Date(one.at * 1000).toISOString()}\nkey ${one.key}\n\n${one.note}`;
    save(`checkpoints-${new Date(now.at * 1000).toISOString().slice(0, 10)}.txt`, 'text/plain', [
        ...before.map(one => part('Remembered by a browser', one)), part('Received from the house', now),
        `Consistency proof, from ${before[0]?.size ?? 0} to ${now.size} entries (RFC 9162, base 64)\n${now.consistency.join('\n')}\n`,
    ].join('\n'));
}

/** Saves the whole log with its contents, for `scripts/verify_proof.py`. */
export async function file(context) {
    save(`${context.person}.person-proof`, 'text/plain', await api.text(api.person(context.person, 'proof'), {}, { signal: context.signal }));
}
