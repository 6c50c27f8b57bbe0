import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { toFilled, toFormView } from '../../src/channels/slack/form-view.ts';
import type { Form } from '../../src/core/form.ts';
import { toolSettings } from '../../src/core/tool-settings.ts';
import { checkView } from '../servers/slack/check-view.ts';

const conversation = { channel: 'slack', chat: 'C1', thread: '1.2' };
const me = { team: 'T1', user: 'UBOT', command: '/skill' };
const form = (fields: Form['fields'], more: Partial<Form> = {}): Form => ({
  title: 'Lamp',
  text: 'What is set here.',
  action: 'set:x:t:y:0',
  conversation,
  fields,
  words: { save: 'Speichern', cancel: 'Abbrechen', on: 'An', off: 'Aus' },
  ...more,
});

test('X3 H4 a form that is too long in every respect still opens', () => {
  const many = Object.fromEntries(
    Array.from({ length: 130 }, (_, n) => [
      `key_${n}`,
      z
        .string()
        .max(9_000)
        .default('é'.repeat(2_500))
        .meta({ title: '💡'.repeat(30), placeholder: 'p'.repeat(100) }),
    ]),
  );
  const options = z.enum(Array.from({ length: 100 }, (_, n) => `${n}${'o'.repeat(70)}`));
  const { fields } = toolSettings(
    z.object({ choice: options.default(`3${'o'.repeat(70)}`), some: z.array(options).default([]), ...many }),
  );
  const view = toFormView(
    form(
      fields.map((field) => ({
        field,
        ...(field.default === undefined ? {} : { value: field.default }),
        hint: 'h'.repeat(5_000),
      })),
      { title: 'T'.repeat(80), text: 't'.repeat(9_000) },
    ),
  );
  assert.deepEqual(checkView(view), []);
});

test('X3 H9 the test server refuses what Slack refuses in a modal', () => {
  const good = toFormView(form([{ field: toolSettings(z.object({ a: z.string() })).fields[0]!, hint: 'h' }]));
  assert.deepEqual(checkView(good), []);
  const { submit: _, ...noSubmit } = good;
  const blocks = good['blocks'] as readonly object[];
  for (const [bad, why] of [
    [noSubmit, /must define `submit`/],
    [{ ...good, title: { type: 'plain_text', text: 'x'.repeat(25) } }, /less than 25/],
    [{ ...good, private_metadata: 'x'.repeat(3_001) }, /less than 3001/],
    [{ ...good, blocks: [...blocks, ...blocks] }, /block_id must be unique/],
    [{ ...good, blocks: Array.from({ length: 101 }, () => ({ type: 'divider' })) }, /no more than 100/],
    [{ ...good, type: 'home' }, /unsupported type/],
  ] as const)
    assert.match(checkView(bad).join(), why);
});

test('X3 S6 a form that is not ours, or mangled, is none', () => {
  const view = {
    callback_id: 'skillet:form',
    private_metadata: '["set:x:t:y:0","C1","1.2"]',
    state: {
      values: {
        a: { 'skillet:value': { type: 'plain_text_input', value: 'one' } },
        b: { other: { value: 'x' } },
      },
    },
  };
  const payload = (change: object) => ({
    type: 'view_submission',
    trigger_id: '1.2.3',
    user: { id: 'U1', name: 'anna', team_id: 'T1' },
    view: { ...view, ...change },
  });
  const filled = toFilled(payload({}), me);
  assert.deepEqual(filled?.values, { a: 'one' });
  assert.deepEqual(filled.conversation, conversation);
  assert.equal(filled.external, false);
  for (const odd of [
    payload({ callback_id: 'other' }),
    payload({ private_metadata: 'no JSON' }),
    payload({ private_metadata: '["a"]' }),
    { ...payload({}), user: {} },
    { type: 'view_closed' },
    null,
  ])
    assert.equal(toFilled(odd, me), undefined);
  assert.equal(toFilled({ ...payload({}), user: { id: 'U2', team_id: 'T2' } }, me)?.external, true);
});

test('H14 every word of a form is in the language of who opens it', () => {
  const { fields } = toolSettings(z.object({ lit: z.boolean() }));
  const view = JSON.stringify(toFormView(form([{ field: fields[0]!, hint: 'Ja oder nein.' }])));
  for (const word of ['Speichern', 'Abbrechen', 'An', 'Aus'])
    assert.ok(view.includes(`"text":"${word}"`), word);
  assert.doesNotMatch(view, /Save|Cancel|"On"|"Off"/);
});
