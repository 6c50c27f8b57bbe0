import { claudeModel, type ThinkingKind } from '../core/claude-models.ts';
import { modelOfAlias } from './model-aliases.ts';
import type { WrittenModels } from './model-sections.ts';

type Complain = (path: readonly string[], write: string) => void;
type Alias = WrittenModels['aliases'][string];

/** Complains of settings that the chosen model, or the server it is asked at, is known to refuse (M14). */
export function checkModelSettings({ models }: Readonly<Record<string, unknown>>, complain: Complain): void {
  const { aliases = {} } = (models ?? {}) as Partial<WrittenModels>;
  for (const [name, alias] of Object.entries(aliases)) {
    if (typeof alias !== 'object') continue;
    const say = (key: string, write: string): void => complain(['models', name, key], write);
    checkThinking(modelOfAlias(name, alias), alias, say);
    const wrong = alias.baseUrl === undefined ? undefined : wrongAddress(alias.baseUrl);
    if (wrong !== undefined) say('base_url', wrong);
  }
}

function checkThinking(
  model: string,
  { thinking, effort }: Alias,
  say: (key: string, write: string) => void,
): void {
  const known = claudeModel(model);
  if (known === undefined) return;
  const kind: ThinkingKind | undefined = typeof thinking === 'number' ? 'budget' : thinking;
  if (kind !== undefined && !known.thinking.includes(kind)) {
    const may = known.thinking.map((each) => (each === 'budget' ? 'a number of tokens' : `"${each}"`));
    say('thinking', `${model} refuses that: write ${may.join(' or ')}, or remove the line`);
  }
  if (effort === undefined) return;
  if (!known.efforts.includes(effort)) {
    const may = known.efforts.map((each) => `"${each}"`).join(', ');
    say('effort', `${model} refuses that: ${may === '' ? 'remove the line' : `write one of ${may}`}`);
  } else if (known.bindsThinking && kind !== undefined && kind !== 'adaptive' && isHard(effort)) {
    say(
      'effort',
      `${model} refuses that with thinking = "${kind}": write "high" or less, or thinking = "adaptive"`,
    );
  }
}

function isHard(effort: string): boolean {
  return effort === 'xhigh' || effort === 'max';
}

/** Servers with another protocol. */
const foreign: readonly string[] = ['api.openai.com', 'generativelanguage.googleapis.com'];

function wrongAddress(baseUrl: string): string | undefined {
  const { hostname, pathname } = new URL(baseUrl);
  if (foreign.includes(hostname)) {
    return 'this server does not speak the Anthropic Messages API: put a gateway that does before it, such as LiteLLM';
  }
  if (!/\/v1(\/messages)?\/?$/.test(pathname)) return undefined;
  const written = baseUrl.replace(/\/v1(\/messages)?\/?$/, '');
  return `leave out /v1, which the bot adds itself: write "${written}"`;
}
