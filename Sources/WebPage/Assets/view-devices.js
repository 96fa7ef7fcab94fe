// Devices: when each phone was last heard, its battery and app, which reports were of no use and why; setting one up, removing one.
import { api } from './api.js';
import { action, ask, confirm, dialog, empty, facts, h, note, page, pill, table } from './kit.js';
import { setupCard } from './setup.js';
import { follow, load, moment, more, people, purpose, put, subject, word, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { time } from './time.js';

export const title = 'devices.title';

const day = 86_400;

export async function show(context) {
    const who = subject(context);
    const content = h('div');
    page(context, { title: strings('devices.heading'), lead: strings('devices.lead') }, content);
    if (!who) return load(content, () => people('devices'));
    const read = number => load(content, () => cards(context, who, read, number));
    if (context.person) follow(context, ['rejected'], read);
    return read();
}

async function cards(context, who, read, number) {
    const items = await api.all(api.person(who, 'devices'), { 'at-least': number }, { signal: context.signal, ...purpose(context) });
    const add = h('p', {}, h('button', { type: 'button', class: items.length ? '' : 'primary', onclick: () => addDevice(context, who, read) }, strings('devices.add')));
    if (!items.length) return [empty(strings('devices.none'), strings('devices.noneText')), h('div', { class: 'centered' }, add)];
    return [...items.map(one => card(context, who, one, read)), add, zoneNote()];
}

/** One word for how the phone does, by what matters most. */
function state(one) {
    if (!one.lastContact && !one.lastFix) return pill(strings('devices.never'), 'wait');
    if (one.authorization && one.authorization.status !== 'authorizedAlways') return pill(strings('devices.notAlways'), 'no');
    if (time.now() - Math.max(one.lastContact ?? 0, one.lastFix ?? 0) > day) return pill(strings('devices.silent'), 'no');
    return pill(strings('devices.reports'), 'ok');
}

function card(context, who, one, read) {
    const last = seconds => seconds ? [time.age(seconds), ' · ', moment(seconds)] : strings('devices.notYet');
    const rejected = one.rejected ?? [];
    return h('section', { class: 'card', 'aria-label': one.handle },
        h('div', { class: 'row' }, h('h2', { class: 'flat' }, one.handle), state(one)),
        facts([
            [strings('devices.lastContact'), last(one.lastContact)],
            [strings('devices.lastFix'), last(one.lastFix)],
            [strings('devices.battery'), one.battery !== undefined && h('span', { class: 'row' }, h('meter', { class: 'gauge', min: 0, max: 1, low: 0.2, value: one.battery, 'aria-label': strings('devices.battery') }), strings.percent(one.battery))],
            [strings('devices.app'), one.app && [one.app.userAgent ?? '', one.app.userAgent && h('br'), h('code', { class: 'mut' }, one.app.address)]],
            [strings('devices.authorization'), one.authorization && [word('devices.status', one.authorization.status), one.authorization.accuracy === 'reduced' && `, ${strings('devices.reduced')}`]],
            [strings('devices.sealing'), one.sealed && strings('devices.sealed')],
            [strings('devices.woken'), strings(one.pushToken ? 'devices.canBeWoken' : 'devices.cannotBeWoken')],
            [strings('devices.wrong'), one.wrongPasswords && h('span', { class: 'no' }, strings('devices.wrongCount', { count: one.wrongPasswords.count }), ' · ', moment(one.wrongPasswords.newest))],
        ]),
        one.sealed && note(false, strings('devices.sealedText')),
        one.authorization && one.authorization.status !== 'authorizedAlways' && note(true, strings('devices.notAlwaysText')),
        rejected.length > 0 && more(strings('devices.rejected', { count: rejected.length }), () => table({
            caption: strings('devices.rejectedCaption'), rows: rejected, columns: [
                { label: strings('audit.when'), cell: report => moment(report.at) },
                { label: strings('devices.reason'), cell: report => h('div', {}, h('b', {}, word('devices.reasons', report.reason)), h('br'), h('span', { class: 'mut' }, report.detail)) },
                { label: strings('devices.report'), cell: report => report.text && h('code', {}, report.text.length > 300 ? `${report.text.slice(0, 300)}…` : report.text) },
            ],
        })),
        h('div', { class: 'row' },
            h('button', { type: 'button', onclick: () => newKey(who, one.handle) }, strings('devices.newKey')),
            context.me.operator && one.pushToken && action(strings('devices.pushTest'), button => pushTest(one.handle, button)),
            h('button', {
                type: 'button', class: 'danger', 'aria-label': strings('devices.removeOf', { name: one.handle }),
                onclick: () => confirm(strings('devices.removeOf', { name: one.handle }), strings('devices.removeLead'), strings('devices.remove'), async () => {
                    const { number } = await api.delete(`/v1/devices/${encodeURIComponent(one.handle)}`);
                    await read(number);
                }),
            }, strings('devices.remove'))));
}

// Setting up

async function addDevice(context, who, read) {
    const made = await ask({
        title: strings('devices.add'), lead: strings('devices.addLead'), label: strings('devices.add'),
        fields: [{ name: 'name', label: strings('devices.name'), required: true, value: 'phone', pattern: '[a-z0-9][a-z0-9_\\-]*', autocapitalize: 'none', spellcheck: 'false', hint: strings('devices.nameHint') }],
        // A person's own devices carry the person's handle; the operator follows the same form.
        submit: ({ name }) => api.post(api.person(who, 'devices'), { handle: `${who}.${name}` }),
    });
    if (!made) return;
    await setUp(who, made.user, made.password);
    await read(made.number);
}

const newKey = (who, device) => ask({
    title: strings('devices.newKey'), lead: strings('devices.newKeyLead'), label: strings('devices.newKey'),
    submit: () => api.post(`/v1/devices/${encodeURIComponent(device)}/tokens`, {}),
}).then(made => made && setUp(who, device, made.token));

const setUp = async (person, user, password) => dialog({ title: strings('devices.setUp'), body: await setupCard({ user, password }, person) });

async function pushTest(handle, button) {
    const { status, reason, attempts } = await api.post(`/v1/devices/${encodeURIComponent(handle)}/push-tests`);
    const took = attempts.at(-1)?.durationMilliseconds;
    button.after(h('span', { role: 'status' }, pill([status ? `APNs ${status}` : strings('devices.noAnswer'), reason, took !== undefined && `${took} ms`].filter(Boolean).join(' · '), status === 200 ? 'ok' : 'no')));
}
