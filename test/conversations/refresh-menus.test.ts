import assert from 'node:assert/strict';
import { allTools } from '../../src/features/list.ts';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { commandTable } from '../../src/core/chat-commands.ts';
import { createRefreshMenus } from '../../src/conversations/refresh-menus.ts';
import { createRuntimeConfig } from '../../src/config/runtime-config.ts';
import { createModels } from '../../src/agent/models/create-models.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createSkillLibrary } from '../../src/skills/skill-library.ts';
import { createLocalSignals } from '../../src/store/signals.ts';
import { quietLog } from '../support/quiet-log.ts';

test('Q9 a change of skills that one process sees reaches another that sees no change by itself, and ends there', async (t) => {
  const home = await mkdtemp(path.join(tmpdir(), 'skillet-follow-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const folder = path.join(home, 'skills');
  await mkdir(folder);
  const local = createLocalSignals();
  let words = 0;
  const signals: typeof local = {
    ...local,
    async send(topic, text) {
      words += 1;
      await local.send(topic, text);
    },
  };
  const parsed = parseConfig('', { env: {} });
  assert.ok(parsed.ok);
  const begin = async (name: string) => {
    const log = quietLog();
    const library = await createSkillLibrary({
      roots: [{ origin: 'workspace', path: folder }],
      cacheDir: path.join(home, name),
      log,
    });
    t.after(() => library.close());
    const live = createRuntimeConfig(parsed.config, ({ models }) =>
      createModels(models, { log, clock: systemClock }),
    );
    const follow = createRefreshMenus({
      library,
      runtime: () => live,
      channels: new Map(),
      signals,
      audit: { record: async () => undefined },
      chatCommands: commandTable([]),
      builtInTools: allTools(),
      log,
    });
    t.after(follow.stop);
    return { library, follow, log };
  };
  const watching = await begin('a');
  const blind = await begin('b');
  watching.library.watch(watching.follow.changed);
  await watching.library.rescan();
  await mkdir(path.join(folder, 'new'));
  await writeFile(path.join(folder, 'new/SKILL.md'), '---\nname: new\ndescription: New.\n---\nDo it.\n');
  await blind.log.line(({ message, fields }) => message === 'skills are loaded' && fields['skills'] === 1);
  assert.deepEqual(blind.library.current().names, ['new']);
  await Promise.all([watching.library.rescan(), blind.library.rescan()]);
  assert.equal(words, 1);
});
