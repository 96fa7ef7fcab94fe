// The bar of the day: what was when, with a brush that narrows list and map to a part of it.
import { h, s } from './kit.js';
import { strings } from './strings.js';
import { time } from './time.js';

const STEP = 900;

/**
 * A bar for `range` in `zone`. `span` is `[from, to]` or nothing; `changed(span)` is called when it has been brushed, with
 * nothing for the whole day.
 */
export function dayBar({ list, range, zone, now, span, changed }) {
    const length = range.to - range.from;
    const part = seconds => Math.max(0, Math.min(100, (seconds - range.from) / length * 100));
    const svg = s('svg', { class: 'strip', preserveAspectRatio: 'none', viewBox: '0 0 100 20', 'aria-hidden': 'true' });
    for (const entry of list) {
        const [x, end] = [part(entry.from), part(entry.to ?? Math.min(now, range.to))];
        if (entry.kind === 'visit' || entry.kind === 'trip') svg.append(s('rect', { class: entry.kind, x, y: entry.kind === 'trip' ? 6 : 0, width: Math.max(0.15, end - x), height: entry.kind === 'trip' ? 8 : 20 }));
        else if (entry.kind === 'gap') svg.append(s('line', { class: 'gap', x1: x, x2: end, y1: 10, y2: 10 }));
    }
    for (const entry of list) if (entry.kind === 'ask') svg.append(s('rect', { class: 'ask', x: Math.max(0, part(entry.from) - 0.15), y: 0, width: 0.3, height: 20 }));
    const dim = [s('rect', { class: 'dim', y: 0, height: 20, x: 0 }), s('rect', { class: 'dim', y: 0, height: 20 })];
    svg.append(...dim);
    const hours = h('div', { class: 'hours', 'aria-hidden': 'true' });
    for (let share = 0; share <= 8; share++) hours.append(h('span', {}, time.clock(range.from + Math.round(length / 8 * share / 900) * 900, zone)));
    const handle = name => h('span', { class: 'handle', role: 'slider', tabindex: 0, 'aria-label': strings(name), 'aria-valuemin': 0, 'aria-valuemax': Math.round(length / 60) });
    const handles = [handle('day.spanFrom'), handle('day.spanTo')];
    const all = h('button', { type: 'button', class: 'quiet small', onclick: () => set([range.from, range.to], true) }, strings('day.wholeDay'));
    const strip = h('div', { class: 'brush' }, svg, handles);
    let chosen = span ?? [range.from, range.to];

    function set(next, tell) {
        chosen = [Math.max(range.from, Math.min(...next)), Math.min(range.to, Math.max(...next))];
        dim[0].setAttribute('width', part(chosen[0]));
        dim[1].setAttribute('x', part(chosen[1]));
        dim[1].setAttribute('width', 100 - part(chosen[1]));
        chosen.forEach((seconds, index) => {
            handles[index].style.insetInlineStart = `${part(seconds)}%`;
            handles[index].setAttribute('aria-valuenow', Math.round((seconds - range.from) / 60));
            handles[index].setAttribute('aria-valuetext', seconds === range.to ? strings('day.end') : time.clock(seconds, zone));
        });
        const whole = chosen[0] <= range.from && chosen[1] >= range.to;
        all.hidden = whole;
        if (tell) changed(whole ? undefined : chosen);
    }
    const at = event => {
        const box = strip.getBoundingClientRect();
        return range.from + Math.round(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)) * length / 300) * 300;
    };
    strip.addEventListener('pointerdown', event => {
        if (event.button) return;
        const grabbed = handles.indexOf(event.target);
        const fixed = grabbed < 0 ? at(event) : chosen[1 - grabbed];
        strip.setPointerCapture(event.pointerId);
        const move = one => set([fixed, at(one)]);
        const up = one => {
            strip.removeEventListener('pointermove', move);
            // A click chooses nothing: it ends the brush.
            if (Math.abs(at(one) - fixed) < STEP / 2) set([range.from, range.to], true); else set([fixed, at(one)], true);
        };
        strip.addEventListener('pointermove', move);
        strip.addEventListener('pointerup', up, { once: true });
        strip.addEventListener('pointercancel', up, { once: true });
        event.preventDefault();
    });
    handles.forEach((one, index) => one.addEventListener('keydown', event => {
        const by = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP, PageDown: -4 * STEP, PageUp: 4 * STEP, Home: -length, End: length }[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        const next = [...chosen];
        next[index] = index ? Math.max(chosen[0] + STEP, chosen[1] + by) : Math.min(chosen[1] - STEP, chosen[0] + by);
        set(next, true);
    }));
    set(chosen);
    return h('div', { class: 'bar' }, strip, hours, all);
}
