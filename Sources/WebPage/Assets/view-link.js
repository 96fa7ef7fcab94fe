// A share link: its secret is after the # of the address, which the browser sends to nobody. The form works without script,
// with the address pasted; this only fills it in.
export const title = 'link.title';

export function show({ main }) {
    document.documentElement.dataset.ready = 'link';
    const field = main.querySelector('#link');
    const secret = location.hash.slice(1);
    if (!field || !secret) return;
    field.value = secret;
    field.closest('label').hidden = true;
    // The history of the browser keeps the address without the secret.
    history.replaceState(null, '', location.pathname);
}
