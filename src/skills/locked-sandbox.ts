import type { Skill } from '../core/skill.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { checkPinned, pinBroken } from './lock-check.ts';

/**
 * The same sandbox, which runs a command of an installed skill only where its folder holds exactly what was agreed to at
 * that moment, every file hashed anew (D6). For any other skill it is the sandbox itself.
 */
export function lockedSandbox(sandbox: Sandbox, { pin }: Pick<Skill, 'pin'>): Sandbox {
  if (pin === undefined) return sandbox;
  return {
    ...sandbox,
    async run(request) {
      const { skillDirectory } = request;
      const problem = skillDirectory === undefined ? undefined : checkPinned(skillDirectory, pin);
      if (problem !== undefined) return { status: 'unavailable', message: pinBroken(pin, problem) };
      return sandbox.run(request);
    },
  };
}
