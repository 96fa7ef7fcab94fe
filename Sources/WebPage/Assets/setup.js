// How a phone's app is set up: a link and a QR code for the apps that have one, the same lines by hand for all. They hold
// the reporting key, so they are made here and never become an address of the service.
import { choice, facts, h, qr, secret } from './kit.js';
import { strings } from './strings.js';

const base64 = text => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

/** The link that sets an app up, as `whereabouts device add` prints it (AppSetup.swift). */
export function setupLink(app, { user, password }, person, server = location.origin) {
    if (app === 'overland') return `overland://setup?url=${encodeURIComponent(`${server}/overland`)}&token=${encodeURIComponent(password)}&device_id=${encodeURIComponent(user)}`;
    if (app === 'traccar') return `${server}/osmand?id=${encodeURIComponent(password)}`;
    const configuration = { _type: 'configuration', mode: 3, url: `${server}/owntracks`, auth: true, username: user, password, deviceId: user, tid: person.slice(0, 2), cmd: true, allowRemoteLocation: true };
    return `owntracks:///config?inline=${encodeURIComponent(base64(JSON.stringify(configuration)))}`;
}

/** Whether only this computer can reach the address of the page. */
export const onlyHere = () => /^(localhost|127\.|\[::1\])/.test(location.hostname);

/** A card with the set-up of a device that has just been made: its key is shown this once. */
export async function setupCard(device, person) {
    const place = h('div', { 'aria-live': 'polite' });
    const show = async app => {
        const link = setupLink(app, device, person);
        const code = await qr(link, strings('setup.code', { app: strings(`setup.${app}`) }));
        place.replaceChildren(h('p', {}, strings(`setup.${app}Lead`)), code, h('p', {}, h('a', { href: link }, strings('setup.open'))),
            h('details', {}, h('summary', {}, strings('setup.byHand')), facts([
                [strings('setup.address'), h('code', {}, `${location.origin}/${app === 'traccar' ? 'osmand' : app}`)],
                [strings('setup.user'), h('code', {}, device.user)],
            ]), secret(device.password)));
    };
    await show('owntracks');
    return h('div', { class: 'card' }, onlyHere() && h('p', { class: 'problem' }, strings('setup.onlyHere', { address: location.origin })),
        choice(strings('setup.app'), ['owntracks', 'overland', 'traccar'].map(app => [app, strings(`setup.${app}`)]), 'owntracks', show), place,
        h('p', { class: 'mut small' }, strings('setup.once')));
}
