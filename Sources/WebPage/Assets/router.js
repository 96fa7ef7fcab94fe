// One address per view and state: links are followed here, and the browser's back and forward work.
import { strings } from './strings.js';

/** The first part of the path names the view; its module is `view-NAME.js`. */
export const views = ['now', 'day', 'audit', 'sharing', 'places', 'year', 'requests', 'regions', 'devices', 'operate', 'welcome'];

/** They change something, and read nothing without the scope `manage`. */
const managing = ['sharing', 'regions', 'devices', 'welcome'];

let make;
let current;
let turn = 0;

/** Starts following links. `context(signal)` makes what a view gets beside its own address. */
export function start(context) {
    make = context;
    document.addEventListener('click', event => {
        const link = event.target.closest?.('a[href]');
        if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
        if (link.target || link.hasAttribute('download') || link.origin !== location.origin || !nameOf(link.pathname)) return;
        if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
        event.preventDefault();
        navigate(link.href);
    });
    addEventListener('popstate', () => show(false));
    return show(false);
}

// An operator who is no person begins with adding one.
const home = () => make && !make().person ? 'welcome' : 'now';
const nameOf = path => {
    const name = path.split('/')[1] || home();
    return views.includes(name) ? name : undefined;
};

/** Begins to load the view of the address. */
export const warm = () => import(`./view-${nameOf(location.pathname) ?? home()}.js`).catch(() => {});

/** Goes to an address. `replace` keeps the history as it is. */
export function navigate(address, { replace = false } = {}) {
    history[replace ? 'replaceState' : 'pushState'](null, '', address);
    return show(true);
}

/** Ends what the current view began, and shows the one of the address. The focus goes to its heading after a step. */
async function show(moved) {
    const mine = ++turn;
    current?.leave();
    const name = nameOf(location.pathname) ?? home();
    const control = new AbortController();
    const leaving = [() => control.abort()];
    current = { leave: () => leaving.splice(0).forEach(run => run()) };
    const context = {
        ...make(),
        path: location.pathname.split('/').slice(2).map(decodeURIComponent),
        query: new URLSearchParams(location.search),
        signal: control.signal, keys: [], navigate,
        onLeave: run => { leaving.push(run); },
        /** Notes a filter or a selection in the address, without showing the view anew. */
        note(changes, { push = false } = {}) {
            for (const [key, value] of Object.entries(changes)) {
                if (value === undefined || value === null || value === '') context.query.delete(key);
                else context.query.set(key, value);
            }
            const text = context.query.toString();
            history[push ? 'pushState' : 'replaceState'](null, '', location.pathname + (text && `?${text}`));
        },
    };
    start.context = context;
    document.documentElement.removeAttribute('data-ready');
    for (const link of document.querySelectorAll('.top nav a')) {
        const here = nameOf(link.pathname) === name;
        if (here) link.setAttribute('aria-current', 'page'); else link.removeAttribute('aria-current');
    }
    context.main.setAttribute('aria-busy', 'true');
    context.main.className = `view-${name}`;
    try {
        const view = await import(`./view-${name}.js`);
        if (mine !== turn) return;
        document.title = `${strings(view.title)} · Whereabouts`;
        // Their reads would be refused, each on record.
        if (managing.includes(name) && !context.me.link && context.me.scopes?.includes('manage') === false) context.readOnly(context, view.title);
        else await view.show(context);
    } catch (error) {
        if (mine !== turn || error.name === 'AbortError') return;
        context.failed(error, context);
    }
    if (mine !== turn) return;
    context.main.removeAttribute('aria-busy');
    document.documentElement.dataset.ready = name;
    if (moved) {
        scrollTo(0, 0);
        (context.main.querySelector('h1') ?? context.main).focus({ preventScroll: true });
    }
}

/** Ends the current view and shows it again, for example after a change of the zone. */
export const again = () => show(false);
