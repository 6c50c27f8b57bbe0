import type { Config } from '../config/complete-config.ts';
import { isServed } from '../channels/terminal/control.ts';
import { doctorReport } from '../operator/doctor/doctor-report.ts';
import { examine, examineBroken } from '../operator/doctor/examine.ts';
import { thisMachine } from '../operator/doctor/check-machine.ts';
import type { Check, Finding } from '../operator/doctor/finding.ts';
import { askBot } from './ask-bot.ts';
import type { SharedOptions } from './command.ts';
import { lookAround } from './look-around.ts';
import { printJson, printText } from './console.ts';
import { guardSecrets, parseHere } from './open-config.ts';
import { quietLog } from './skills-here.ts';

/** Says what is wrong, why it matters and how to fix it (L2). Exit code 1 for errors and warnings. */
export async function doctor(
  given: SharedOptions & Readonly<{ online?: boolean; models?: boolean; fix?: boolean }>,
): Promise<void> {
  const first = await examineHere(given);
  const repairs = given.fix === true ? repairsOf(first) : [];
  for (const { repair } of repairs) repair();
  const fixed = repairs.map(({ finding }) => finding);
  const checks = fixed.length === 0 ? first : await examineHere(given);
  const findings = checks.flatMap((one) => one.findings);
  const ok = findings.every(({ level }) => level === 'note');
  if (!ok) process.exitCode = 1;
  if (given.json === true)
    return printJson({ ok, checks: checks.map(asData), fixed: fixed.map(withoutRepair) });
  for (const { id, what } of fixed) printText(`fixed ${id}: ${what}`);
  printText(doctorReport(checks));
}

/** Makes all checks: those that need the network only if `online`, what each model can do only if `models`. */
export async function examineHere({
  config: flag,
  online,
  models,
}: SharedOptions & Readonly<{ online?: boolean; models?: boolean }>): Promise<readonly Check[]> {
  const machine = thisMachine();
  const parsed = await parseHere(flag);
  if (!parsed.ok) return examineBroken(machine, parsed.problems);
  const { config } = parsed;
  guardSecrets(config);
  const { checks, owners } = await examine(machine, await examined(config, flag, online));
  if (online !== true && models !== true) return checks;
  const { checkAbilities, checkOnline } = await import('../operator/doctor/check-online.ts');
  return [
    ...checks,
    ...(online === true ? await checkOnline(config, owners, quietLog) : []),
    ...(models === true ? await checkAbilities(config, quietLog) : []),
  ];
}

/** What the checks look at. With `online`, the servers are tried again, so what the bot knows of them is left out. */
async function examined(config: Config, flag: string | undefined, online = false) {
  const { registry, diagnostics } = await lookAround(config, flag);
  const isRunning = await isServed(config.bot.dataDir);
  const status = isRunning ? await askBot(flag, 'status') : undefined;
  const servers = online ? undefined : status?.servers;
  const trouble = status?.process?.readiness.store;
  return { config, registry, more: diagnostics, isRunning, servers, trouble, log: quietLog };
}

function repairsOf(checks: readonly Check[]) {
  return checks
    .flatMap(({ findings }) => findings)
    .flatMap((finding) => (finding.repair === undefined ? [] : [{ finding, repair: finding.repair }]));
}

function asData({ name, said, findings }: Check) {
  return { name, said, findings: findings.map(withoutRepair) };
}

function withoutRepair({ repair, ...finding }: Finding) {
  return { ...finding, canFix: repair !== undefined };
}
