import type { Button } from '../../core/channel.ts';
import { isZone, systemZone } from '../../core/local-time.ts';
import type { Requester } from '../../core/tool.ts';
import { sayIn, type Say } from '../../core/texts/say.ts';
import { inlineCode, oneLine } from '../../lib/text/text.ts';
import type { BookDeps } from './define-routine.ts';
import { zoneFor } from './define-routine.ts';
import { changeRoutine } from './routine-book.ts';

export type ZoneAnswer = Readonly<{ text: string; buttons: readonly Button[] }>;

/** The actions of buttons that choose a time zone begin with this. */
export const zonePrefix = 'zone';
const mostOffered = 6;

const common = [
  'Europe/London',
  'Europe/Berlin',
  'America/New_York',
  'America/Los_Angeles',
  'Asia/Kolkata',
  'Asia/Tokyo',
];
/** Time zones in which most people live who use a language. */
const offered: Readonly<Record<string, readonly string[]>> = {
  de: ['Europe/Berlin', 'Europe/Zurich', 'Europe/Vienna'],
  es: [
    'Europe/Madrid',
    'America/Mexico_City',
    'America/Bogota',
    'America/Argentina/Buenos_Aires',
    'America/Lima',
  ],
  fr: ['Europe/Paris', 'America/Toronto', 'Africa/Abidjan', 'Africa/Casablanca'],
  ja: ['Asia/Tokyo'],
  pt: ['America/Sao_Paulo', 'Europe/Lisbon', 'America/Manaus', 'Africa/Luanda'],
  ru: ['Europe/Moscow', 'Europe/Samara', 'Asia/Yekaterinburg', 'Asia/Novosibirsk', 'Asia/Vladivostok'],
  zh: ['Asia/Shanghai', 'Asia/Taipei', 'Asia/Hong_Kong', 'Asia/Singapore'],
};

/** Buttons for time zones, each with the time that it is there now. */
function zoneButtons(language: string | undefined, now: number, asked = ''): readonly Button[] {
  const say = sayIn(language);
  const zones = [...(offered[(language ?? '').split(/[-_]/)[0] ?? ''] ?? []), ...common];
  return [...new Set(zones)].slice(0, mostOffered).map((zone) => ({
    label: `${cityOf(zone)}, ${say.hour(now, zone)}`,
    action: `${zonePrefix}:${zone}:${asked}`,
  }));
}

/** Answers `/settings timezone`, with or without a zone or city (U20). All people may set their own. */
export async function answerZone(
  typed: string,
  requester: Requester,
  deps: BookDeps,
  writeCommand: (name: string, args?: string) => string,
): Promise<ZoneAnswer> {
  const say = sayIn(requester.language);
  const example = writeCommand('settings', 'timezone Europe/Zurich');
  const wanted = typed.trim();
  const buttons = zoneButtons(requester.language, deps.clock.now());
  if (wanted === '') {
    const zone = await zoneFor({}, requester, deps);
    const now =
      zone === undefined
        ? say`I don’t know your time zone yet.`
        : say`Your time zone is ${inlineCode(zone)}.`;
    return { text: `${now} ${say`Choose another, or write ${example}.`}`, buttons };
  }
  const zone = zoneNamed(wanted);
  if (zone === undefined) {
    const unknown = say`I know no time zone ${inlineCode(oneLine(wanted, 60))}.`;
    return { text: `${unknown} ${say`Choose another, or write ${example}.`}`, buttons };
  }
  return { text: await chooseZone(zone, requester, deps), buttons: [] };
}

/**
 * Stores a person's time zone. Routines that were set up without knowing it are read again in it. Returns what to say.
 */
export async function chooseZone(zone: string, requester: Requester, deps: BookDeps): Promise<string> {
  const { store, users, clock } = deps;
  const say = sayIn(requester.language);
  if (!isZone(zone)) return say`I know no time zone ${inlineCode(oneLine(zone, 60))}.`;
  await users.setTimezone(requester.sender, zone);
  const own = await store.routines.of(requester.sender);
  const moved: string[] = [];
  for (const routine of own) {
    if (routine.definition.assumed === undefined || routine.state === 'ended') continue;
    const booked = await changeRoutine(routine, { timezone: zone }, { ...requester, timezone: zone }, deps);
    const at = booked.ok ? booked.routine.dueAt : undefined;
    if (booked.ok) moved.push(movedLine(booked.routine.definition.name, at, zone, say));
  }
  const set = say`Your time zone is now ${inlineCode(zone)}, where it is ${say.hour(clock.now(), zone)}.`;
  return [set, ...moved].join('\n');
}

function movedLine(name: string, at: number | undefined, zone: string, say: Say): string {
  return `⏰ ${at === undefined ? say`${name}: that time is over there` : say`${name}: ${say.time(at, zone)}`}`;
}

/** Finds a time zone by its name or city, as in "Europe/Zurich", "zurich" or "UTC". */
function zoneNamed(words: string): string | undefined {
  const plain = words.toLowerCase().replaceAll(' ', '_');
  const zones = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
  const found =
    zones.find((zone) => zone.toLowerCase() === plain) ??
    zones.find((zone) => zone.toLowerCase().endsWith(`/${plain}`));
  return found ?? (/^[A-Z]+\/\w+/i.test(words) && isZone(words) ? words : undefined);
}

function cityOf(zone: string): string {
  return (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');
}

/**
 * Asks for a person's time zone behind an answer that assumed one, once for each person (U20). Undefined: they were
 * asked before.
 */
export async function askForZone(
  turn: string,
  { sender, language }: Requester,
  { users, clock }: BookDeps,
): Promise<ZoneAnswer | undefined> {
  if (!(await users.asksTimezone(sender, turn))) return undefined;
  const say = sayIn(language);
  return {
    text: say`I don’t know your time zone, so I took ${inlineCode(systemZone())}. Which is yours?`,
    buttons: zoneButtons(language, clock.now(), sender),
  };
}
