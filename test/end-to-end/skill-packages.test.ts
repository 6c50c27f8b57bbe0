import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { buildRoot } from '../../src/sandbox/packages/build-root.ts';
import { rootFolder } from '../../src/sandbox/packages/available-packages.ts';
import { rootRecipe } from '../../src/sandbox/packages/root-recipe.ts';
import { bubblewrapHere } from '../support/bubblewrap-here.ts';
import type { MessagesRequest } from '../servers/messages/request-shape.ts';
import { standInRootTool } from '../support/stand-in-root-tool.ts';
import { startWholeBot, type WholeBot } from '../support/whole-bot.ts';
import { lockOwner } from '../../src/store/sqlite/lock-owner.ts';

const parcels =
  '---\nname: parcels\ndescription: Weighs parcels.\npackages: [skillet-scales]\n---\nWeigh it.\n';
const plain = '---\nname: plain\ndescription: Needs nothing.\n---\nAnswer.\n';
const call = {
  content: [
    {
      type: 'tool_use' as const,
      id: 'toolu_1',
      name: 'use_skill',
      input: { skill: 'parcels', message: 'weigh it' },
    },
  ],
};

test(
  'P3 U1 R6 a skill without its packages is out of catalogue and enum, and names the command; after a build the running bot offers it',
  { skip: bubblewrapHere.skip },
  async (t) => {
    const set = await startWholeBot(t, {
      sandbox: 'auto',
      toml: '[access]\ndm = "open"\n',
      skills: { parcels, plain },
      script: [call, 'It is not there yet.', 'Now it is.'],
    });
    const ann = set.telegram.person({ name: 'Ann' });
    ann.says('weigh my parcel');
    assert.equal((await ann.dm.nextMessage()).text, 'It is not there yet.');
    const [first, second] = set.messages.requests.map(({ body }) => body);
    assert.deepEqual(offered(first), { prompt: false, choice: false });
    assert.match(
      JSON.stringify(second?.messages),
      /SKILL_UNAVAILABLE: parcels needs the package skillet-scales, .* by: (apt-get install mmdebstrap && )?skillet sandbox build/,
    );

    await build(set);
    ann.says('and now?');
    assert.equal((await ann.dm.nextMessage()).text, 'Now it is.');
    assert.deepEqual(offered(set.messages.requests[2]?.body), { prompt: true, choice: true });
  },
);

test('P3 U1 in the virtual sandbox no package counts, whatever the host has, and the way to a better one is told', async (t) => {
  const set = await startWholeBot(t, {
    sandbox: 'auto',
    toml: '[access]\ndm = "open"\n[sandbox]\nmode = "virtual"\n',
    skills: { parcels, plain },
    script: [call, 'Sorry.'],
  });
  await build(set);
  const ann = set.telegram.person({ name: 'Ann' });
  ann.says('weigh my parcel');
  await ann.dm.nextMessage();
  const [first, second] = set.messages.requests.map(({ body }) => body);
  assert.deepEqual(offered(first), { prompt: false, choice: false });
  assert.match(JSON.stringify(second?.messages), /apt-get install bubblewrap.* && skillet sandbox build/);
});

function offered(body: MessagesRequest | undefined) {
  const choice = body?.tools?.find(({ name }) => name === 'use_skill');
  assert.match(JSON.stringify([body?.system, choice]), /plain/);
  return {
    prompt: JSON.stringify(body?.system).includes('parcels'),
    choice: JSON.stringify(choice).includes('"parcels"'),
  };
}

async function build({ home }: Pick<WholeBot, 'home'>): Promise<void> {
  await buildRoot(
    {
      folder: rootFolder(path.join(home, 'data')),
      recipe: rootRecipe([{ name: 'parcels', packages: ['skillet-scales'] }], {
        suite: 'bookworm',
        lines: ['deb http://deb.example bookworm main'],
      }),
      now: Date.now(),
      signal: new AbortController().signal,
    },
    { tool: standInRootTool(), lock: lockOwner, flush: async () => undefined, onLine: () => undefined },
  );
}
