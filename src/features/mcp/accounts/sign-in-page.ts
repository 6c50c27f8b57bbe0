import { sayIn, type Say } from '../../../core/texts/say.ts';
import type { WebPage } from '../../../core/web-page.ts';
import { html, type Html } from '../../../lib/text/html.ts';
import type { OpenSignIn } from './sign-in.ts';
import type { SignInStep } from './sign-ins.ts';

/** What a browser is shown at the end of a sign-in (X8). */
export function signInPage(step: SignInStep): WebPage {
  const say = sayIn('signIn' in step ? step.signIn.content.requester.language : undefined);
  switch (step.kind) {
    case 'proof':
      return page(200, say, proofWords(step.signIn, step.proof, say));
    case 'busy':
    case 'ready':
      return page(202, say, html`<p>${say`One moment. Please load this page again.`}</p>`);
    case 'away':
      return page(
        503,
        say,
        html`<p>${say`The service is not answering at the moment.`} ${say`Please load this page again.`}</p>`,
      );
    case 'linked':
      return page(200, say, html`<p>${say`Done. You can close this page.`}</p>`);
    case 'unknown':
    case 'used':
    case 'ended':
      return page(
        400,
        say,
        html`<p>
          ${say`This sign-in is no longer open, and nothing was connected.`}
          ${say`Ask the bot again in your chat.`}
        </p>`,
      );
  }
}

/** It says whose chat the account would be used in, because the link may have come from somebody else. */
function proofWords({ content }: OpenSignIn, proof: string, say: Say): Html {
  const { server, requester } = content;
  const who = requester.name === undefined ? requester.sender : `${requester.name} (${requester.sender})`;
  return html`<p>${say`One step is left. Send this code to the bot, in a direct message:`}</p>
    <p class="code">${proof}</p>
    <p>${say`It connects your account at ${server} to the chat of:`} <b>${who}</b></p>
    <p>
      ${say`Is that not you, or did somebody send you the link? Then close this page and give the code to nobody.`}
    </p>`;
}

const style =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:4rem auto;padding:0 1rem}.code{font:700 2.2rem monospace;letter-spacing:.1em}';

function page(status: number, say: Say, body: Html): WebPage {
  const title = say`Sign-in`;
  const whole = html`<!doctype html>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <title>${title}</title>
    <style>
      ${style}
    </style>
    <h1>${title}</h1>
    ${body} `;
  return { status, type: 'text/html; charset=utf-8', body: whole.markup };
}
