import type { MarkdownBlock, Inline } from '../../src/lib/markdown/document.ts';
import { parseMarkdown } from '../../src/lib/markdown/parse-markdown.ts';
import type { SlackServer } from '../../test/servers/slack/start-slack-server.ts';
import type { SlackUser, StoredMessage } from '../../test/servers/slack/workspace.ts';
import type { Shown, Span } from './draw.ts';

type Json = Readonly<Record<string, unknown>>;

const marks: Readonly<Record<string, string>> = { pending: '…', in_progress: '◌', complete: '✓', error: '✗' };

/** A message of the bot as the Slack server received it. */
export function shownOnSlack(
  { text, blocks = [], threadTs, files = [] }: Pick<StoredMessage, 'text' | 'blocks' | 'threadTs' | 'files'>,
  at: string,
): Shown {
  const markdown = blocks.flatMap((block) => (block['type'] === 'markdown' ? [String(block['text'])] : []));
  const buttons = blocks
    .filter((block) => block['type'] === 'actions')
    .flatMap((block) => (block['elements'] as readonly Json[]).map(labelOf));
  return {
    who: 'Skillet',
    isBot: true,
    at,
    spans: spansOf(parseMarkdown(markdown.length === 0 ? text : markdown.join('\n\n')).children),
    ...(threadTs === undefined ? {} : { inThread: true }),
    ...(buttons.length === 0 ? {} : { buttons }),
    ...(files.length === 0 ? {} : { files: files.map((file) => ({ name: String(file['name']) })) }),
  };
}

/** What the Slack server showed to one person alone. */
export function shownAlone(ephemeral: Json, at: string): Shown {
  return shownOnSlack(ephemeral as Pick<StoredMessage, 'text' | 'blocks' | 'threadTs'>, at);
}

/** Presses `Details` of a question, and returns what this person alone sees then. */
export async function openDetailsOnSlack(
  { people, shown }: SlackServer,
  person: SlackUser,
  question: StoredMessage,
): Promise<Json> {
  await people.press(person, question, 'Details');
  return shown.until(
    ({ kind, user, text }) => kind === 'ephemeral' && user === person.id && /wants to use/.test(String(text)),
  );
}

/** The plan of a message, as people see it at this moment. */
export function planOnSlack({ plan, threadTs }: StoredMessage, at: string): Shown {
  const steps = (plan?.tasks ?? []).map(({ title, status }) => `\n${marks[status] ?? '?'} ${title}`);
  const spans = [{ text: plan?.title ?? '', style: 'bold' as const }, { text: steps.join('') }];
  return { ...shownOnSlack({ text: '', threadTs }, at), spans };
}

function labelOf(button: Json): string {
  return (button['text'] as Readonly<{ text: string }>).text;
}

function spansOf(blocks: readonly MarkdownBlock[]): readonly Span[] {
  return blocks.flatMap((block, index) => [...(index === 0 ? [] : [{ text: '\n' }]), ...spansOfBlock(block)]);
}

function spansOfBlock(block: MarkdownBlock): readonly Span[] {
  switch (block.type) {
    case 'paragraph':
      return block.children.flatMap((each) => spansOfInline(each));
    case 'heading':
      return block.children.flatMap((each) => spansOfInline(each, 'bold'));
    case 'code':
      return [{ text: block.value, style: 'code' }];
    case 'blockquote':
      return [{ text: '▏ ', style: 'faint' }, ...spansOf(block.children)];
    case 'list':
      return block.children.flatMap((item, index) => [
        ...(index === 0 ? [] : [{ text: '\n' }]),
        { text: block.ordered ? `${(block.start ?? 1) + index}. ` : '• ' },
        ...spansOf(item.children),
      ]);
    case 'table':
      return block.children.flatMap((row, index) => [
        ...(index === 0 ? [] : [{ text: '\n' }]),
        ...row.children.flatMap((cell, at) => [
          ...(at === 0 ? [] : [{ text: '  |  ', style: 'faint' as const }]),
          ...cell.children.flatMap((each) => spansOfInline(each, index === 0 ? 'bold' : undefined)),
        ]),
      ]);
    case 'thematicBreak':
      return [{ text: '———', style: 'faint' }];
  }
}

function spansOfInline(inline: Inline, outer?: Span['style']): readonly Span[] {
  switch (inline.type) {
    case 'text':
      return [{ text: inline.value, ...(outer === undefined ? {} : { style: outer }) }];
    case 'inlineCode':
      return [{ text: inline.value, style: 'code' }];
    case 'break':
      return [{ text: '\n' }];
    case 'link':
      return inline.children.flatMap((each) => spansOfInline(each, 'link'));
    case 'strong':
      return inline.children.flatMap((each) => spansOfInline(each, outer ?? 'bold'));
    case 'emphasis':
      return inline.children.flatMap((each) => spansOfInline(each, outer ?? 'italic'));
    case 'delete':
      return inline.children.flatMap((each) => spansOfInline(each, outer ?? 'strike'));
  }
}
