// Operate: the log and its projections, a rebuild with the difference before it is taken into use, rejected reports, pushes,
// events, imports with undo and redo.
import { api } from './api.js';
import { action, ask, confirm, empty, facts, field, h, note, page, pill, table, values } from './kit.js';
import { load, moment, more, put, section, word, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { time } from './time.js';

export const title = 'operate.title';

const tabs = ['projections', 'reports', 'events', 'imports', 'people'];
const everySeconds = 5;

export async function show(context) {
    const tab = tabs.includes(context.path[0]) ? context.path[0] : tabs[0];
    const content = h('div');
    page(context, { title: strings('operate.heading'), lead: strings('operate.lead') }, content);
    if (!context.me.operator) return put(content, empty(strings('operate.notYours'), strings('operate.notYoursText')));
    const inner = h('div');
    put(content, [
        h('nav', { class: 'tabs', 'aria-label': strings('operate.parts') }, tabs.map(one => h('a', { href: `/operate/${one}`, 'aria-current': one === tab ? 'page' : undefined }, strings(`operate.tabs.${one}`)))),
        inner,
    ]);
    return { projections, reports, events, imports, people }[tab](context, inner);
}

// Projections

async function projections(context, inner) {
    const head = h('div');
    const list = h('div');
    const below = h('div');
    put(inner, [head, list, below]);
    let newest = [];
    const read = async () => {
        const { items } = await api.get('/v1/projections', {}, { signal: context.signal });
        newest = items;
        const readiness = await api.get('/readyz').catch(problem => problem);
        put(head, [
            readiness.status === 'ready' ? readiness.note && note(true, readiness.note) : note(true, readiness.detail ?? readiness.message),
            h('dl', { class: 'totals' }, [[strings('operate.head'), items[0] ? strings.number(items[0].head) : '—'], [strings('operate.lag'), strings('operate.behind', { count: Math.max(0, ...items.filter(one => one.role === 'active').map(lag)) })]].map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value)))),
        ]);
        return table({
            caption: strings('operate.caption'), rows: items, columns: [
                { label: strings('operate.projection'), cell: one => h('b', {}, `${one.name} v${one.version}`) },
                { label: strings('operate.role'), cell: one => h('div', {}, pill(word('operate.roles', one.role), one.role === 'active' ? 'ok' : ''), ' ', h('span', { class: 'mut small' }, strings('operate.generation', { n: one.generation }))) },
                { label: strings('operate.place'), cell: one => h('div', {}, `${strings.number(one.place)} / ${strings.number(one.head)}`, h('progress', { max: one.head, value: one.place, 'aria-label': strings('operate.placeOf', { name: one.name }) })) },
                { label: strings('operate.state'), cell: one => state(one) },
                { label: strings('operate.fingerprint'), cell: one => h('code', {}, one.fingerprint.slice(0, 12)) },
                { label: strings('operate.actions'), cell: one => one.role === 'active' ? rebuildButton(one) : one.role === 'previous' ? rollBack(one) : compareButton(one) },
            ],
        });
    };
    const again = () => load(list, read);
    const rebuildButton = one => h('button', {
        type: 'button', 'aria-label': strings('operate.rebuildOf', { name: one.name }),
        onclick: () => confirm(strings('operate.rebuildOf', { name: one.name }), strings('operate.rebuildLead'), strings('operate.rebuild'), async () => {
            await api.post(`/v1/projections/${one.name}/rebuild`);
            folded(one.name).then(isFolded => isFolded && difference(one.name)).catch(() => again());
        }),
    }, strings('operate.rebuild'));
    const compareButton = one => action(strings('operate.compare'), () => difference(one.name), '', { 'aria-label': `${strings('operate.compare')}: ${one.name}` });
    const rollBack = one => action(strings('operate.rollback'), async () => { await api.post(`/v1/projections/${one.name}/rollback`); await again(); }, '', { 'aria-label': `${strings('operate.rollback')}: ${one.name}` });

    /** Shows how far the new generation is until it is folded; false if the reader leaves before. */
    async function folded(name) {
        while (!context.signal.aborted) {
            await again();
            if (!newest.some(one => one.name === name && one.state === 'loading')) return true;
            await new Promise(done => setTimeout(done, 500));
        }
        return false;
    }

    /** The differing columns of a row, on one side. */
    const columns = (row, side) => h('div', {}, row.columns.filter(one => one[side] !== undefined).map(one => h('div', {}, one.name, ' ', h('code', {}, one[side]))));

    /** What would change, before it does. */
    async function difference(name) {
        await load(below, async () => {
            const diff = await api.get(`/v1/projections/${name}/diff`);
            const activate = action(strings('operate.activate'), async () => {
                await api.post(`/v1/projections/${name}/activate`);
                put(below, note(false, strings('operate.activated', { name })));
                await again();
            }, 'primary');
            const parts = [['added', '+'], ['removed', '−'], ['changed', '≠']];
            return section(strings('operate.difference', { name }), h('div', { class: 'card' },
                h('div', { class: 'row' }, diff.equal ? pill(strings('operate.equal'), 'ok') : parts.map(([key, sign]) => pill(`${sign} ${strings(`operate.rows.${key}`, { count: diff[key] })}`, diff[key] ? 'no' : '')), h('span', { class: 'end' }, activate)),
                diff.rows.length > 0 && table({
                    caption: strings('operate.rowsCaption', { count: diff.rows.length }), rows: diff.rows.slice(0, 200), columns: [
                        { label: strings('operate.change'), cell: row => `${Object.fromEntries(parts)[row.change]} ${strings(`operate.${row.change}`)}` },
                        { label: strings('operate.person'), cell: row => row.person ?? strings('operate.none') }, { label: strings('operate.row'), cell: row => h('div', {}, row.table, ' ', h('code', {}, row.key)) },
                        { label: strings('operate.old'), cell: row => columns(row, 'old') }, { label: strings('operate.new'), cell: row => columns(row, 'new') },
                    ],
                })));
        });
        below.scrollIntoView({ block: 'nearest' });
    }

    const result = h('div', { role: 'status' });
    inner.append(h('p', { class: 'row' },
        action(strings('operate.verify'), async () => put(result, verified(await api.get('/v1/verify')))),
        action(strings('operate.backup'), async () => put(result, note(false, strings('operate.backedUp', { count: (await api.post('/v1/backups')).events })))),
        action(strings('operate.prune'), async () => { await api.post('/v1/projections/prune'); await again(); })), result);
    const timer = setInterval(() => { if (!document.hidden && !list.contains(document.activeElement)) again(); }, everySeconds * 1000);
    context.onLeave(() => clearInterval(timer));
    return again();
}
const lag = one => one.head - one.place;

/** The state in words: a loading projection with its rate and the time left, a ready one with its lag and the last check. */
const state = one => {
    if (one.state === 'outdated') return pill(strings('operate.outdated'), 'wait');
    if (one.state === 'loading') return h('div', {}, pill(strings('operate.loading'), 'wait'), one.secondsLeft !== undefined && h('span', { class: 'mut small' }, ' ', strings('operate.pace', { rate: strings.number(one.eventsPerSecond, 0), seconds: strings.number(one.secondsLeft, 0) })));
    return h('div', {}, lag(one) ? strings('operate.behind', { count: lag(one) }) : strings('operate.current'), one.checkedAt !== undefined && h('span', { class: 'mut small' }, ' ', strings('operate.checked'), ' ', moment(one.checkedAt, true)));
};

const verified = answer => [
    note(!answer.ok, strings(answer.ok ? 'operate.verified' : 'operate.damaged', { count: answer.log.events })),
    facts([[strings('operate.root'), h('code', {}, answer.log.root)], [strings('operate.problem'), answer.log.problem ?? answer.fixes.problem], [strings('operate.erasedKeys'), strings.number(answer.keys.erased)], [strings('operate.lostKeys'), answer.keys.lost ? h('b', { class: 'no' }, strings.number(answer.keys.lost)) : '0'],
        ...answer.projections.map(one => [one.name, [one.rows, one.refold].map(state => ['ok', 'equal'].includes(state) ? strings(`operate.${state}`) : h('b', { class: 'no' }, state)).flatMap(part => [part, ' · ']).slice(0, -1)])]),
];

// Reports and pushes, from the metrics since the start

/** The metrics of one name: `[{labels, value}]` (Prometheus text format 0.0.4). */
const metrics = (text, name) => [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? ([-+.e\\d]+)$`, 'gm'))].map(([, labels, value]) =>
    ({ labels: Object.fromEntries([...(labels ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, key, label]) => [key, label])), value: Number(value) }));

function reports(context, inner) {
    return load(inner, async () => {
        const text = await api.text('/metrics', {}, { signal: context.signal, headers: { Accept: 'text/plain' } });
        const value = name => metrics(text, name)[0]?.value ?? 0;
        const counts = (caption, name, words, none) => {
            const rows = metrics(text, name).filter(one => one.value > 0).sort((a, b) => b.value - a.value);
            return rows.length ? table({ caption, rows, columns: [{ label: strings('operate.kind'), cell: one => Object.values(one.labels).filter(Boolean).map(label => word(words, label)).join(' · ') }, { label: strings('operate.count'), number: true, cell: one => strings.number(one.value) }] }) : h('p', { class: 'mut' }, none);
        };
        const { items: budgets } = await api.get('/v1/push-budgets', {}, { signal: context.signal });
        const when = at => at <= time.now() ? strings('operate.atOnce') : moment(at);
        return [
            section(strings('operate.budgets'), h('p', { class: 'mut' }, strings('operate.budgetsLead')), budgets.length ? table({
                caption: strings('operate.budgetsCaption', { count: budgets.length }), rows: budgets, columns: [
                    { label: strings('operate.person'), cell: one => h('b', {}, one.person) },
                    { label: strings('operate.device'), cell: one => one.device },
                    { label: strings('operate.left'), cell: one => h('div', {}, `${strings.number(one.left)} / ${strings.number(one.capacity)}`, h('meter', { class: 'gauge', min: 0, max: one.capacity, value: one.left, 'aria-label': strings('operate.leftOf', { name: one.device }) })) },
                    { label: strings('operate.nextPush'), cell: one => when(one.next) },
                    { label: strings('operate.nextScheduled'), cell: one => when(one.nextScheduled) },
                    { label: strings('operate.lastPush'), cell: one => one.last ? moment(one.last) : h('span', { class: 'mut' }, strings('operate.none')) },
                ],
            }) : h('p', { class: 'mut' }, strings('operate.noBudgets'))),
            section(strings('operate.pushes'), counts(strings('operate.pushesCaption'), 'whereabouts_location_pushes_total', 'operate.push', strings('operate.noPushes'))),
            section(strings('operate.ends'), counts(strings('operate.endsCaption'), 'whereabouts_location_queries_ended_total', 'audit.end', strings('operate.noEnds'))),
            section(strings('operate.rejects'), counts(strings('operate.rejectsCaption'), 'whereabouts_reports_rejected_total', 'devices.reasons', strings('operate.noRejects')), h('p', { class: 'mut small' }, strings('operate.rejectsWhere'))),
            section(strings('operate.process'), facts([
                [strings('operate.memory'), `${strings.number(value('process_resident_memory_bytes') / 1048576, 0)} MiB`],
                [strings('operate.connections'), strings.number(value('whereabouts_http_connections'))],
                [strings('operate.open'), strings.number(value('whereabouts_location_queries_open'))],
                [strings('operate.waiting'), strings.number(value('whereabouts_log_waiting_commands'))],
                [strings('operate.diskFull'), value('whereabouts_disk_full') ? h('b', { class: 'no' }, strings('operate.yes')) : undefined],
            ])),
        ];
    });
}

// Events

async function events(context, inner) {
    const filter = { kind: context.query.get('kind') ?? '', person: context.query.get('of') ?? '', after: context.query.get('after') ?? '' };
    const form = h('form', {
        class: 'filters', role: 'search', 'aria-label': strings('operate.filter'),
        onsubmit: event => { event.preventDefault(); const wanted = new URLSearchParams(values(form)); context.navigate(`/operate/events${wanted.size ? `?${wanted}` : ''}`); },
    }, field({ name: 'kind', label: strings('operate.eventKind'), value: filter.kind, placeholder: 'FixReported' }), field({ name: 'of', label: strings('operate.person'), value: filter.person }),
    field({ name: 'after', label: strings('operate.after'), inputmode: 'numeric', pattern: '[0-9]*', value: filter.after }), h('button', {}, strings('audit.filter')));
    const list = h('div');
    put(inner, [form, list, zoneNote()]);
    return load(list, async () => {
        const { items: [first] } = await api.get('/v1/projections');
        const start = filter.after || filter.kind || filter.person ? filter.after || 0 : Math.max(0, first.head - 50);
        const { items, next } = await api.get('/v1/events', { after: start, limit: 50, kind: filter.kind, person: filter.person, asStored: true }, { signal: context.signal });
        if (!items.length) return empty(strings('operate.noEvents'), strings('operate.noEventsText'));
        const further = new URLSearchParams({ ...(filter.kind && { kind: filter.kind }), ...(filter.person && { of: filter.person }), after: next ?? '' });
        return [table({
            caption: strings('operate.eventsCaption'), rows: items.reverse(), columns: [
                { label: strings('operate.number'), cell: one => h('b', { class: 'num' }, String(one.number)) },
                { label: strings('audit.when'), cell: one => moment(one.recordedAt, true) },
                { label: strings('operate.eventKind'), cell: one => one.kind },
                { label: strings('operate.cause'), cell: one => one.cause ? h('a', { href: `/operate/events?after=${one.cause - 1}` }, String(one.cause)) : h('span', { class: 'mut' }, strings('operate.none')) },
                { label: strings('audit.asStored'), cell: one => more(strings('audit.asStored'), () => h('pre', { tabindex: 0 }, JSON.stringify(one, null, 1))) },
            ],
        }), next && h('p', {}, h('a', { class: 'button', href: `/operate/events?${further}` }, strings('operate.newer')))];
    });
}

// Imports

function imports(context, inner) {
    const read = async () => {
        const { items } = await api.get('/v1/imports', {}, { signal: context.signal });
        if (!items.length) return empty(strings('operate.noImports'), strings('operate.noImportsText'));
        return [table({
            caption: strings('operate.importsCaption', { count: items.length }), rows: items, columns: [
                { label: strings('audit.when'), cell: one => moment(one.begun, true) },
                { label: strings('operate.person'), cell: one => h('span', {}, one.people.slice(0, 3).join(', '), one.personCount > 3 && ` + ${strings.number(one.personCount - 3)}`) },
                { label: strings('operate.state'), cell: one => pill(word('operate.importStates', one.state), { ended: 'ok', running: 'wait', undone: 'no' }[one.state]) },
                { label: strings('operate.newFixes'), number: true, cell: one => strings.number(one.counts.new) },
                { label: strings('operate.knownFixes'), number: true, cell: one => strings.number(one.counts.duplicate) },
                { label: strings('operate.importID'), cell: one => h('code', {}, one.id) },
                { label: strings('operate.actions'), // An undo that was interrupted counts as undone; undoing again withdraws the rest.
                    cell: one => h('div', { class: 'row' }, revise(one, 'undo', 'withdrawals'), one.state === 'undone' && revise(one, 'redo', 'restorations')) },
            ],
        }), zoneNote()];
    };
    const again = () => load(inner, read);
    const revise = (one, what, path) => {
        const name = strings(`operate.${what}Of`, { who: one.people.join(', ') });
        return h('button', {
            type: 'button', 'aria-label': name,
            onclick: () => ask({
                title: name, lead: strings(`operate.${what}Lead`), label: strings(`operate.${what}`), danger: what === 'undo',
                fields: [field({ name: 'reason', label: strings('operate.reason'), required: true, maxlength: 500 })],
                submit: async ({ reason }) => {
                    let [fixes, visits, after] = [0, 0, undefined];
                    do {
                        const done = await api.post(`/v1/imports/${one.id}/${path}`, { reason, ...(after && { after }) });
                        [fixes, visits, after] = [fixes + done.fixes, visits + done.visits, done.next];
                    } while (after);
                    await again();
                    context.announce(strings(`operate.${what}Done`, { count: fixes + visits }));
                },
            }),
        }, strings(`operate.${what}`));
    };
    return again();
}

// People

function people(context, inner) {
    return load(inner, async () => {
        const items = await api.all('/v1/people', {}, { signal: context.signal });
        if (!items.length) return empty(strings('parts.nobody'), strings('parts.nobodyText'), h('a', { class: 'button', href: '/welcome' }, strings('welcome.nav')));
        const link = (view, handle) => h('a', { href: `/${view}?person=${encodeURIComponent(handle)}`, 'aria-label': `${strings(`${view}.nav`)}: ${handle}` }, strings(`${view}.nav`));
        return [h('p', { class: 'mut' }, strings('operate.peopleLead')), table({
            caption: strings('operate.peopleCaption', { count: items.length }), rows: items, columns: [
                { label: strings('operate.person'), cell: one => h('b', {}, one.handle) },
                { label: strings('devices.nav'), cell: one => one.devices.join(', ') || h('span', { class: 'mut' }, strings('operate.noDevices')) },
                { label: strings('operate.see'), cell: one => h('div', { class: 'row' }, ['audit', 'sharing', 'devices'].map(view => link(view, one.handle))) },
            ],
        })];
    });
}
