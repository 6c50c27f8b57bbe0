import { rmSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { readAddress } from '../../src/config/source-address.ts';
import {
  installLimits,
  type InstallLimits,
  type SourceSnapshot,
} from '../../src/skills/install/install-source.ts';
import { readOffers, type Offers } from '../../src/skills/install/install-offers.ts';
import { openSource } from '../../src/skills/install/git-source.ts';
import { makeRoot } from '../skills/make-root.ts';

export type OfferOptions = Readonly<{
  ref?: string;
  limits?: Partial<InstallLimits>;
  env?: Readonly<Record<string, string | undefined>>;
  signal?: AbortSignal;
  wanted?: (name: string) => boolean;
}>;

/** Opens a source as the command line would, in a quarantine of its own. */
export async function openForTest(
  t: TestContext,
  address: string,
  options: OfferOptions = {},
): Promise<SourceSnapshot & Readonly<{ quarantine: string }>> {
  const read = readAddress(address, { cwd: '/', home: '/nobody' });
  if (!read.ok) throw new Error(read.problem);
  const quarantine = path.join(makeRoot(t), 'quarantine');
  t.after(() => rmSync(quarantine, { recursive: true, force: true }));
  const snapshot = await openSource({
    address: read.address,
    ...(options.ref === undefined ? {} : { ref: options.ref }),
    quarantine,
    limits: { ...installLimits, ...options.limits },
    signal: options.signal ?? new AbortController().signal,
    progress: () => undefined,
    env: options.env ?? { PATH: process.env['PATH'] },
  });
  return { ...snapshot, quarantine };
}

/** What a source offers. */
export async function offerSkills(
  t: TestContext,
  address: string,
  options: OfferOptions = {},
): Promise<Offers> {
  const snapshot = await openForTest(t, address, options);
  const { wanted } = options;
  const offers = await readOffers(snapshot, {
    limits: { ...installLimits, ...options.limits },
    strict: false,
    ...(wanted === undefined ? {} : { wanted }),
  });
  snapshot.close();
  return offers;
}
