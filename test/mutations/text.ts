import { changesOf } from './changes-of.ts';
import type { Mutation } from './mutation.ts';

const label = { file: 'lib/text/escape-labels.ts', test: 'lib/escape-labels.test.ts' } as const;

/** Labels that nobody can forge (M11). */
export const textMutations: readonly Mutation[] = [
  ...changesOf('skills/parse/parse-yaml.ts', 'skills/parse-skill.test.ts', [
    ['front matter is nested one deeper', 'depth >= depthLimit', 'depth > depthLimit'],
    ['front matter is nested one less', 'depth >= depthLimit', 'depth >= depthLimit - 1'],
    ['aliases are read', 'if (library.isAlias(node))', 'if (false)'],
    ['tags are read', 'if (node.tag !== undefined) return', 'if (false) return'],
    ['a key that is given twice counts once', 'if (entries.has(key.text))', 'if (false)'],
  ]),
  ...changesOf('lib/markdown/parse-markdown.ts', 'channels/from-markdown-telegram.test.ts', [
    ['marks beside punctuation do not open', 'if (free && !closing', 'if (false && !closing'],
    ['marks beside punctuation do not close', '(free && !opening.test(before)) ||', ''],
    ['the end of a phrase does not close', '(phraseEnd.test(before) && /\\p{L}/u.test(after))', 'false'],
    ['products are marks', 'sequence._open = sequence._close = false;', ''],
  ]),
  ...changesOf('lib/markdown/write-markdown.ts', 'channels/from-markdown-slack.test.ts', [
    ['punctuation stays in marks', '&& punctuation.test(inside)', '&& false'],
    ['brackets are torn apart', '(brackets && moves[1] === true)', 'false'],
    [
      'a link leaves its mark behind',
      'children: [{ type, children: node.children }]',
      'children: node.children',
    ],
  ]),
  ...changesOf('channels/telegram/from-markdown.ts', 'property/markdown-telegram.test.ts', [
    ['a name in a link is whole', ".replace(names, '@\\u2060')}</a>", '}</a>'],
    [
      'a name in a text is whole',
      'text: (value) => value.replace',
      'text: (value) => String(value) || value.replace',
    ],
  ]),
  ...changesOf('lib/markdown/sanitize-markdown.ts', 'channels/markdown-split.test.ts', [
    ['a heavy paragraph is not cut', 'cutAt(line.position);', ''],
    ['rows of a table count together', '(inTable || isTableHead(before, line))', 'false'],
  ]),
  { ...label, name: 'labels in upper case pass', find: "`, 'giu');", replace: "`, 'gu');" },
  { ...label, name: 'letters of a label may be apart', find: '[...label].join(unseen)', replace: 'label' },
  { ...label, name: 'a label that closes passes', find: '(?:/${unseen})?', replace: '' },
  {
    ...label,
    name: 'invisible characters before a label’s name',
    find: '`<(?=${unseen}(?:',
    replace: '`<(?=(?:',
  },
  {
    ...label,
    name: 'a text’s own labels stay',
    find: 'return enclose(label, escapeLabels(text), attributes);',
    replace: 'return enclose(label, text, attributes);',
  },
  { ...label, name: 'a quote ends an attribute', find: ".replace(/\"/g, '&quot;')", replace: '' },
  {
    ...label,
    name: 'an attribute opens a label',
    find: ".replace(/</g, '&lt;').replace(/>/g",
    replace: '.replace(/>/g',
  },
  {
    ...label,
    name: 'an attribute has several lines',
    find: "value.replace(/[\\s\\p{Cc}\\p{Cf}]+/gu, ' ').trim()",
    replace: 'value',
  },
  {
    ...label,
    name: 'a text that was cut is not made harmless',
    find: 'truncate(escapeLabels(cut.text), limit)',
    replace: 'truncate(cut.text, limit)',
  },
  {
    file: 'conversations/turn.ts',
    test: 'end-to-end/context-for-run.test.ts',
    name: 'a run is told of skills that its person may not know of',
    find: 'viewer: context.viewers?.requester }',
    replace: 'viewer: undefined }',
  },
  {
    file: 'runs/run-prompt.ts',
    test: 'runs/context-for-run.test.ts',
    name: 'work on the way is told to a run',
    find: 'if (entry.about !== undefined || entry.activeSkill !== undefined) return [];',
    replace: '',
  },
  {
    file: 'lib/text/escape-labels.ts',
    test: 'runs/context-for-run.test.ts',
    name: 'a cut leaves labels open',
    find: "return cut + open.join('');",
    replace: 'return cut;',
  },
];
