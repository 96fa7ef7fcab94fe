// Sharing: what waits for my answer first, then who may see where I am, until when and how well; pauses, invitations, schedules.
import { api } from './api.js';
import { action, ask, confirm, dialog, empty, field, h, note, page, pill, qr, secret, values } from './kit.js';
import { notices as noticeList } from './notices.js';
import { follow, left, liveState, load, moment, named, people, precise, purpose, put, section, subject, word, zoneNote } from './view-parts.js';
import { strings } from './strings.js';
import { locationFacts } from './view-requests.js';
import { dateOf, instant, isDate, time } from './time.js';

export const title = 'sharing.title';

const precisions = ['exact', 'kilometer', 'city', 'place', 'none'];

export async function show(context) {
    const who = subject(context);
    const content = h('div');
    page(context, { title: strings('sharing.heading'), lead: strings('sharing.lead') }, content);
    if (!who) return load(content, () => people('sharing'));
    const [questions, pauses, grants, links, invitations, schedules, notices, kept] = Array.from({ length: 8 }, () => h('div'));
    // The operator cannot consent for anybody.
    const parts = {
        questions: () => context.person ? load(questions, () => consents(context, who, parts)) : undefined,
        pauses: () => load(pauses, () => pause(context, who, parts)),
        grants: number => load(grants, () => grantCards(context, who, parts, number)),
        links: number => load(links, () => linkCards(context, who, parts, number)),
        invitations: () => load(invitations, () => invitationCards(context, who, parts)),
        schedules: () => load(schedules, () => scheduleCards(context, who, parts)),
        notices: number => load(notices, () => noticeList(context, who, parts.notices, number)),
        kept: () => load(kept, () => retention(context, who, parts)),
    };
    put(content, [
        liveState(context), questions, pauses, section(strings('sharing.grants'), grants),
        section(strings('sharing.links'), links),
        section(strings('sharing.invitations'), invitations), context.person && section(strings('sharing.codes'), codes(context)),
        section(strings('sharing.schedules'), schedules), section(strings('sharing.notices'), notices),
        section(strings('sharing.kept'), kept), zoneNote(),
    ]);
    if (context.person) {
        follow(context, ['consent', 'end', 'query'], parts.questions);
        follow(context, ['change'], () => Promise.all([parts.pauses(), parts.grants(), parts.links()]));
    }
    await Promise.all(Object.values(parts).map(read => read()));
    const code = context.query.get('redeem');
    if (code && context.person) redeem(context, code);
    if (location.hash) document.getElementById(`grant-${location.hash.slice(1)}`)?.scrollIntoView();
}

const read = (context, who, what, number) => api.all(api.person(who, what), { 'at-least': number }, { signal: context.signal, ...purpose(context) });
const until = (date, minutes) => isDate(date) ? instant(time.zone(), date, minutes) : undefined;

// Questions that wait for an answer

async function consents(context, who, parts) {
    const items = await read(context, who, 'consent-requests');
    if (items.length && !consents.announced) context.announce(strings('sharing.asks', { who: items[0].requester ?? '' }));
    consents.announced = items.length > 0;
    return items.map(one => {
        const answer = (consent, words) => async () => {
            await api.post(api.person(who, `consent-requests/${one.query}`), { consent });
            context.announce(strings(words));
            // The question ends when the events of the answer are folded; the card goes at once.
            card.remove();
        };
        const card = h('div', { class: 'card wants' }, h('div', { class: 'row' },
            h('span', {}, h('span', { class: 'mark ask inline', 'aria-hidden': 'true' }), ' ',
                strings.rich('sharing.asksNow', { who: h('b', {}, named(one.requester)), purpose: one.purpose ?? '' }), ' · ', left(context, one.deadline, parts.questions)),
            h('span', { class: 'end row' },
                action(strings('sharing.no'), answer('refused', 'sharing.saidNo')),
                action(strings('sharing.once'), answer('given', 'sharing.saidYes'), 'primary'))),
        h('p', { class: 'mut small' }, strings('sharing.silence')));
        return card;
    });
}

// Pauses

async function pause(context, who, parts) {
    const items = await read(context, who, 'pauses');
    const now = items.find(one => one.now);
    if (now) {
        return note(true, h('span', {}, strings.rich(now.until ? 'sharing.pausedUntil' : 'sharing.paused', { time: now.until ? moment(now.until) : '' })),
            h('span', { class: 'end' }, action(strings('sharing.resume'), async () => {
                await api.delete(api.person(who, 'pauses'));
                context.announce(strings('sharing.resumed'));
                await parts.pauses();
            })));
    }
    return h('p', { class: 'row' }, h('span', { class: 'mut' }, strings('sharing.pauseMeans')), h('span', { class: 'end' }, h('button', {
        type: 'button', class: 'danger',
        onclick: () => ask({
            title: strings('sharing.pause'), lead: strings('sharing.pauseMeans'), label: strings('sharing.pause'), danger: true,
            fields: [{ name: 'for', label: strings('sharing.howLong'), type: 'select', value: '3600', options: [['3600', strings('sharing.hour')], ['14400', strings('sharing.hours4')], ['86400', strings('sharing.day')], ['', strings('sharing.untilEnded')]] }],
            submit: async wanted => {
                await api.post(api.person(who, 'pauses'), wanted.for ? { forSeconds: Number(wanted.for) } : {});
                await parts.pauses();
            },
        }),
    }, strings('sharing.pause'))));
}

// Grants

async function grantCards(context, who, parts, number) {
    // The grant of a share link, whose name has a space as no handle has, is shown and ended with the link.
    const items = (await read(context, who, 'grants', number)).filter(one => !one.requester?.includes(' '));
    const give = h('button', { type: 'button', onclick: () => grantForm(context, who, parts) }, strings('sharing.give'));
    if (!items.length) return empty(strings('sharing.none'), strings('sharing.noneText'), give);
    return [h('ul', { class: 'cards' }, items.map(one => h('li', { class: 'card row', id: `grant-${one.id}` },
        h('span', {}, h('b', {}, named(one.requester)), h('br'), h('span', { class: 'mut' }, says(one))),
        h('span', { class: 'end row' },
            context.person && one.requester && action(strings('sharing.seeAs', { who: one.requester }), () => seeAs(who, one.requester)),
            h('a', { class: 'button', href: `/audit?who=${encodeURIComponent(one.requester ?? '')}${context.person ? '' : `&person=${encodeURIComponent(who)}`}` }, strings('sharing.asked')),
            h('button', { type: 'button', onclick: () => grantForm(context, who, parts, one) }, strings('sharing.change')),
            h('button', {
                type: 'button', class: 'danger', 'aria-label': strings('sharing.endOf', { who: named(one.requester) }),
                onclick: () => confirm(strings('sharing.endOf', { who: named(one.requester) }), strings('sharing.endLead'), strings('sharing.end'), async () => {
                    const { number } = await api.delete(`/v1/grants/${encodeURIComponent(one.id)}`);
                    await parts.grants(number);
                }),
            }, strings('sharing.end')))))), h('p', {}, give)];
}

/** What somebody would get who asks now. The service records this as a reading of one's own. */
async function seeAs(who, asker) {
    const seen = await api.get(api.person(who, `previews/${encodeURIComponent(asker)}`));
    return dialog({
        title: strings('sharing.seeAs', { who: asker }),
        body: [
            h('p', { class: 'mut' }, strings('sharing.seeAsMeans', { who: asker })),
            seen.location ? locationFacts(seen.location) : h('p', {}, h('b', {}, strings('audit.nothing')), seen.reason && [': ', word('audit.reason', seen.reason)]),
            h('p', {}, strings(seen.history ? 'sharing.seesHistory' : 'sharing.seesNoHistory')),
        ],
    });
}

/** What a grant lets somebody see, in a line. */
function says(one) {
    return [
        precise(one.precision), one.asksEachTime ? strings('sharing.eachTime') : strings(one.history ? 'sharing.withHistory' : 'sharing.nowOnly'),
        one.history && one.from && strings('sharing.since', { date: time.date(dateOf(time.zone(), one.from), { short: true }) }),
        one.hours && `${one.hours.weekly}, ${one.hours.timeZone}`,
        one.until && strings('sharing.until', { date: time.date(dateOf(time.zone(), one.until), { short: true }) }),
    ].filter(Boolean).join(' · ');
}

const terms = one => [
    { name: 'precision', label: strings('sharing.precision'), type: 'select', value: one?.precision ?? 'kilometer', options: precisions.map(name => [name, `${precise(name)}: ${strings(`sharing.precisions.${name}`)}`]) },
    { name: 'kind', label: strings('sharing.what'), type: 'select', value: one?.asksEachTime ? 'each' : one?.history ? 'history' : 'now', options: [['now', strings('sharing.nowOnly')], ['history', strings('sharing.withHistory')], ['each', strings('sharing.eachTime')]] },
    { name: 'from', label: strings('sharing.from'), type: 'date', value: one?.from ? dateOf(time.zone(), one.from) : '', hint: strings('sharing.fromHint') },
    { name: 'until', label: strings('sharing.untilLabel'), type: 'date', value: one?.until ? dateOf(time.zone(), one.until) : '', hint: strings('sharing.untilHint') },
    { name: 'weekly', label: strings('sharing.weekly'), value: one?.hours?.weekly ?? '', placeholder: 'Mo-Fr 08:00-18:00', hint: strings('sharing.weeklyHint', { zone: one?.hours?.timeZone ?? time.mine }) },
];
const termsOf = (wanted, one) => ({
    precision: wanted.precision, history: wanted.kind === 'history', asksEachTime: wanted.kind === 'each', from: until(wanted.from, 0),
    until: until(wanted.until, 1440), hours: wanted.weekly ? { timeZone: one?.hours?.timeZone ?? time.mine, weekly: wanted.weekly } : undefined,
});

/** A new grant, or one in place of `one`: the interface has no change, so the new one is given before the old one ends. */
function grantForm(context, who, parts, one) {
    return ask({
        title: one ? strings('sharing.changeOf', { who: named(one.requester) }) : strings('sharing.give'),
        lead: one ? strings('sharing.changeLead') : strings('sharing.giveLead'), label: one ? strings('sharing.change') : strings('sharing.giveNow'),
        fields: [...one ? [] : [{ name: 'requester', label: strings('sharing.whom'), required: true, autocapitalize: 'none', spellcheck: 'false', hint: strings('sharing.whomHint') }], ...terms(one)],
        submit: async wanted => {
            let { number } = await api.post(api.person(who, 'grants'), { requester: one?.requester ?? wanted.requester, ...termsOf(wanted, one) });
            if (one) ({ number } = await api.delete(`/v1/grants/${encodeURIComponent(one.id)}`));
            await parts.grants(number);
        },
    });
}

// Share links

const lengths = [3600, 2 * 3600, 8 * 3600, 86_400, 7 * 86_400];

async function linkCards(context, who, parts, number) {
    const items = (await read(context, who, 'links', number)).filter(one => one.state !== 'ended').reverse();
    return [
        h('p', { class: 'mut' }, strings('sharing.linksMean')),
        items.length > 0 && h('ul', { class: 'cards' }, items.map(one => h('li', { class: 'card row' },
            h('span', {}, h('b', {}, one.name), ' ', one.state === 'used' && pill(strings('sharing.linkUsed')), h('br'), h('span', { class: 'mut' }, [
                precise(one.precision), one.history && strings('sharing.withHistory'), strings(one.live ? 'sharing.linkLive' : 'sharing.linkLook'),
                one.passphrase && strings('sharing.linkLocked'), strings('sharing.linkOpened', { count: one.opened }),
            ].filter(Boolean).join(' · '), ' · ', strings.rich('sharing.until', { date: moment(one.until) }))),
            h('span', { class: 'end row' },
                h('a', { class: 'button', href: `/audit?who=${encodeURIComponent(one.name)}${context.person ? '' : `&person=${encodeURIComponent(who)}`}` }, strings('sharing.asked')),
                action(strings('sharing.end'), async () => {
                    const { number } = await api.delete(`/v1/links/${encodeURIComponent(one.id)}`);
                    await parts.links(number);
                }, 'danger', { 'aria-label': strings('sharing.endOf', { who: one.name }) }))))),
        h('p', {}, h('button', { type: 'button', onclick: () => addLink(context, who, parts) }, strings('sharing.addLink'))),
    ];
}

async function addLink(context, who, parts) {
    const made = await ask({
        title: strings('sharing.addLink'), lead: strings('sharing.linkLead'), label: strings('sharing.addLink'),
        fields: [
            { name: 'length', label: strings('sharing.howLong'), type: 'select', value: '7200', options: lengths.map(one => [String(one), time.duration(one)]) },
            { name: 'precision', label: strings('sharing.precision'), type: 'select', value: 'exact', options: precisions.slice(0, 4).map(name => [name, `${precise(name)}: ${strings(`sharing.precisions.${name}`)}`]) },
            { name: 'kind', label: strings('sharing.what'), type: 'select', value: 'live', options: [['live', strings('sharing.linkLive')], ['look', strings('sharing.linkLook')], ['today', strings('sharing.linkToday')]] },
            { name: 'openings', label: strings('sharing.linkTimes'), type: 'number', min: 1, max: 1000, hint: strings('sharing.linkTimesHint') },
            { name: 'passphrase', label: strings('sharing.linkPhrase'), maxlength: 128, autocomplete: 'off', hint: strings('sharing.linkPhraseHint') },
            { name: 'name', label: strings('sharing.linkName'), maxlength: 64, hint: strings('sharing.linkNameHint') },
        ],
        submit: wanted => api.post(api.person(who, 'links'), {
            forSeconds: Number(wanted.length), precision: wanted.precision, live: wanted.kind !== 'look',
            history: wanted.kind === 'today', from: wanted.kind === 'today' ? until(dateOf(time.zone(), time.now()), 0) : undefined,
            openings: wanted.openings ? Number(wanted.openings) : undefined, passphrase: wanted.passphrase || undefined, name: wanted.name || undefined,
        }),
    });
    if (made) {
        const address = location.origin + made.path;
        await dialog({ title: made.name, body: [h('p', {}, strings('sharing.linkOnce')), await qr(address, strings('sharing.linkQR')), secret(address), h('p', { class: 'mut' }, strings.rich('sharing.until', { date: moment(made.until) }))] });
    }
    return parts.links(made?.number);
}

// Invitations

async function invitationCards(context, who, parts) {
    const [rights, accounts] = await Promise.all([read(context, who, 'invitations'), api.all('/v1/account-invitations', {}, { signal: context.signal })]);
    const withdraw = path => action(strings('sharing.withdraw'), async () => { await api.delete(path); await parts.invitations(); }, 'danger');
    return [
        rights.length + accounts.length > 0 && h('ul', { class: 'cards' },
            rights.map(one => h('li', { class: 'card row' }, h('span', {}, h('b', {}, strings('sharing.openInvitation')), ' ', pill(strings('sharing.unused'), 'wait'), h('br'), h('span', { class: 'mut' }, says(one), ' · ', strings.rich('sharing.expires', { time: moment(one.expires) }))), h('span', { class: 'end' }, withdraw(`/v1/invitations/${encodeURIComponent(one.id)}`)))),
            accounts.map(one => h('li', { class: 'card row' }, h('span', {}, h('b', {}, strings('sharing.openAccount')), ' ', pill(strings('sharing.unused'), 'wait'), h('br'), h('span', { class: 'mut' }, strings.rich('sharing.expires', { time: moment(one.expires) }))), h('span', { class: 'end' }, withdraw(`/v1/account-invitations/${encodeURIComponent(one.id)}`))))),
        h('p', { class: 'row' },
            h('button', { type: 'button', onclick: () => invite(context, who, parts) }, strings('sharing.invite')),
            h('button', { type: 'button', onclick: () => inviteAccount(parts) }, strings('sharing.inviteAccount')),
            h('span', { class: 'mut small' }, strings('sharing.inviteMeans'))),
    ];
}

async function invite(context, who, parts) {
    const made = await ask({
        title: strings('sharing.invite'), lead: strings('sharing.inviteLead'), label: strings('sharing.invite'), fields: terms(),
        submit: wanted => api.post(api.person(who, 'invitations'), termsOf(wanted)),
    });
    if (made) await showCode(made, `/sharing?redeem=${encodeURIComponent(made.code)}`, strings('sharing.codeLead'));
    return parts.invitations();
}

async function inviteAccount(parts) {
    const made = await ask({ title: strings('sharing.inviteAccount'), lead: strings('sharing.accountLead'), label: strings('sharing.inviteAccount'), submit: () => api.post('/v1/account-invitations', {}) });
    if (made) await showCode(made, `/welcome?invitation=${encodeURIComponent(made.code)}`, strings('sharing.accountCodeLead'));
    return parts.invitations();
}

/** A code that is shown once: as a link in a QR code, and as text. */
async function showCode(made, path, lead) {
    const address = location.origin + path;
    await dialog({ title: strings('sharing.codeTitle'), body: [h('p', {}, lead), await qr(address, strings('sharing.codeQR')), secret(address), h('p', {}, strings('sharing.codeAlone')), secret(made.code), h('p', { class: 'mut' }, strings.rich('sharing.expires', { time: moment(made.expires) }))] });
}

function codes(context) {
    const form = h('form', { class: 'filters', onsubmit: event => { event.preventDefault(); redeem(context, values(form).code); } },
        field({ name: 'code', label: strings('sharing.code'), required: true, size: 26, autocapitalize: 'none', spellcheck: 'false' }), h('button', {}, strings('sharing.redeem')));
    return form;
}

const redeem = (context, code) => ask({
    title: strings('sharing.redeem'), lead: strings('sharing.redeemLead'), label: strings('sharing.redeem'),
    submit: async () => {
        const got = await api.post('/v1/redemptions', { code });
        context.navigate(`/requests?whom=${encodeURIComponent(got.subject)}`);
        context.announce(strings('sharing.redeemed', { who: got.subject }));
    },
});

// Schedules

async function scheduleCards(context, who, parts) {
    const items = await read(context, who, 'schedules');
    return [
        h('p', { class: 'mut' }, strings('sharing.schedulesMean')),
        items.length > 0 && h('ul', { class: 'cards' }, items.map(one => h('li', { class: 'card row' },
            h('span', {}, h('b', {}, strings('sharing.every', { time: time.duration(one.everySeconds) })), h('br'), h('span', { class: 'mut' }, strings.rich('sharing.next', { time: moment(one.next) }), one.until && [' · ', strings.rich('sharing.until', { date: moment(one.until) })])),
            h('span', { class: 'end' }, action(strings('sharing.end'), async () => { await api.delete(api.person(who, `schedules/${encodeURIComponent(one.id)}`)); await parts.schedules(); }, 'danger', { 'aria-label': strings('sharing.endSchedule') }))))),
        h('p', {}, h('button', {
            type: 'button',
            onclick: () => ask({
                title: strings('sharing.addSchedule'), lead: strings('sharing.schedulesMean'), label: strings('sharing.addSchedule'),
                fields: [{ name: 'every', label: strings('sharing.interval'), type: 'select', value: '3600', options: [900, 1800, 3600, 7200, 14_400, 43_200, 86_400].map(one => [String(one), time.duration(one)]) }, { name: 'until', label: strings('sharing.untilLabel'), type: 'date' }],
                submit: async wanted => { await api.post(api.person(who, 'schedules'), { everySeconds: Number(wanted.every), until: until(wanted.until, 1440) }); await parts.schedules(); },
            }),
        }, strings('sharing.addSchedule'))),
    ];
}

// How long reports are kept

const inWords = name => days => days === undefined ? strings(`sharing.${name}Forever`) : days === 0 ? strings(`sharing.${name}Today`) : strings(`sharing.${name}Days`, { count: days });
const kept = inWords('kept'), choice = inWords('choice');

async function retention(context, who, parts) {
    const [rule = {}] = await read(context, who, 'retention');
    const choices = [...new Set([0, 7, 30, 90, 365, ...rule.ownTrackDays === undefined ? [] : [rule.ownTrackDays]])]
        .filter(days => rule.houseTrackDays === undefined || days <= rule.houseTrackDays).sort((one, other) => one - other);
    return [
        h('p', {}, kept(rule.trackDays), rule.goneBefore && [' ', h('span', { class: 'mut' }, strings.rich('sharing.goneBefore', { time: moment(rule.goneBefore) }))]),
        h('p', {}, h('button', {
            type: 'button',
            onclick: () => ask({
                title: strings('sharing.keptChange'), lead: strings('sharing.keptMeans'), label: strings('sharing.keptChange'),
                fields: [{ name: 'days', label: strings('sharing.howLong'), type: 'select', value: String(rule.ownTrackDays ?? ''), options: [['', choice(rule.houseTrackDays)], ...choices.map(days => [String(days), choice(days)])] }],
                submit: async wanted => {
                    const path = api.person(who, 'retention');
                    await (wanted.days === '' ? api.delete(path) : api.put(path, { trackDays: Number(wanted.days) }));
                    await parts.kept();
                },
            }),
        }, strings('sharing.keptChange'))),
    ];
}
