import { readAuthAnswer } from '../../../src/accounts/read-auth-answer.ts';
import { findCredential } from '../../../src/features/capabilities/capability-checks.ts';
import { addressesIn, addressOf, parseAddressed, parseCommand } from '../../../src/core/message.ts';
import { labelled } from '../../../src/lib/text/escape-labels.ts';
import { searchWords } from '../../../src/lib/text/search-words.ts';
import { createRedaction } from '../../../src/lib/redaction/redact.ts';
import { oneLine, printable, inlineCode, codeBlock, displayWidth } from '../../../src/lib/text/text.ts';
import { parseMarkdown } from '../../../src/lib/markdown/parse-markdown.ts';
import { splitMarkdown } from '../../../src/lib/markdown/split-markdown.ts';
import { sanitizeMarkdown, safeParts, withoutControls } from '../../../src/lib/markdown/sanitize-markdown.ts';
import { escapeMarkdown } from '../../../src/lib/markdown/write-markdown.ts';
import * as telegram from '../../../src/channels/telegram/from-markdown.ts';
import { readMessageText } from '../../../src/channels/telegram/message-parts.ts';
import * as slack from '../../../src/channels/slack/from-markdown.ts';
import { slackCaptionFits as slackCaptionFits } from '../../../src/channels/slack/files.ts';
import { plainSlackText, slackName } from '../../../src/channels/slack/plain-text.ts';
import { safeLine, toAnsi } from '../../../src/channels/terminal/from-markdown.ts';
import { fetchedTools } from '../../../src/sandbox/packages/script-packages.ts';
import { compareLines } from '../../../src/skills/install/install-compare.ts';
import { defaultDescription, parseSkill } from '../../../src/skills/parse/parse-skill.ts';
import { fillArguments, splitArguments } from '../../../src/skills/registry.ts';
import { searchSkills } from '../../../src/core/search-skills.ts';
import { slugOf } from '../../../src/core/skill.ts';
import { readFrontMatter } from '../../../src/skills/parse/front-matter.ts';
import { isAccessLine, splitTools } from '../../../src/skills/parse/read-values.ts';
import { validateSkill } from '../../../src/skills/parse/validate-skill.ts';
import { adviseOn } from '../../../src/tools/built-in/advise.ts';
import { answerCommand } from '../../../src/tools/built-in/run-command.ts';
import { readAllowedEntry } from '../../../src/tools/allowed-entry.ts';
import { matchesGlob } from '../../../src/tools/policy.ts';
import { mcpToolName } from '../../../src/features/mcp/mcp-tool.ts';
import { readResult } from '../../../src/features/mcp/read-result.ts';
import { strangerText } from '../../../src/features/mcp/clean-schema.ts';
import { splitLines } from '../../../src/features/mcp/process-transport.ts';
import { html } from '../../../src/lib/text/html.ts';
import { decodePage } from '../../../src/tools/web/decode-page.ts';
import { pageToMarkdown } from '../../../src/tools/web/page-to-markdown.ts';
import { reduceHtml } from '../../../src/tools/web/reduce-html.ts';
import { reasonOf } from '../../../src/tools/record-call.ts';
import { parseSimpleCommand } from '../../../src/tools/own-script.ts';
import { capOutput } from '../../../src/sandbox/limits/cap-output.ts';
import { fileName } from '../../../src/replies/artifacts.ts';
import { claimedToken } from '../../../src/access/pairing.ts';
import { ownCommandRows } from '../../../src/conversations/own-commands.ts';
import { commandTable } from '../../../src/core/chat-commands.ts';
import { resolveCommand } from '../../../src/conversations/judge-message.ts';
import { describeCall, describeInShort } from '../../../src/features/approvals/approval-question.ts';
import { argumentsIn, ownWords, bestSection } from '../../../src/agent/models/offline-model.ts';
import { markupOf } from '../../../src/channels/slack/to-message.ts';
import { scriptCommand } from '../../../src/sandbox/script-command.ts';
import { createCountValues } from '../../../src/lib/json/json-values.ts';
import { names, withoutQuotes } from '../../../src/store/forget-entries.ts';
import { sayIn } from '../../../src/core/texts/say.ts';
import { originIn, sourceOf, wordsIn } from '../../../src/access/own-words.ts';
import { makeMessage } from '../make-message.ts';
import { noArtifact } from '../no-files.ts';
import { documents } from './documents.ts';

/** A function that meets text of others, and the longest text that can reach it: 1 MB where nothing cuts before. */
export type Reads = Readonly<{ name: string; most: number; parses?: true; run(text: string): unknown }>;

const mega = 1_000_000;
/** Joined Telegram messages, or one of Slack. */
const message = 40_000;
/** Files of a skill, and input of a tool. */
const skill = 200_000;
/** What is read of an MCP server's answer. */
const answer = 200_000;
/** What is left of it before anything else looks at it, what a model answers, and what a page gives to be converted. */
const tenth = 100_000;
/** What one parser is given, and what a message of each platform takes. */
const stretch = 12_000;
const telegramPiece = 4_096;
const slackPiece = 12_000;

const redaction = createRedaction([{ name: 'KEY', value: 'correct horse battery staple' }]);

/** It takes long for any text: it is tried with fewer. */
function parser(name: string, most: number, run: (text: string) => unknown): Reads {
  return { ...of(name, most, run), parses: true };
}

function of(name: string, most: number, run: (text: string) => unknown): Reads {
  return { name, most, run };
}

const skillFile = (text: string): Parameters<typeof parseSkill>[0] => ({
  path: '/s/a/SKILL.md',
  directory: '/s/a',
  origin: 'user',
  bytes: Buffer.from(text),
  cut: false,
});
const exited = { status: 'exited', exitCode: 1, truncated: false } as const;
const ofTool = { server: 'a', tool: 'b', redact: redaction.text, artifact: noArtifact };
const anybody = {
  chatType: 'private',
  chatIds: ['telegram:42'],
  external: false,
  sender: 'telegram:42',
  by: 'person',
} as const;

const typed = (content: string) =>
  ({ kind: 'user', item: 'a', sender: 'telegram:42', content, at: 1 }) as const;

/** The same text typed and on a page. */
const heardIn = (text: string) => [
  typed(text),
  { kind: 'tool_result', toolUseId: 'a', content: text, isError: false, at: 1 } as const,
];

/** Typed with a quote that gives nothing to ask about. */
const manyEntries = Array.from({ length: 10_000 }, () => typed('tea\n<quote>\ntea\n</quote>'));

export const foreignText: readonly Reads[] = [
  ...documents,
  of('labelled', mega, (text) => labelled('output', text)),
  of('label attribute', mega, (text) => labelled('output', '', { from: text })),
  of('oneLine', mega, (text) => oneLine(text, 80)),
  of('addressesIn', mega, addressesIn),
  of('addressOf', 4_000, addressOf),
  of('parseCommand', mega, parseCommand),
  of('parseAddressed', mega, parseAddressed),
  of('bestSection', skill, (text) => bestSection([text], 'how many dice are there')),
  of('bestSection words', message, (text) => bestSection(['# Dice\nThey roll.'], text)),
  of('markupOf', message, (text) => markupOf({ blocks: [{ elements: [{ text }] }] })),
  of('scriptCommand', skill, (text) => scriptCommand('a', text)),
  of('scriptCommand first line', skill, (text) => scriptCommand('a.py', `#!${text}`)),
  of('isAccessLine', skill, isAccessLine),
  of('adviseOn', mega, (text) =>
    adviseOn({
      stdout: text,
      stderr: `bash: ${text}`,
      exitCode: 1,
      command: text,
      skill: { directory: '/nowhere' },
    }),
  ),
  of('createCountValues', mega, (text) => createCountValues()(text)),
  of('redact text', mega, redaction.text),
  of('redact bytes in parts', mega, (text) => {
    const parts = redaction.bytesInParts();
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 10_000) parts.push(bytes.subarray(at, at + 10_000));
    return parts.end();
  }),
  of('readAuthAnswer', mega, readAuthAnswer),
  of('findCredential', mega, findCredential),
  of('safeParts', 32_000, safeParts),
  parser('tameMarkdown', tenth, sanitizeMarkdown),
  parser('parseMarkdown', stretch, parseMarkdown),
  of('withoutControls', mega, withoutControls),
  of('escapeMarkdown', message, escapeMarkdown),
  of('displayWidth', 10_000, displayWidth),
  parser('splitMarkdown for Telegram', stretch, (text) => splitMarkdown(text, telegram.telegramFits)),
  parser('toTelegramHtml', telegramPiece, telegram.toTelegramHtml),
  parser('captionFits of Telegram', telegramPiece, telegram.telegramCaptionFits),
  parser('splitMarkdown for Slack', stretch, (text) => splitMarkdown(text, slack.slackFits)),
  parser('toSlackMessage', slackPiece, slack.toSlackMessage),
  parser('toSlackMarkdown of a table', telegramPiece, (text) =>
    slack.toSlackMarkdown(`| a |\n| - |\n${text.replaceAll('\n', ' ').replace(/.{20}/gs, '| $& |\n')}`),
  ),
  parser('splitMarkdown of a table of plain cells', stretch, (text) =>
    splitMarkdown(
      `| a |\n| - |\n${text.replace(/[^a-z]/g, 'x').replace(/.{20}/gs, '| $& |\n')}`,
      slack.slackFits,
    ),
  ),
  parser('captionFits of Slack', slackPiece, slackCaptionFits),
  parser('toAnsi', stretch, (text) => toAnsi(text, { colour: true, width: 80 })),
  of('safeLine', mega, safeLine),
  of('plainSlackText', mega, (text) => plainSlackText(text, 'U1')),
  of('shownName', mega, slackName),
  of('readText', 25_000, (text) =>
    readMessageText(
      text,
      Array.from({ length: 100 }, (_, at) => ({ type: 'mention', offset: at * 8 + 1, length: 4 })),
      { id: 1, username: text.slice(2, 5) },
    ),
  ),
  of('readFrontMatter', mega, readFrontMatter),
  of('parseSkill', mega, (text) => parseSkill(skillFile(text))),
  of('parseSkill front matter', 8_000, (text) => parseSkill(skillFile(`---\n${text}\n---\nBody`))),
  of('parseSkill description', 8_000, (text) =>
    parseSkill(skillFile(`---\nname: a\ndescription: ${text}\n---\nBody`)),
  ),
  parser('validateSkill strict', 8_000, (text) =>
    validateSkill(
      { path: '/s/a/SKILL.md', directory: '/s/a', bytes: Buffer.from(`---\n${text}\n---\nBody`) },
      {
        strict: true,
      },
    ),
  ),
  of('defaultDescription', mega, defaultDescription),
  of('fillArguments body', mega, (text) => fillArguments(text, 'a b', { skillPath: '/skill' })),
  of('fillArguments args', message, (text) => fillArguments('$ARGUMENTS', text, { skillPath: '/skill' })),
  of('splitArguments', message, splitArguments),
  of('splitTools', 8_000, splitTools),
  of('readAllowedEntry', 8_000, (text) => readAllowedEntry(`Bash(${text})`)),
  of('compareLines', skill, (text) => compareLines(text, `${text}\nmore`)),
  of('printable', message, printable),
  of('slugOf', 8_000, slugOf),
  of('searchWords', mega, searchWords),
  of('searchSkills', message, (text) =>
    searchSkills([{ name: 'dice', description: 'Rolls dice.', tags: [] }], text),
  ),
  of('matchesGlob', mega, (text) => matchesGlob('mcp_*_a*b', text)),
  of('matchesGlob pattern', 8_000, (text) => matchesGlob(text, text.slice(0, 100))),
  of('parseSimpleCommand', mega, parseSimpleCommand),
  of('fetchedTools', mega, (text) => fetchedTools(`uvx ${text}`)),
  of('answerCommand', mega, (text) => answerCommand('it', { ...exited, stdout: text, stderr: text }, 1)),
  of('mcpToolName', tenth, (text) => mcpToolName('a', text)),
  of('strangerText', tenth, (text) => strangerText(text, 1_000)),
  of('splitLines', mega, (text) => splitLines(4_000_000)(Buffer.from(text))),
  of('readResult', mega, (text) => readResult({ content: [{ type: 'text', text }] }, ofTool)),
  of('readResult structured', mega, (text) => readResult({ structuredContent: { text } }, ofTool)),
  of('readResult link', answer, (text) =>
    readResult({ content: [{ type: 'resource_link', uri: text, name: text, mimeType: text }] }, ofTool),
  ),
  of('decodePage', mega, (text) => decodePage(Buffer.from(text), undefined, true)),
  of('reduceHtml', mega, (text) => reduceHtml(text, 'https://example.com/')),
  of('pageToMarkdown', mega, (text) => pageToMarkdown(text, 'https://example.com/')),
  of('pageToMarkdown in pre', tenth, (text) => pageToMarkdown(`<pre>${text}</pre>`, 'https://example.com/')),
  of('reasonOf', mega, (text) => reasonOf(new Error(text), (same) => same)),
  of('capOutput', mega, (text) => capOutput(text, 1_000)),
  of('codeBlock', message, codeBlock),
  of('inlineCode', mega, inlineCode),
  of('html of the dashboard', mega, (text) => html`<p>${text}</p>`),
  of('fileName', tenth, fileName),
  of('claimedToken', mega, (text) => claimedToken({ text })),
  of('resolveCommand', message, (text) =>
    resolveCommand(
      makeMessage({ command: { name: 'skill', args: text } }),
      { commands: commandTable([ownCommandRows]), registry: { get: () => undefined } },
      { enabled: true, defaults: {}, skills: new Map() },
      anybody,
      { toOwner: false },
    ),
  ),
  of('describeCall', message, (text) => describeCall('bash', { command: text }, 'a', sayIn(undefined))),
  of('describeInShort', message, (text) => describeInShort('bash', { command: text }, 'a', sayIn(undefined))),
  of('argumentsIn', message, argumentsIn),
  of('ownWords', mega, (text) => ownWords(labelled('message', text))),
  of('wordsIn', mega, (text) => wordsIn(typed(text))),
  of('wordsIn label', mega, (text) => wordsIn(typed(`<message ${text}>\n</message>`))),
  of('wordsIn attributes', mega, (text) => wordsIn(typed(`<message${` a="${text}"`.repeat(2)}`))),
  parser('sourceOf', mega, (text) => sourceOf(text, heardIn(text), 'telegram:42')),
  parser('originIn', mega, (text) => originIn(text, manyEntries, 'telegram:42')),
  of('forget names', mega, (text) => names(text, 'telegram:42')),
  of('forget quotes', tenth, (text) => withoutQuotes(labelled('quote', text, { from: text }), () => true)),
];
