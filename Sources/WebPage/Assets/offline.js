// The service worker: keeps the page's assets, so that it opens without a network and says so. It never keeps an answer of
// the interface, a page with a person's name or anything else that is personal; signing out removes it with its caches.
//
// The service puts a line before this one: `const FILES = ['/assets/HASH/main.js', …];`, the files that the frame of the
// page needs. So a new set of files is a new script, which the browser installs.
const CACHE = 'assets';
const ASSET = /^\/assets\/[^/]+\/[^/]+$/;
const hashOf = path => path.split('/')[2];
const HASH = hashOf(FILES[0] ?? '');

// The worker is ready once it has stored the page's files, so one load is enough.
self.addEventListener('install', event => event.waitUntil(keep().then(() => self.skipWaiting())));
self.addEventListener('activate', event => event.waitUntil(dropOthers().then(() => self.clients.claim())));

self.addEventListener('fetch', event => {
    const { request } = event;
    const address = new URL(request.url);
    if (request.method !== 'GET' || address.origin !== location.origin) return;
    if (ASSET.test(address.pathname)) event.respondWith(asset(request));
    else if (request.mode === 'navigate') {
        const answer = fetch(request);
        event.respondWith(answer.catch(shell));
        // The browser may have dropped some of the stored files.
        event.waitUntil(answer.then(keep).catch(() => {}));
    }
});

/** Keeps the files of the frame that are not kept yet. */
async function keep() {
    const cache = await caches.open(CACHE);
    const kept = new Set((await cache.keys()).map(one => new URL(one.url).pathname));
    await cache.addAll(FILES.filter(path => !kept.has(path)));
}

/** Drops the files of other sets. */
async function dropOthers() {
    const cache = await caches.open(CACHE);
    for (const old of await cache.keys()) if (hashOf(new URL(old.url).pathname) !== HASH) await cache.delete(old);
}

/** An asset under its hash never changes: the kept one, else the network's. */
async function asset(request) {
    const cache = await caches.open(CACHE);
    const kept = await cache.match(request, { ignoreVary: true });
    if (kept) return kept;
    const answer = await fetch(request);
    if (answer.ok && answer.type === 'basic') await cache.put(request, answer.clone());
    return answer;
}

/** Without a network: the frame of the page, made here of what is kept, without any person's data. */
function shell() {
    const language = navigator.language.startsWith('de') ? 'de' : 'en';
    return new Response(`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover"><title>Whereabouts</title><link rel="stylesheet" href="/assets/${HASH}/page.css"><link rel="icon" type="image/svg+xml" href="/assets/${HASH}/icon.svg"></head><body><header class="top"><a class="brand" href="/">Whereabouts</a></header><main id="main" tabindex="-1"></main><script type="module" src="/assets/${HASH}/main.js"></script></body></html>`, {
        headers: {
            'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer',
            'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        },
    });
}
