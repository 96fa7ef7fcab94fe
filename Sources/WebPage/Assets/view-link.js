// Opens a share link. Browsers do not send the part after #, which is the secret. Without script, the address is pasted into
// the form; this only fills it in.
export const title = 'link.title';

export function show({ main }) {
    document.documentElement.dataset.ready = 'link';
    const field = main.querySelector('#link');
    const secret = location.hash.slice(1);
    if (!field || !secret) return;
    field.value = secret;
    field.closest('label').hidden = true;
    // The browser's history keeps the address without the secret.
    history.replaceState(null, '', location.pathname);
}
