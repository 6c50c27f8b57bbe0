import type { DeniedSkill } from './use-skill.ts';
import type { Log } from '../lib/log.ts';
import { placeOf } from '../audit/audit-call.ts';
import type { Audit } from '../audit/create-audit.ts';

/** Tells log and audit of a skill that was refused (A8, L6). */
export function createReportDenial(options: { audit: Pick<Audit, 'record'>; log: Log }) {
  const { audit, log } = options;
  return ({ skill, code, reason, requester }: DeniedSkill): void => {
    log.info({ skill, code, reason, sender: requester.sender }, 'a skill was denied');
    void audit.record({ event: 'skill_refused', ...placeOf(requester), skill, code });
  };
}
