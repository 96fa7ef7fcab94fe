// Building blocks of the views: elements, tables, forms, dialogs, and the states that are no content.
import { strings } from './strings.js';

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, props, children) {
    for (const [name, value] of Object.entries(props ?? {})) {
        if (value === undefined || value === null || value === false) continue;
        if (name.startsWith('on') && typeof value === 'function') element.addEventListener(name.slice(2), value);
        // The content security policy refuses style attributes; properties of `style` are allowed.
        else if (name === 'style') for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
        else if (name === 'data') Object.assign(element.dataset, value);
        else if (name === 'value' && 'value' in element) element.value = value;
        else element.setAttribute(name, value === true ? '' : value);
    }
    element.append(...children.flat(Infinity).filter(one => one !== undefined && one !== null && one !== false && one !== ''));
    return element;
}

/** An HTML element: `h('button', {class: 'primary', onclick: save}, 'Save')`. Text is never parsed as markup. */
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);

/** An SVG element, in the same way. */
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/** A view of one column: heading (which takes the focus), lead and content, in place of what `main` held. */
export function page(context, { title, lead, narrow }, ...children) {
    const heading = h('h1', { tabindex: -1 }, title);
    context.main.replaceChildren(h('div', { class: narrow ? 'page narrow' : 'page' }, heading, lead && h('p', { class: 'lead' }, lead), ...children));
    return heading;
}

/** A state as a word with a border. `kind` is `ok`, `no`, `wait` or nothing. */
export const pill = (text, kind = '') => h('span', { class: `pill ${kind}` }, text);

/** The shape of an entry: `visit`, `trip`, `gap`, `cross`, `ask`, `refused`, `change`. The words are beside it. */
export const mark = kind => h('span', { class: `mark ${kind}`, 'aria-hidden': 'true' });

/** Says that there is nothing, and what to do about it: `empty('No device yet', 'Set one up …', h('a', …))`. */
export const empty = (title, text, ...actions) => h('div', { class: 'empty' }, h('b', {}, title), text, ...actions.map(one => [h('br'), one]));

/** A note of one line. `bad` for one that needs attention. */
export const note = (bad, ...children) => h('div', { class: bad ? 'note bad' : 'note', role: bad ? 'alert' : undefined }, ...children);

/** Pairs of a name and a value; pairs without a value are left out. */
export const facts = pairs => h('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
    .map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));

/** What went wrong, as a sentence: the server's `detail`, or what a lost connection means. */
export function sentence(error) {
    if (error?.name === 'AbortError') return '';
    if (error?.status === 429 && error.retryAfter) return strings('problem.tooOften', { seconds: error.retryAfter });
    return error?.detail ?? (error instanceof TypeError ? strings('problem.offline') : String(error?.message ?? error));
}

/** The sentence as an element that is read out at once. */
export const problem = error => h('p', { class: 'problem', role: 'alert' }, sentence(error));

/**
 * A table. `columns`: `[{label, cell: row => node|text, number: true?}]`. On a phone each row is a card. `name` gives what a
 * row is called in the interface, for example the number of an entry.
 */
export function table({ caption, columns, rows, current, name }) {
    const row = item => h('tr', { role: 'row', data: name ? { name: name(item) } : {}, 'aria-current': current?.(item) ? 'true' : undefined },
        columns.map(column => h('td', { role: 'cell', class: column.number && 'n', 'data-label': column.label }, inCell(column.cell(item)))));
    const body = h('tbody', { role: 'rowgroup' }, rows.map(row));
    const element = h('table', { class: 'table stack', role: 'table' }, caption && h('caption', {}, caption),
        h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map(column => h('th', { role: 'columnheader', scope: 'col', class: column.number && 'n' }, column.label)))), body);
    /** Adds further rows, for example those of the next page. */
    element.add = more => body.append(...more.map(row));
    return element;
}
const inCell = content => Array.isArray(content) ? h('div', {}, ...content) : content instanceof Node ? content : h('span', {}, content ?? '');

/** Runs `work` while the button is out of use; a failure is shown behind it (or in `place`). */
export async function busy(button, work, place) {
    const before = place ?? button.parentElement;
    before?.querySelector(':scope > .problem')?.remove();
    button.disabled = true;
    button.setAttribute('aria-busy', 'true');
    try { return await work(); } catch (error) { before?.append(problem(error)); } finally {
        button.disabled = false;
        button.removeAttribute('aria-busy');
    }
}

/** A button that does something asynchronous: `action('End', () => api.delete(…), 'danger')`. */
export function action(label, work, kind = '', props = {}) {
    const button = h('button', { type: 'button', class: kind, ...props }, label);
    button.addEventListener('click', () => busy(button, work));
    return button;
}

/**
 * A field with its label: `{name, label, type, value, options: [[value, label]], hint, required, …}`. Types are those of
 * `input`, and `select`, `textarea`, `checkbox`. Other members become attributes.
 */
export function field({ name, label, type = 'text', value, options, hint, ...rest }) {
    if (type === 'checkbox') return h('label', { class: 'check' }, h('input', { type, name, checked: value === true, ...rest }), h('span', {}, label, hint && h('span', { class: 'hint mut' }, ' ', hint)));
    const input = type === 'select'
        ? h('select', { name, ...rest }, options.map(([one, text]) => h('option', { value: one, selected: one === value }, text)))
        : h(type === 'textarea' ? 'textarea' : 'input', { name, type: type === 'textarea' ? undefined : type, value, autocomplete: 'off', ...rest });
    return h('label', { class: 'field' }, h('span', {}, label), input, hint && h('span', { class: 'hint' }, hint));
}

/** The values of a form by name: texts, `true|false` for checkboxes, numbers for number fields, absent when empty. */
export function values(form) {
    const result = {};
    for (const input of form.elements) {
        if (!input.name || input.disabled) continue;
        if (input.type === 'checkbox') result[input.name] = input.checked;
        else if (input.type === 'radio') { if (input.checked) result[input.name] = input.value; }
        else if (input.value !== '') result[input.name] = input.type === 'number' ? input.valueAsNumber : input.value.trim();
    }
    return result;
}

/**
 * A dialog. `body` is content or `close => content`; `actions` are elements or `close => elements`. The promise ends with
 * what `close(value)` was given, or `undefined` after Escape. The focus returns to where it was.
 */
export function dialog({ title, body, actions }) {
    return new Promise(done => {
        let result;
        const box = h('dialog', { 'aria-label': title });
        const close = value => { result = value; box.close(); };
        const make = part => typeof part === 'function' ? part(close) : part;
        box.append(h('h2', { style: { 'margin-top': '0' } }, title), ...[make(body)].flat(Infinity).filter(Boolean),
            h('div', { class: 'actions' }, make(actions) ?? h('button', { type: 'button', onclick: () => close() }, strings('kit.close'))));
        box.addEventListener('close', () => { box.remove(); done(result); });
        document.body.append(box);
        box.showModal();
    });
}

/**
 * A dialog with a form. `fields` are those of `field`, or elements. `submit(values)` may throw: the problem is shown and
 * the dialog stays. The promise ends with its result, or `undefined` if the form was left.
 */
export function ask({ title, lead, fields = [], label, danger, submit }) {
    return dialog({
        title,
        body: close => {
            const go = h('button', { class: danger ? 'danger' : 'primary' }, label ?? strings('kit.save'));
            const form = h('form', {
                onsubmit: event => {
                    event.preventDefault();
                    busy(go, async () => { close((await submit(values(form))) ?? true); }, form);
                },
            }, lead && h('p', {}, lead), fields.map(one => one instanceof Node ? one : field(one)),
            h('div', { class: 'actions' }, h('button', { type: 'button', onclick: () => close() }, strings('kit.cancel')), go));
            return form;
        },
        actions: [],
    });
}

/** Asks before something that cannot be undone; `submit` does it. */
export const confirm = (title, lead, label, submit) => ask({ title, lead, label, danger: true, submit });

/** A text that is shown once, with a button that copies it. */
export function secret(text) {
    const button = h('button', {
        type: 'button',
        onclick: async () => {
            try { await navigator.clipboard.writeText(text); } catch {
                const range = document.createRange();
                range.selectNodeContents(code);
                getSelection().removeAllRanges();
                getSelection().addRange(range);
                document.execCommand('copy');
            }
            button.textContent = strings('kit.copied');
        },
    }, strings('kit.copy'));
    const code = h('code', {}, text);
    return h('div', { class: 'secret' }, code, button);
}

/** A QR code of `text` as SVG, made here: a secret never goes into an address. */
export async function qr(text, label) {
    const { encode } = await import('./qr.js');
    const rows = encode(text);
    const size = rows.length + 8;
    const path = rows.map((row, y) => row.map((dark, x) => dark ? `M${x + 4} ${y + 4}h1v1h-1z` : '').join('')).join('');
    return s('svg', { class: 'qr', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label, 'shape-rendering': 'crispEdges' }, s('path', { d: path, fill: 'currentColor' }));
}

/** Buttons of which one is chosen: `choice('Zone', [['place', 'Place'], …], 'place', value => …)`. */
export function choice(label, options, value, changed) {
    const group = h('div', { class: 'choice', role: 'group', 'aria-label': label });
    for (const [one, text] of options) {
        group.append(h('button', {
            type: 'button', 'aria-pressed': String(one === value),
            onclick: event => {
                for (const button of group.children) button.setAttribute('aria-pressed', String(button === event.currentTarget));
                changed(one);
            },
        }, text));
    }
    return group;
}

/**
 * Keys of a view: `keys(context, {ArrowLeft: ['day.before', fn], j: […]})`. They do nothing while a field or a dialog has
 * the focus; those of one letter can be switched off (WCAG 2.1.4). `?` lists them.
 */
export function keys(context, bindings) {
    context.keys.push(...Object.entries(bindings).map(([key, [name]]) => [key, name]));
    const pressed = event => {
        const binding = bindings[event.key];
        if (!binding || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
        if (event.target.closest?.('input, select, textarea, dialog, .leaflet-container')) return;
        if (event.key.length === 1 && letterKeysAreOff()) return;
        if (event.key === 'Enter' && event.target.closest?.('a, button, summary')) return;
        event.preventDefault();
        binding[1](event);
    };
    document.addEventListener('keydown', pressed);
    context.onLeave(() => document.removeEventListener('keydown', pressed));
}
export const letterKeysAreOff = () => localStorage.getItem('keys') === 'off';
