// Signing in: the server's form works without script; this only says what is wrong without leaving the page. The token goes
// into one request and is kept nowhere.
import { busy, field, h } from './kit.js';

export const title = 'signin.title';

export async function show({ main, strings, api, forget }) {
    document.documentElement.dataset.ready = 'signin';
    let form = main.querySelector('form[action="/session"]');
    // The page of an invitation, or the server's own words: they stay as they are.
    if (!form && main.querySelector('form')) return;
    if (!form) {
        form = h('form', { id: 'sign-in', class: 'card', method: 'post', action: '/session' },
            field({ name: 'token', label: strings('signin.token'), type: 'password', required: true, autocomplete: 'current-password', hint: strings('signin.hint') }),
            h('button', { class: 'primary' }, strings('signin.go')));
        main.replaceChildren(h('div', { class: 'page narrow' }, h('h1', { tabindex: -1 }, strings('signin.title')), h('p', { class: 'lead' }, strings('signin.lead')), form));
    }
    document.title = `${strings('signin.title')} · Whereabouts`;
    form.addEventListener('submit', event => {
        event.preventDefault();
        const given = Object.fromEntries(new FormData(form));
        busy(form.querySelector('button:not([type=button])'), async () => {
            const { next } = await api.post('/session', { ...given, next: given.next || location.pathname + location.search.replace(/[?&]code=[^&]*/, '') });
            form.reset();
            // Somebody else may have been signed in.
            if (given.code) await forget();
            location.assign(next ?? '/');
        }, form);
    });
}
