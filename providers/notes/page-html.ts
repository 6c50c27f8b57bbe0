import type { Asked } from './grants.ts';

/** Asks a person whether a notebook may be linked. */
export function confirmPage(request: string, { user, notebook }: Asked): string {
  return page(
    'Link a notebook',
    `<p>The bot asks to open the notebook <strong>${escape(notebook)}</strong> of <strong>${escape(user)}</strong>:
      to read it, and to change it whenever that person agrees.</p>
    <p>Allow it only where you are that person and asked the bot for it yourself.</p>
    <form method="post" action="/decide"><input type="hidden" name="request" value="${escape(request)}">
      <button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Do not allow</button></form>`,
  );
}

/** Asks for the code that the bot showed. */
export function devicePage(): string {
  return page(
    'Link a notebook',
    `<form method="post" action="/device"><label>The code that the bot showed you:
      <input name="user_code" autocomplete="off" autofocus></label> <button>Go on</button></form>`,
  );
}

/** Where a person lands with their code: what to carry to the bot. */
export function callbackPage(url: URL): string {
  if (!url.searchParams.has('code')) return messagePage('Nothing was linked. You can close this page.');
  return page(
    'Almost done',
    `<p>Send this address to the bot, in your private chat with it:</p><p><code>${escape(url.href)}</code></p>`,
  );
}

export function messagePage(message: string): string {
  return page('The notebook', `<p>${escape(message)}</p>`);
}

function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escape(title)}</title>
    <style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:3rem auto;padding:0 1rem}code{overflow-wrap:anywhere}</style>
    <h1>${escape(title)}</h1>${body}</html>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
