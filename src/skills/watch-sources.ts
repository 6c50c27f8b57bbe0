import { createHash } from 'node:crypto';
import type { Config } from '../config/complete-config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import type { SourceFinding } from './check-sources.ts';
import { inlineCode } from '../lib/text/text.ts';
import type { Replies } from '../replies/replies.ts';
import type { Say, Words } from '../core/texts/say.ts';
import { skilletHere } from '../core/skillet-here.ts';

const lookEveryMs = 60_000;

/**
 * If `auto_sync` is on, fetches all sources every `update_interval_minutes` and tells owners once about each change.
 * Installs nothing (D6). Resolves after `signal` aborts and git has ended.
 */
export async function watchSources(options: {
  config: () => Config;
  /** When sources were last looked at, and what owners were told, by data directory. */
  store: Store;
  replies: Replies;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}): Promise<void> {
  const { config, replies, env, clock, log, signal } = options;
  const stored = options.store.keyed('sources');

  async function lookIfDue(): Promise<void> {
    const inForce = config();
    const { skills, bot } = inForce;
    if (!skills.autoSync) return;
    const lookedKey = `looked:${bot.dataDir}`;
    const looked = Number((await stored.get(lookedKey)) ?? 0);
    const sinceMs = clock.now() - looked;
    // If the clock was set back, the sources are looked at now.
    if (sinceMs >= 0 && sinceMs < skills.updateIntervalMinutes * 60_000) return;
    const progress = (text: string): void =>
      log.debug({ progress: text }, 'looking at the sources of skills');
    // Imported only here, because most bots never fetch and compare sources.
    const { checkSources } = await import('./check-sources.ts');
    const findings = await checkSources({ config: inForce, signal, progress, env });
    for (const finding of findings) await report(finding, `told:${bot.dataDir}:${finding.source}`);
    await stored.set(lookedKey, clock.now());
  }

  async function report(finding: SourceFinding, key: string): Promise<void> {
    const { source } = finding;
    if (!finding.ok)
      return log.warn({ source, problem: finding.problem }, 'could not fetch a source of skills');
    const lines = changesOf(finding);
    const state = createHash('sha256')
      .update(JSON.stringify([lines, finding.changed]))
      .digest('hex');
    if ((await stored.get(key)) === state) return;
    log.info({ source, changes: lines.length }, 'checked a source of skills');
    if (lines.length > 0) {
      await replies.tellOwners(`sources:${state}`, (say) => {
        const told = say`The skill source ${inlineCode(source)} differs from what you approved. Nothing changed here.`;
        return `${told}\n\n${lines.map((line) => `- ${line(say)}`).join('\n')}`;
      });
    }
    await stored.set(key, state);
  }

  while (!signal.aborted) {
    try {
      await lookIfDue();
    } catch (error) {
      if (!signal.aborted) log.error({ err: error }, 'could not check the sources of skills');
    }
    await clock.sleep(lookEveryMs, signal).catch(() => undefined);
  }
}

function changesOf(
  finding: Extract<SourceFinding, { ok: true }>,
): readonly Extract<Words, (say: Say) => string>[] {
  const { agreed, changed, gone, others } = finding;
  if (!agreed) {
    const names = others.slice(0, 20).map(inlineCode).join(', ');
    const add = inlineCode(`${skilletHere()} skill add`);
    return [
      (say) =>
        names === ''
          ? say`Nobody has approved it yet, and it has no skills.`
          : say`Nobody has approved it yet, so its skills are off: ${names}. ${add} shows what they ask for.`,
    ];
  }
  return [
    ...changed.map(({ name, asksMore }) => (say: Say) => {
      const update = inlineCode(`${skilletHere()} skill update`);
      const more = asksMore.slice(0, 10).map(inlineCode).join(', ');
      return more === ''
        ? say`${inlineCode(name)} changed. ${update} shows the difference.`
        : say`${inlineCode(name)} changed and asks for more: ${more}. ${update} shows the difference.`;
    }),
    ...gone.map((name) => (say: Say) => say`${inlineCode(name)} is no longer offered there.`),
  ];
}
