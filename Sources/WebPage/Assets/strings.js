// Words, numbers, lengths and lists in the reader's language. One JSON file per language, keys grouped by view.
let words = {};
let plural = new Intl.PluralRules('en');

const find = key => key.split('.').reduce((group, part) => group?.[part], words);
const form = (key, values) => {
    const found = find(key);
    if (found === undefined) return key;
    return typeof found === 'string' ? found : found[plural.select(values.count ?? 0)] ?? found.other;
};
const shown = value => typeof value === 'number' ? strings.number(value) : value;

/** The text of a key: `strings('day.visits', {count: 3})`. `{name}` is replaced; `{"one": …, "other": …}` follows `count`. */
export const strings = (key, values = {}) => form(key, values).replace(/\{(\w+)\}/g, (all, name) => name in values ? shown(values[name]) : all);

/** The same with elements for values: `h('p', {}, strings.rich('now.asks', {who: h('b', {}, who)}))`. */
strings.rich = (key, values) => form(key, values).split(/(\{\w+\})/).filter(Boolean)
    .map(part => part[0] === '{' && part.slice(1, -1) in values ? shown(values[part.slice(1, -1)]) : part);

/** Whether there is a text for the key, for example for a kind of event newer than the page. */
strings.has = key => find(key) !== undefined;
strings.language = 'en';

/** A number with at most `digits` decimals. */
strings.number = (value, digits = 1) => new Intl.NumberFormat(strings.language, { maximumFractionDigits: digits }).format(value);

/** A length: `508 m`, `3.8 km`, `412 km`. */
strings.distance = meters => meters < 995 ? `${strings.number(meters < 100 ? Math.round(meters) : Math.round(meters / 10) * 10, 0)}\u00a0m`
    : `${strings.number(meters / 1000, meters < 99_500 ? 1 : 0)}\u00a0km`;

/** An accuracy: `± 18 m`, or nothing. */
strings.accuracy = meters => meters > 0 ? `±\u00a0${strings.distance(meters)}` : '';

/** A share: `80 %`. */
strings.percent = share => new Intl.NumberFormat(strings.language, { style: 'percent' }).format(share);

/** `a, b and c`. */
strings.list = items => new Intl.ListFormat(strings.language, { type: 'conjunction' }).format(items);

/** Opening hours in OpenStreetMap's form, `Mo-Fr 07:00-16:00`, with the names of the reader's language for days. */
strings.hours = text => {
    const day = name => new Intl.DateTimeFormat(strings.language, { weekday: 'short', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'].indexOf(name)));
    return text.replace(/\b(Mo|Tu|We|Th|Fr|Sa|Su)\b/g, day).replace(/(\w|\.)-(?=\w)/g, '$1–');
};

/** A placemark in a few words: its name, then the town or country if that says more. */
strings.place = place => {
    if (!place) return '';
    const parts = [place.name ?? place.locality ?? place.inlandWater ?? place.ocean, place.locality ?? place.administrativeArea, place.country];
    return parts.filter((part, index) => part && parts.indexOf(part) === index).slice(0, 2).join(', ');
};

/** Loads the language's file; the address of this module carries the hash of the whole set, so it is immutable. */
export async function load(language) {
    strings.language = language === 'de' ? 'de' : 'en';
    plural = new Intl.PluralRules(strings.language);
    const answer = await fetch(new URL(`./strings.${strings.language}.json`, import.meta.url));
    words = await answer.json();
}
