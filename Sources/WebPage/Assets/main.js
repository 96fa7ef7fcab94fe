// Boot: who is signed in, which language, the header; then the router shows the view of the address.
import { api, begin, live } from './api.js';
import { dialog, empty, h, letterKeysAreOff, sentence } from './kit.js';
import { again, navigate, start, views, warm } from './router.js';
import { load, strings } from './strings.js';
import { time } from './time.js';

const root = document.documentElement;
const main = document.getElementById('main');

/** Says something to readers of the screen, once; only changes of state. */
function announce(text) {
    const place = document.getElementById('says') ?? document.body.appendChild(h('div', { id: 'says', class: 'unseen', role: 'status' }));
    place.textContent = '';
    setTimeout(() => { place.textContent = text; }, 50);
}

/** The shell's caches hold assets only; they go all the same when somebody signs out. */
async function forget() {
    // Keys for sealed locations, if the page has any.
    dispatchEvent(new Event('forget'));
    live.stop();
    for (const name of await caches?.keys?.() ?? []) await caches.delete(name);
    for (const one of await navigator.serviceWorker?.getRegistrations?.() ?? []) await one.unregister();
    // A checkpoint names a log, and no person in it. It stays, because later checkpoints are compared with it.
    for (const key of Object.keys(localStorage)) if (key !== 'theme' && key !== 'keys' && !key.startsWith('checkpoint ')) localStorage.removeItem(key);
    sessionStorage.clear();
}

function signOut(everywhere) {
    return async event => {
        event?.preventDefault();
        try { await api.post(`/session/end${everywhere ? '?everywhere=true' : ''}`, {}); } catch { await api.delete('/session').catch(() => {}); }
        await forget();
        location.assign('/');
    };
}

function setTheme(theme) {
    if (theme) { root.dataset.theme = theme; localStorage.setItem('theme', theme); } else { delete root.dataset.theme; localStorage.removeItem('theme'); }
    dispatchEvent(new Event('theme'));
}

/** Lists the keys of the view, with the switch for those of one letter. */
function help() {
    const context = start.context;
    const off = h('input', { type: 'checkbox', checked: !letterKeysAreOff(), onchange: event => localStorage.setItem('keys', event.target.checked ? 'on' : 'off') });
    dialog({
        title: strings('help.title'),
        body: [
            h('dl', { class: 'facts' }, [...context.keys, ['?', 'help.this']].map(([key, name]) => [h('dt', {}, h('kbd', {}, key.replace('ArrowLeft', '←').replace('ArrowRight', '→'))), h('dd', {}, strings(name))])),
            h('label', { class: 'check' }, off, strings('help.letters')),
        ],
    });
}

/** The header: the same links as without script, and a menu for what is not a view. */
function header(me) {
    const top = document.querySelector('header.top') ?? document.body.insertBefore(h('header', { class: 'top' }), main);
    // A viewer by a share link sees one person, and no settings.
    const shown = me.link ? ['now', me.link.history && 'day'].filter(Boolean)
        : views.filter(name => name === 'welcome' ? !me.person : name === 'operate' ? me.operator : me.person);
    const link = name => h('a', { href: `/${name}` }, strings(`${name}.nav`));
    const pick = (value, text) => h('button', { type: 'button', onclick: () => setTheme(value) }, text);
    const own = () => [
        h('button', { type: 'button', onclick: help }, strings('help.title')), h('hr'),
        pick('light', strings('menu.light')), pick('dark', strings('menu.dark')), pick('', strings('menu.system')), h('hr'),
        h('button', { type: 'button', onclick: signOut(false) }, strings('menu.signOut')),
        h('button', { type: 'button', onclick: signOut(true) }, strings('menu.signOutEverywhere')),
    ];
    const more = h('details', { class: 'menu more' }, h('summary', {}, strings('menu.more')), h('div', {}, shown.slice(4).map(link), shown.length > 4 && h('hr'), own()));
    const who = h('details', { class: 'menu who' }, h('summary', {}, me.person ?? me.link?.person ?? strings('menu.operator'), ' ▾'), h('div', {}, own()));
    top.replaceChildren(h('a', { class: 'brand', href: '/now' }, 'Whereabouts'), h('nav', { 'aria-label': strings('menu.views') }, shown.map(link), more), who);
    top.classList.add('live');
    document.addEventListener('click', event => {
        for (const menu of top.querySelectorAll('details[open]')) if (!menu.contains(event.target) || event.target.closest('.menu > div')) menu.open = false;
    });
    document.addEventListener('keydown', event => {
        if (event.key === 'Escape') for (const menu of top.querySelectorAll('details[open]')) { menu.open = false; menu.firstChild.focus(); }
        if (event.key === '?' && !letterKeysAreOff() && !event.target.closest('input, select, textarea, dialog')) help();
    });
}

/** A view that could not be shown says why, and offers to try again. */
function failed(error, context, retry = again) {
    const absent = error.status === 404;
    context.main.replaceChildren(h('div', { class: 'page' }, empty(strings(absent ? 'problem.absent' : 'problem.title'), absent ? '' : sentence(error), h('button', { type: 'button', onclick: retry }, strings('problem.again')))));
}

/** A view that changes something, for a session that may only read. */
function readOnly(context, title) {
    context.main.replaceChildren(h('div', { class: 'page' }, h('h1', { tabindex: -1 }, strings(title)), empty(strings('problem.readOnly'), strings('problem.readOnlyText'))));
}

/** Takes the zone and the start of the day from the address, then from the last choice. */
function readTime() {
    const query = new URLSearchParams(location.search);
    const wanted = query.get('tz') ?? localStorage.getItem('tz');
    time.mode = ['place', 'mine', 'utc'].includes(wanted) ? wanted : 'place';
    const minutes = Number(query.get('start') ?? localStorage.getItem('start'));
    time.start = Number.isInteger(minutes) && minutes >= 0 && minutes < 1440 ? minutes : 0;
}

async function boot() {
    const theme = localStorage.getItem('theme');
    if (theme) root.dataset.theme = theme;
    if (location.pathname === '/link' || main.querySelector('#open-link')) return (await import('./view-link.js')).show({ main });
    // The view's parts are loaded while the request for the session is under way.
    const words = load(root.lang);
    if (!main.querySelector('form')) warm();
    let me;
    try {
        // The page has the answer already, but for the frame that the service worker makes.
        me = root.dataset.session ? JSON.parse(root.dataset.session) : await api.get('/session');
        // 204: there is no session. A link signs in also in place of somebody else.
        if (!me.handle && !me.operator || main.querySelector('#sign-in')) throw Object.assign(new Error(), { status: 401 });
    } catch (error) {
        await words;
        if (error.status === 401) return (await import('./view-signin.js')).show({ main, strings, api, forget });
        return failed(error, { main }, () => location.reload());
    }
    await words;
    begin(me.person ?? me.link?.person ?? me.handle ?? '', () => { forget().finally(() => location.reload()); });
    header(me);
    await start(() => {
        readTime();
        return { main, me, person: me.person ?? me.link?.person, api, live, strings, time, announce, failed, readOnly };
    });
    if (navigator.serviceWorker && me.assets) navigator.serviceWorker.register('/offline.js').catch(() => {});
}
export { navigate };
boot();
