import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { renderEnvelope } from '../../../src/core/envelope.ts';
import type { AccountBook, FoundAccount } from '../../../src/features/mcp/accounts/account-book.ts';
import { createPersonTools } from '../../../src/features/mcp/accounts/person-tools.ts';
import { identityOf } from '../../../src/features/mcp/mcp-settings.ts';
import { readDefinition } from '../../../src/features/mcp/read-definition.ts';
import { listedTool } from '../../servers/mcp/tool-files.ts';
import { partOf } from '../../support/app-of.ts';
import { toolContext } from '../../support/tool-context.ts';

const url = 'https://work.example/mcp';

test('X8 T8 a call that was judged as a question for a sign-in stays one, also if the person signs in meanwhile', async () => {
  const parsed = parseConfig(`[mcp.work]\nurl = "${url}"\nauth = "person"\n`, { env: {} });
  const read = readDefinition(listedTool('pay'));
  assert.ok(parsed.ok && read.ok);
  const { mcp } = parsed.config;
  const identity = identityOf(mcp['work'] ?? assert.fail());
  const state = { signedIn: false, calls: 0 };
  const [pay] = createPersonTools({
    settings: () => mcp,
    agreementOf: () => ({ identity, tools: [{ name: 'pay', agreed: read.definition }] }),
    accounts: partOf({
      book: partOf<AccountBook>({
        find: async (of) =>
          state.signedIn ? partOf<FoundAccount>({ ...of, account: partOf({ url }) }) : undefined,
      }),
    }),
    links: partOf({
      call: async () => {
        state.calls += 1;
        return { kind: 'answered', result: { content: [{ type: 'text', text: 'paid' }] } };
      },
    }),
    writeCommand: () => '/connect',
    converse: (_of, _context, attempt) => attempt(undefined),
    redact: (text) => text,
  })();
  assert.ok(pay);
  const { tool } = pay;
  const context = toolContext();
  const assess = async () => tool.assess?.({}, context);
  assert.deepEqual(await assess(), { risk: 'safe', account: 'mcp:work telegram:42' });
  state.signedIn = true;
  const first = renderEnvelope(await tool.run({}, context));
  assert.match(first, /SIGN_IN_NEEDED.*call again/s);
  assert.equal(state.calls, 0, 'nobody approved it');
  // Judged again, it is a call with the account, at its own risk.
  const again = (await assess()) as Readonly<{ risk?: string; taint?: string }>;
  assert.deepEqual([again.risk, again.taint], [undefined, 'mcp:work telegram:42']);
  assert.match(renderEnvelope(await tool.run({}, context)), /paid/);
  assert.equal(state.calls, 1);
});
