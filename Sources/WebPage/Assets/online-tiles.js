// Map pictures of a server that the operator has configured. Nothing is asked of it before the reader agrees, on each browser.
import { h } from './kit.js';
import { strings } from './strings.js';

/** Shows a notice on the map, with a button that loads the tiles of `{address, origin, attribution, maxZoom}`, or stops it. */
export function offer(L, map, element, tiles) {
    const key = `online tiles ${document.documentElement.dataset.person}`;
    // A browser sends a cookie to every port of a host: the pictures of the page's own host would be asked for with the session.
    if (new URL(tiles.origin).hostname === location.hostname) return;
    const host = tiles.origin.replace(/^https?:\/\//, '');
    const notice = h('div', { class: 'online-tiles' });
    let layer;
    const update = () => {
        // Another server than the one that the reader agreed to is a new question.
        const wanted = localStorage.getItem(key) === tiles.origin;
        if (wanted && !layer) {
            layer = L.tileLayer(tiles.address, {
                maxZoom: 19, maxNativeZoom: tiles.maxZoom,
                // Leaflet takes markup here, and this is text.
                attribution: h('i', {}, tiles.attribution).innerHTML,
            }).addTo(map);
        } else if (!wanted) {
            layer?.remove();
            layer = undefined;
        }
        notice.replaceChildren(h('span', {}, strings(wanted ? 'map.online' : 'map.onlineOffer', { host })), h('button', {
            type: 'button',
            onclick: () => {
                if (wanted) localStorage.removeItem(key); else localStorage.setItem(key, tiles.origin);
                update();
                notice.querySelector('button').focus();
            },
        }, strings(wanted ? 'map.onlineStop' : 'map.onlineLoad')));
    };
    element.append(notice);
    update();
}
