// Notices: messages about oneself by mail, ntfy or Home Assistant; listed, added, confirmed and removed.
import { api } from './api.js';
import { action, ask, confirm, h, pill, table } from './kit.js';
import { moment, put, word } from './view-parts.js';
import { strings } from './strings.js';
import { time } from './time.js';

/** What a notice can be about, in groups of the topics of the interface. */
const groups = {
    asked: ['query', 'consent', 'disclosure', 'read', 'finding'], moved: ['visit', 'crossing'], silent: ['silence'],
    all: ['query', 'consent', 'push', 'end', 'disclosure', 'read', 'change', 'finding', 'visit', 'crossing'],
};
const silentSeconds = 4 * 3600;

const about = item => {
    const same = Object.keys(groups).find(name => groups[name].length === item.topics.length && groups[name].every(one => item.topics.includes(one)));
    const words = item.kind === 'homeAssistant' ? [strings('notices.location')] : same ? [strings(`notices.about.${same}`)] : item.topics.map(one => word('notices.topics', one));
    return [words.join(', '), item.silentAfter && strings('notices.after', { time: time.duration(item.silentAfter) })].filter(Boolean).join(' · ');
};
const target = item => item.kind === 'homeAssistant' ? strings('notices.broker') : (item.url ?? strings('parts.erased')).replace(/^mailto:/, '');

const read = (context, who, number) => api.all(api.person(who, 'webhooks'), { 'at-least': number }, { signal: context.signal, ...context.person ? {} : { purpose: strings('parts.purpose') } });

/** The state, the outcome of the last try, and the time and outcome of the last test. */
const state = one => h('div', { data: { state: one.id } }, pill(word('notices.states', one.state), { active: 'ok', unconfirmed: 'wait', retrying: 'wait' }[one.state] ?? 'no'),
    one.state === 'retrying' && h('span', { class: 'mut small' }, ` ${one.status ?? ''} ${one.reason ?? ''}`),
    one.testOutcome && h('div', { class: 'mut small' }, `${word('notices.tests', one.testOutcome)}, `, moment(one.testedAt)));

/** The list, and the buttons below it. `reload(number)` reads it again, as of that event. */
export async function notices(context, who, reload, number) {
    const items = await read(context, who, number);
    const box = h('div');
    put(box, [
        h('p', { class: 'mut' }, strings('notices.lead')),
        items.length > 0 && table({
            caption: strings('notices.caption', { count: items.length }), rows: items, columns: [
                { label: strings('notices.way'), cell: one => h('b', {}, word('notices.kinds', one.kind)) },
                { label: strings('notices.target'), cell: target },
                { label: strings('notices.what'), cell: about },
                { label: strings('notices.state'), cell: state },
                { label: strings('notices.change'), cell: one => h('div', { class: 'row' }, one.state === 'unconfirmed' && code(context, who, one, reload), ['active', 'retrying'].includes(one.state) && test(context, who, one, box), remove(context, who, one, reload)) },
            ],
        }),
        // Only the person may have the service tell others about themself.
        context.person && h('p', { class: 'row' }, ['email', 'ntfy', 'homeAssistant'].map(kind => h('button', { type: 'button', onclick: () => add(context, who, kind, reload) }, strings(`notices.add.${kind}`)))),
    ]);
    return box;
}

const add = (context, who, kind, reload) => ask({
    title: strings(`notices.add.${kind}`), lead: strings(`notices.means.${kind}`), label: strings('notices.begin'),
    fields: [
        kind === 'email' && { name: 'address', type: 'email', label: strings('notices.address'), required: true },
        kind === 'ntfy' && { name: 'url', type: 'url', label: strings('notices.topic'), placeholder: 'https://ntfy.example/anna', required: true },
        kind === 'ntfy' && { name: 'token', type: 'password', label: strings('notices.token') },
        kind !== 'homeAssistant' && { name: 'group', type: 'select', label: strings('notices.what'), options: Object.keys(groups).map(name => [name, strings(`notices.about.${name}`)]) },
    ].filter(Boolean),
    submit: async ({ group, ...target }) => {
        const { number } = await api.post(api.person(who, 'webhooks'), {
            kind, ...target, ...kind !== 'homeAssistant' && { language: strings.language, zone: time.zone() }, ...group && { topics: groups[group] }, ...group === 'silent' && { silentAfter: silentSeconds },
        });
        await reload(number);
        context.announce(strings(kind === 'email' ? 'notices.mailed' : 'notices.begun'));
    },
});

const path = (who, one, more = '') => api.person(who, `webhooks/${encodeURIComponent(one.id)}${more}`);

const code = (context, who, one, reload) => h('button', {
    type: 'button', class: 'primary', 'aria-label': strings('notices.codeOf', { target: target(one) }),
    onclick: () => ask({
        title: strings('notices.code'), lead: strings('notices.codeLead', { target: target(one) }), label: strings('notices.confirm'),
        fields: [{ name: 'code', label: strings('notices.codeField'), required: true, placeholder: 'H7QKM-29XTD', autocapitalize: 'characters' }],
        submit: async values => {
            const { number } = await api.post(path(who, one, '/confirmation'), values);
            await reload(number);
            context.announce(strings('notices.begun'));
        },
    }),
}, strings('notices.code'));

/** The seconds before each look whether a test has arrived. Each look is a read in the audit. */
const looks = [0.5, 1, 2, 4];

const test = (context, who, one, box) => action(strings('notices.test'), async () => {
    const { number } = await api.post(path(who, one, '/test'));
    let outcome = 'waiting';
    for (const seconds of looks) {
        await new Promise(done => setTimeout(done, seconds * 1000));
        const now = (await read(context, who, number)).find(item => item.id === one.id);
        if (!now) return;
        [...box.querySelectorAll('[data-state]')].find(cell => cell.dataset.state === one.id)?.replaceWith(state(now));
        outcome = now.testOutcome;
        if (outcome !== 'waiting') break;
    }
    context.announce(word('notices.tests', outcome));
}, '', { 'aria-label': strings('notices.testOf', { target: target(one) }) });

const remove = (context, who, one, reload) => h('button', {
    type: 'button', 'aria-label': strings('notices.removeOf', { target: target(one) }),
    onclick: () => confirm(strings('notices.removeOf', { target: target(one) }), strings('notices.removeLead'), strings('notices.remove'), async () => {
        const { number } = await api.delete(path(who, one));
        await reload(number);
        context.announce(strings('notices.removed'));
    }),
}, strings('notices.remove'));
