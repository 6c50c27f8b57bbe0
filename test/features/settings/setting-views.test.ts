import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { languages, sayIn } from '../../../src/core/texts/say.ts';
import { answersAsking } from '../../../src/features/settings/show-settings.ts';
import { makeMessage } from '../../support/make-message.ts';
import { toolsView, toolView } from '../../../src/features/settings/setting-views.ts';
import { writeSlackCommand } from '../../../src/channels/slack/create-slack.ts';
import { succeed } from '../../../src/core/envelope.ts';
import { defineTool, readOnly } from '../../../src/core/tool.ts';

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
  const write = (name: string, args?: string) => writeSlackCommand({ command: '/ask' }, {}, name, args);
  const conversation = { channel: 'slack', chat: 'D1' };
  const reader = { menu: 'menu', say: sayIn(undefined), conversation, write };
  const all = toolsView([lamp], reader).text;
  assert.match(all, /write `\/ask settings TOOL`\. To set a value, write `\/ask settings TOOL KEY VALUE`\.$/);
  const one = toolView(lamp, layered, reader).text;
  assert.match(one, /`\/ask settings lamp KEY VALUE` sets one in this chat\./);
});

test('X3 H14 an answer to a message that asked for a value is known in every language, and nothing else is', () => {
  const asked = 'Or write the value as a reply to this message, such as {0}, within 10 minutes.';
  const answering = (text: string, own = true): boolean =>
    answersAsking(makeMessage({ replyTo: { own, name: 'Skillet', text } }));
  for (const language of [undefined, ...languages]) {
    const view = `Room in this chat\n\n${sayIn(language)(asked, 'kitchen')} More.`;
    assert.ok(answering(view), language);
    assert.ok(!answering(view, false), 'somebody else said it');
    assert.ok(!answering(sayIn(language)`Stopped.`));
  }
});
