// The service worker: keeps the page's assets, so that it opens without a network and says so. It never keeps an answer of
// the interface, a page with a person's name or anything else that is personal; signing out removes it with its caches.
const CACHE = 'assets';
const ASSET = /^\/assets\/[^/]+\/[^/]+$/;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', event => event.waitUntil(self.clients.claim()));

self.addEventListener('fetch', event => {
    const { request } = event;
    const address = new URL(request.url);
    if (request.method !== 'GET' || address.origin !== location.origin) return;
    if (ASSET.test(address.pathname)) event.respondWith(asset(request, address));
    else if (request.mode === 'navigate') event.respondWith(fetch(request).catch(() => shell(address)));
});

/** An asset under its hash never changes: the kept one, else the network's. Those of another hash are dropped. */
async function asset(request, address) {
    const cache = await caches.open(CACHE);
    const kept = await cache.match(request, { ignoreVary: true });
    if (kept) return kept;
    const answer = await fetch(request);
    if (answer.ok && answer.type === 'basic') {
        const hash = address.pathname.split('/')[2];
        for (const old of await cache.keys()) if (new URL(old.url).pathname.split('/')[2] !== hash) await cache.delete(old);
        await cache.put(request, answer.clone());
    }
    return answer;
}

/** Without a network: the frame of the page, made here of what is kept, without any person's data. */
async function shell() {
    const kept = await (await caches.open(CACHE)).keys();
    const hash = kept.length ? new URL(kept[0].url).pathname.split('/')[2] : '';
    const language = navigator.language.startsWith('de') ? 'de' : 'en';
    return new Response(`<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover"><title>Whereabouts</title><link rel="stylesheet" href="/assets/${hash}/page.css"></head><body><header class="top"></header><main id="main" tabindex="-1"></main><script type="module" src="/assets/${hash}/main.js"></script></body></html>`, {
        headers: {
            'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer',
            'Content-Security-Policy': "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
        },
    });
}
