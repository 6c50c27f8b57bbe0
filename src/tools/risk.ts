import type { Risk, Tool } from '../core/tool.ts';

/** How much harm a call of this tool could do: as declared, else worked out from its traits, `critical` never (T7). */
export function riskOf({ risk, traits }: Pick<Tool, 'risk' | 'traits'>): Risk {
  if (risk !== undefined) return risk;
  if (!traits.sideEffects) return 'safe';
  return traits.requiresNetwork || traits.requiresFilesystem ? 'dangerous' : 'moderate';
}

/** Whether commands and scripts can reach anything outside. */
export function reachesOutside(sandbox: Readonly<{ mode: string; reachesNetwork: boolean }>): boolean {
  return sandbox.mode === 'off' || sandbox.reachesNetwork;
}

/** The risk of commands and scripts: a sandbox without network can touch only its own folders (T7). */
export function riskInSandbox(sandbox: Readonly<{ mode: string; reachesNetwork: boolean }>): Risk {
  if (sandbox.mode === 'off') return 'critical';
  return sandbox.reachesNetwork ? 'dangerous' : 'moderate';
}
