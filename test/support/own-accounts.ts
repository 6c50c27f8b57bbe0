import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { startProtectedServer } from '../servers/mcp/protected-server.ts';
import { startSignInServer } from '../servers/mcp/sign-in-server.ts';
import { freePort } from './free-port.ts';
import { startWholeBot, type WholeBotOptions } from './whole-bot.ts';

/** The link of a sign-in in a message. */
export function linkIn(text: string): string {
  const [, link] =
    /(https?:\/\/127\.0\.0\.1[^\s<>|]*\/auth\?[^\s<>|]+)/.exec(text.replaceAll('&amp;', '&')) ?? [];
  assert.ok(link !== undefined, `there is no link in: ${text}`);
  return link;
}

/** The code that the page at the end of a sign-in shows. */
export function codeIn(page: string): string {
  const [, code] = /<p class="code">([A-Z2-9]{4}-[A-Z2-9]{4})<\/p>/.exec(page) ?? [];
  assert.ok(code !== undefined, `there is no code in: ${page}`);
  return code;
}

type Script = Extract<NonNullable<WholeBotOptions['script']>, (...of: never) => unknown>;

/** Calls a tool of the server if there is one, or asks for a sign-in, and repeats what came of it. */
export const caller: Script = ({ messages, tools = [] }) => {
  const last = JSON.stringify(messages.at(-1));
  if (last.includes('tool_result'))
    return `It says: ${/SIGN_IN_NEEDED|You are \w+|error [A-Z_]+|is connected/.exec(last)?.[0] ?? last}`;
  const wanted = /call (\w+)/.exec(last)?.[1] ?? (last.includes('who am I') ? 'whoami' : undefined);
  if (wanted === undefined) return 'Hello.';
  const named = [`mcp_work_${wanted}`, 'mcp_work_sign_in'].find((name) =>
    tools.some((tool) => tool.name === name),
  );
  if (named === undefined) return 'I have no such tool.';
  return { content: [{ type: 'tool_use' as const, id: `toolu_${messages.length}`, name: named, input: {} }] };
};

export const admit =
  '[access]\nusers = ["telegram:42", "telegram:7"]\ngroups_mode = "open"\ngroup_users = ["*"]\n[bot]\nowner = ["telegram:42"]\nshutdown_seconds = 1\n';

/** A bot whose people sign in to a server of the official SDK at a real authorization server. */
export async function startOwnAccounts(
  t: TestContext,
  options: WholeBotOptions &
    Readonly<{
      more?: string;
      people?: string;
      users?: string;
      paste?: true;
      /** The address by which the outside knows the bot; by default the one at which it listens. */
      publicUrl?: string;
      section?: string;
      sectionMore?: string;
      auth?: 'shared';
      trusted?: boolean;
      issuer?: false;
    }> = {},
) {
  const signIn = await startSignInServer(t);
  const server = await startProtectedServer(t, signIn.issuer);
  const port = await freePort();
  const here = `http://127.0.0.1:${port}`;
  const publicUrl = options.publicUrl ?? here;
  const listen =
    options.paste === true ? '' : `[server]\nlisten = "127.0.0.1:${port}"\npublic_url = "${publicUrl}"\n`;
  const section =
    options.section ??
    `[mcp.work]\nurl = "${server.url}"\nauth = "${options.auth ?? 'person'}"\n${options.issuer === false ? '' : `issuer = "${signIn.issuer}"\n`}trusted = ${options.trusted ?? true}\nusers = ${options.users ?? '["telegram:42", "telegram:7"]'}\n${options.sectionMore ?? ''}`;
  const toml = `${options.people ?? admit}${listen}${section}${options.more ?? ''}`;
  const set = await startWholeBot(t, { script: caller, ...options, toml });
  return {
    ...set,
    signIn,
    server,
    here,
    publicUrl,
    toml,
    /** What a browser that is signed in as this user gets at the end of a sign-in. */
    async finish(link: string, user: string, how?: 'refuse'): Promise<string> {
      const back = await signIn.browse(link, user, how);
      assert.equal(back.origin, publicUrl);
      return (await fetch(back)).text();
    },
  };
}
