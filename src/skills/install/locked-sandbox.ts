import type { Skill } from '../../core/skill.ts';
import type { Sandbox, SandboxRequest } from '../../sandbox/sandbox.ts';
import { checkPinned, pinBroken } from './lock-check.ts';

/**
 * The same sandbox, which runs a command of an installed skill only where its folder holds exactly what was agreed to at
 * that moment, every file hashed anew (D6). For any other skill it is the sandbox itself.
 */
export function lockedSandbox(sandbox: Sandbox, { pin }: Pick<Skill, 'pin'>): Sandbox {
  if (pin === undefined) return sandbox;
  const checked = async <Outcome>(
    { skillDirectory }: Pick<SandboxRequest, 'skillDirectory'>,
    use: () => Promise<Outcome>,
  ): Promise<Outcome | Readonly<{ status: 'unavailable'; message: string }>> => {
    const problem = skillDirectory === undefined ? undefined : checkPinned(skillDirectory, pin);
    return problem === undefined ? use() : { status: 'unavailable', message: pinBroken(pin, problem) };
  };
  const { shell } = sandbox;
  return {
    ...sandbox,
    run: (request) => checked(request, () => sandbox.run(request)),
    ...(shell === undefined ? {} : { shell: (request) => checked(request, () => shell(request)) }),
  };
}
