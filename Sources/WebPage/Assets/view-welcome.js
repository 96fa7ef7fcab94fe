// The first minutes: add yourself, set up a phone, see the first fix.
import { action, busy, field, h, page, values } from './kit.js';
import { onlyHere, setupCard } from './setup.js';

export const title = 'welcome.title';

export async function show(context) {
    const { api, strings, me, person, signal, time } = context;
    const steps = (done, now) => h('ol', { class: 'path', 'aria-label': strings('welcome.steps') }, ['self', 'phone', 'fix'].map((name, index) =>
        h('li', { class: `step ${index < done ? '' : index === done ? 'wait' : 'todo'}`, 'aria-current': index === now ? 'step' : undefined }, h('b', {}, strings(`welcome.${name}`)), h('span', {}, strings(`welcome.${name}Lead`)))));

    if (!person) {
        const go = h('button', { class: 'primary' }, strings('welcome.add'));
        const form = h('form', {
            onsubmit: event => {
                event.preventDefault();
                busy(go, async () => {
                    const { handle } = values(form);
                    await api.post('/v1/people', { handle });
                    const { code } = await api.post('/v1/sign-in-codes', { person: handle });
                    await api.post('/session', { code, next: '/welcome' });
                    location.assign('/welcome');
                }, form);
            },
        }, field({ name: 'handle', label: strings('welcome.handle'), hint: strings('welcome.handleHint'), required: true, pattern: '[a-z0-9][a-z0-9._\\-]{0,62}', autocapitalize: 'none', spellcheck: 'false' }), go);
        page(context, { title: strings('welcome.title'), lead: strings('welcome.lead'), narrow: true }, steps(0, 0), h('div', { class: 'card' }, form),
            h('p', { class: 'mut small' }, strings('welcome.operatorStays')));
        return;
    }

    const devices = await api.all(api.mine('devices'), {}, { signal });
    const reported = devices.filter(device => device.lastFix);
    const place = h('div', {});
    const show = done => page(context, { title: strings('welcome.hello', { who: person }), lead: strings(done === 3 ? 'welcome.ready' : 'welcome.lead'), narrow: true }, steps(done, Math.min(done, 2)), place);
    if (reported.length) {
        show(3);
        place.append(h('div', { class: 'card row' }, h('p', {}, strings('welcome.lastFix', { device: reported[0].handle, age: time.age(reported[0].lastFix) })),
            h('a', { class: 'button primary', href: '/day' }, strings('now.today')), h('a', { class: 'button', href: '/sharing' }, strings('welcome.share'))));
        return;
    }
    show(devices.length ? 2 : 1);
    place.append(h('div', { class: 'card' }, h('p', {}, strings(devices.length ? 'welcome.another' : 'welcome.phoneWhat')),
        action(strings('welcome.makePhone'), async () => {
            const taken = new Set(devices.map(device => device.handle));
            let number = 1;
            let name = `${person}.phone`;
            while (taken.has(name)) name = `${person}.phone${++number}`;
            const device = await api.post(api.mine('devices'), { handle: name });
            place.replaceChildren(await setupCard(device, person), waiting);
            wait();
        }, 'primary')));
    const waiting = h('p', { class: 'note', role: 'status' }, strings('welcome.waiting'));
    if (devices.length) { place.append(waiting); wait(); }

    /** Looks for the first fix, every five seconds and then less often: each look is recorded. */
    function wait() {
        let pause = 5000;
        let timer = setTimeout(async function look() {
            const all = await api.all(api.mine('devices'), {}, { signal }).catch(() => []);
            const first = all.find(device => device.lastFix);
            if (first) {
                context.announce(strings('welcome.ready'));
                return context.navigate('/welcome', { replace: true });
            }
            const rejected = all.flatMap(device => device.rejected ?? [])[0];
            const contact = all.find(device => device.lastContact);
            if (rejected) waiting.textContent = strings('welcome.rejected', { detail: rejected.detail ?? rejected.reason });
            else if (contact) waiting.textContent = strings('welcome.contact', { age: time.age(contact.lastContact) });
            else if (pause > 20_000) waiting.textContent = strings(onlyHere() ? 'welcome.cannotReach' : 'welcome.stillNothing', { address: location.origin });
            pause = Math.min(30_000, pause * 1.3);
            timer = setTimeout(look, pause);
        }, pause);
        context.onLeave(() => clearTimeout(timer));
    }
}
