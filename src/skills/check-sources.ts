import type { Config } from '../config/complete-config.ts';
import { OperatorError } from '../core/errors.ts';
import { compareSkill, isChanged } from './install/install-compare.ts';
import { installLimits, type InstallLimits } from './install/install-source.ts';
import { openSource } from './install/git-source.ts';
import { readBundleFiles } from './install/bundle-offers.ts';
import { readOffers } from './install/install-offers.ts';
import { contentHash } from './install/lock-file.ts';
import { quarantineFolder } from './install/install-skills.ts';
import { skillSources, type SkillSource } from './skill-sources.ts';

/** What a source offers now. Nothing of it is used before somebody approves it (D6). */
export type SourceFinding = Readonly<{ source: string; agreed: boolean }> &
  (
    | Readonly<{
        ok: true;
        commit?: string;
        /** Installed skills whose files differ now, and what they newly ask for. */
        changed: readonly Readonly<{
          name: string;
          content: string;
          asksMore: readonly string[];
        }>[];
        gone: readonly string[];
        others: readonly string[];
      }>
    | Readonly<{ ok: false; problem: string }>
  );

/**
 * Fetches all sources of config and lock and compares them with what is installed. Changes nothing. Throws the signal's
 * reason if that aborts.
 */
export async function checkSources(options: {
  config: Config;
  limits?: InstallLimits;
  signal: AbortSignal;
  progress: (text: string) => void;
  env: Readonly<Record<string, string | undefined>>;
}): Promise<readonly SourceFinding[]> {
  const findings: SourceFinding[] = [];
  for (const source of skillSources(options.config)) {
    const known = { source: source.source, agreed: source.locked !== undefined };
    try {
      findings.push({ ...known, ...(await checkSource(source, options)) });
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      findings.push({ ...known, ok: false, problem: error.message });
    }
  }
  return findings;
}

async function checkSource(
  { address, ref, locked }: SkillSource,
  { config, limits = installLimits, signal, progress, env }: Parameters<typeof checkSources>[0],
) {
  const { dataDir } = config.bot;
  const installed = locked?.skills ?? [];
  const snapshot = await openSource({
    address,
    ref,
    quarantine: quarantineFolder(dataDir),
    limits,
    signal,
    progress,
    env,
  });
  try {
    const wanted = (name: string): boolean => installed.some((skill) => skill.name === name);
    const { offers, others, bundles } = await readOffers(snapshot, {
      limits,
      strict: config.skills.strict,
      wanted,
    });
    const changed = installed.flatMap((skill) => {
      const offer = offers.find(({ name }) => name === skill.name);
      if (offer === undefined || !isChanged(skill, offer)) return [];
      return [
        {
          name: skill.name,
          content: contentHash(offer),
          asksMore: compareSkill(dataDir, skill, offer).asksMore,
        },
      ];
    });
    const kept = await readBundleFiles(snapshot, bundles, limits);
    const programs = (locked?.bundles ?? []).flatMap((bundle) => {
      const offer = kept.find((one) => one.offer?.name === bundle.name)?.offer;
      if (offer === undefined || !isChanged(bundle, offer)) return [];
      const { name } = bundle;
      return [{ name, content: contentHash(offer), asksMore: ['other files for its servers'] }];
    });
    const gone = [
      ...installed.filter(({ name }) => !offers.some((offer) => offer.name === name)),
      ...(locked?.bundles ?? []).filter(({ name }) => !kept.some(({ offer }) => offer?.name === name)),
    ].map(({ name }) => name);
    const { commit } = snapshot;
    return { ok: true as const, commit, changed: [...changed, ...programs], gone, others };
  } finally {
    snapshot.close();
  }
}
