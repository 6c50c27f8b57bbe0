import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { toolsView, toolView } from '../../src/settings/setting-views.ts';
import { writeCommand } from '../../src/channels/slack/create-slack.ts';
import { succeed } from '../../src/core/envelope.ts';
import { defineTool, readOnly } from '../../src/core/tool.ts';

test('H12 settings name their command as the chat writes it', () => {
  const lamp = defineTool({
    name: 'lamp',
    description: 'Switches a lamp.',
    input: z.object({}),
    settings: z.object({ room: z.string().default('attic') }),
    traits: readOnly,
    run: async () => succeed('on'),
  });
  const layered = { values: {}, from: new Map(), problems: [] } as const;
  const write = (name: string, args?: string) => writeCommand({ command: '/ask' }, {}, name, args);
  const all = toolsView([lamp], 'menu', write).text;
  assert.match(all, /write `\/ask settings TOOL`\. To set a value, write `\/ask settings TOOL KEY VALUE`\.$/);
  const one = toolView(lamp, layered, 'menu', write).text;
  assert.match(one, /`\/ask settings lamp KEY VALUE` sets one in this chat\./);
});
