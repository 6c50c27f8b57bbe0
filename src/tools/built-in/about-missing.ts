import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Skill } from '../../core/skill.ts';
import { packageOf, pythonPackageOf } from '../../sandbox/packages/debian-packages.ts';
import type { SandboxOutput } from '../../sandbox/sandbox.ts';

/** What brings the Python module or the program that a command did not find (R5); empty where it says of none. */
export function aboutMissing(
  { stdout, stderr }: Pick<SandboxOutput, 'stdout' | 'stderr'>,
  skill: Partial<Pick<Skill, 'directory'>> = {},
): string {
  const said = `${stderr}\n${stdout}`;
  const module = /(?:^|\W)(?:ModuleNotFoundError|python3?): No module named '?([\w.]{1,100})/.exec(said)?.[1];
  if (module !== undefined) return aboutModule(module, skill.directory);
  // As Debian's sh says it, and bash.
  const program = /\b(?:ba)?sh: (?:(?:line )?\d{1,9}: )?([\w.+-]{1,60}): (?:command )?not found$/m.exec(
    said,
  )?.[1];
  if (program !== undefined && fetches.has(program))
    return `. The program ${program} is not there: a command's tools come from PyPI only where the SKILL.md calls them by uvx in the same words. ${byUv}`;
  const brings = program === undefined ? undefined : packageOf(program);
  return brings === undefined ? '' : `. The program ${program} is not there. ${toInstall(brings)}`;
}

function aboutModule(module: string, directory: string | undefined): string {
  const [top = ''] = module.split('.');
  const own =
    directory !== undefined && [top, `${top}.py`].some((name) => existsSync(path.join(directory, name)));
  if (own)
    return `. Python looks for ${module} in the working folder, and it lies in the skill's: change there first`;
  const brings = pythonPackageOf(module);
  const how = brings === undefined ? `No Debian package is known to bring it. ${byUv}` : toInstall(brings);
  return `. Python has no module ${module} here. ${how}`;
}

/** What skills of other systems have a tool of PyPI fetched and run by. */
const fetches: ReadonlySet<string> = new Set(['uvx', 'uv', 'pipx']);
const byUv =
  'A Python script gets what comes from PyPI where a "# /// script" header lists it in dependencies and the operator has installed uv';

function toInstall(name: string): string {
  return `The operator installs it: apt-get install ${name} on the bot's system, or, where a root file system is built, packages: [${name}] in the SKILL.md and skillet sandbox build`;
}
