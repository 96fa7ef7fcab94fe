// The service's own interface, with the session's cookie: answers, problems, pages, and the live stream.
import { strings } from './strings.js';

/** A refusal of the service (RFC 9457). `status`, `type`, `title`, `detail`, and `retryAfter` in seconds. */
export class Problem extends Error {
    constructor(status, body, retryAfter) {
        super(body.detail ?? body.title ?? String(status));
        Object.assign(this, body, { name: 'Problem', status, retryAfter });
    }
}

let handle = '';
let ended = () => {};

async function send(method, path, { params, body, headers, signal, purpose, cache = 'no-store' } = {}) {
    const address = new URL(path, location.origin);
    for (const [name, value] of Object.entries(params ?? {})) {
        if (value !== undefined && value !== null && value !== '') address.searchParams.set(name, value);
    }
    const answer = await fetch(address, {
        method, signal, cache, redirect: 'error',
        headers: {
            Accept: 'application/json', 'Accept-Language': strings.language,
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...(purpose ? { 'Whereabouts-Purpose': encodeURIComponent(purpose) } : {}), ...headers,
        },
        body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.ok) return answer;
    let problem = {};
    try { problem = await answer.json(); } catch { /* An answer of a proxy: its status says enough. */ }
    if (answer.status === 401) ended();
    throw new Problem(answer.status, problem, Number(answer.headers.get('Retry-After')) || undefined);
}
const read = async answer => answer.status === 204 ? {} : answer.json();

/**
 * `api.get('/v1/projections')`, `api.get(api.mine('visits'), {from, to})`, `api.post(path, body)`, `put`, `delete`.
 * Options: `signal`, `headers`, `purpose` (of the operator). Members without a value are left out of `params`.
 */
export const api = {
    async get(path, params, options) {
        const newest = whatThePageHasHeard(path);
        // A view that has just changed something waits for its own event, which the stream may not have brought yet.
        if (!newest || params?.['at-least']) return read(await send('GET', path, { params, ...options }));
        try {
            return await read(await send('GET', path, { params: { ...params, 'at-least': newest }, ...options }));
        } catch (problem) {
            // The view is far behind, for example while it is folded again: older data is better than none.
            if (problem.title !== 'Not yet') throw problem;
            return read(await send('GET', path, { params, ...options }));
        }
    },
    post: async (path, body = {}, options) => read(await send('POST', path, { body, ...options })),
    put: async (path, body = {}, options) => read(await send('PUT', path, { body, ...options })),
    delete: async (path, options) => read(await send('DELETE', path, options)),

    /** An answer as text, for example `Accept: text/csv`. */
    text: async (path, params, options) => (await send('GET', path, { params, ...options })).text(),

    /** An answer as bytes. */
    bytes: async (path, params, options) => (await send('GET', path, { params, ...options })).arrayBuffer(),

    /** The address of something of the signed-in person: `api.mine('visits')` is `/v1/people/anna/visits`. */
    mine: (what = '') => api.person(handle, what),
    person: (who, what = '') => `/v1/people/${encodeURIComponent(who)}${what && '/'}${what}`,

    /** The items of all pages, at most `most` of them. */
    async all(path, params, { most = 5000, ...options } = {}) {
        const items = [];
        let after;
        do {
            const page = await api.get(path, { ...params, after }, options);
            items.push(...page.items);
            after = page.next;
        } while (after && items.length < most);
        return items;
    },

    /**
     * Pages one at a time: `const next = api.pages(path, params); const {items, done, asOf} = await next();`
     * `limit` may be a function of the page's index, so that the first one is short.
     */
    pages(path, { limit, ...params }, options) {
        let after;
        let turn = 0;
        return async () => {
            const page = await api.get(path, { ...params, limit: typeof limit === 'function' ? limit(turn++) : limit, after }, options);
            after = page.next;
            return { ...page, done: !page.next };
        };
    },
};

/** The routes below `/v1/people/{person}/` that take `at-least`. */
const views = new Set(['asked', 'audit', 'consent-requests', 'corrections', 'crossings', 'devices', 'findings', 'grants', 'invitations',
    'links', 'location', 'pauses', 'places', 'regions', 'retention', 'schedules', 'summary', 'tokens', 'trips', 'visits', 'webhooks', 'withdrawn-fixes']);

/**
 * The newest event that the live stream has brought, for a view of the signed-in person. The stream is ahead of the views, so a read
 * that an event causes has to wait until its view shows that event; otherwise it shows the state before, and no event follows.
 */
function whatThePageHasHeard(path) {
    const [, , people, who, what] = path.split('/');
    return people === 'people' && who === encodeURIComponent(handle) && views.has(what) ? live.newest : undefined;
}

/** Tells the module who is signed in, and what to do when the session has ended. */
export function begin(who, whenEnded) {
    handle = who;
    ended = whenEnded;
}

const kinds = ['query', 'consent', 'push', 'end', 'disclosure', 'read', 'finding', 'rejected', 'change', 'visit', 'crossing', 'asked', 'location'];
const listeners = new Set();
let source;
let retry;
let idle;
let wait = 2000;

/**
 * The live stream, one for the whole page. `live.on(['query', 'end'], (kind, data) => …)` returns a function that ends it.
 * Two kinds are the page's own: `state` (`{open, since}`), and `resync` when events may have been missed: read again.
 */
export const live = {
    open: false,
    since: 0,
    newest: undefined,
    on(names, run) {
        const entry = { names: [names].flat(), run };
        listeners.add(entry);
        clearTimeout(idle);
        if (!source && !retry) connect();
        return () => {
            listeners.delete(entry);
            // The next view goes on with the same stream: a person may have a few only.
            if (listeners.size === 0) idle = setTimeout(live.stop, 20_000);
        };
    },
    stop() {
        clearTimeout(retry);
        retry = undefined;
        source?.close();
        source = undefined;
    },
};
function tell(kind, data) {
    for (const { names, run } of [...listeners]) if (names.includes(kind)) run(kind, data);
}
function become(open) {
    if (live.open === open && live.since) return;
    Object.assign(live, { open, since: Date.now() / 1000 });
    tell('state', { open, since: live.since });
}
function connect(again = false) {
    retry = undefined;
    source = new EventSource('/v1/live');
    source.onopen = () => {
        wait = 2000;
        // The browser resumes a lost stream with Last-Event-ID, if an event has come before; otherwise it starts now.
        const isBack = live.since > 0 && !live.open;
        become(true);
        if (again || isBack) tell('resync', {});
        again = false;
    };
    source.onerror = () => {
        become(false);
        if (source?.readyState !== EventSource.CLOSED) return;
        source = undefined;
        retry = setTimeout(() => connect(true), wait);
        wait = Math.min(wait * 2, 60_000);
    };
    for (const kind of kinds) {
        source.addEventListener(kind, event => {
            live.newest = event.lastEventId || live.newest;
            tell(kind, JSON.parse(event.data));
        });
    }
}
