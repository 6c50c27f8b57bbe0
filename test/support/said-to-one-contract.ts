import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { WholeBot, WholeBotOptions } from './whole-bot.ts';
import { seededRandom } from './crash/seeded-random.ts';

/** Something that a person can press, and where. */
type Press = () => unknown;

/** Two people in a group: the first is an owner, the second may talk. */
export type GroupStage = Readonly<{
  /** Says something to the bot in the group, which others hear. */
  says(who: number, text: string): unknown;
  /** Writes to the bot directly. */
  saysDirectly(who: number, text: string): unknown;
  /** The buttons that this person sees: in the group, alone, and in their direct message. */
  buttons(who: number): readonly Press[];
  /** What the calls to the platform showed to others in the group: words, and all that came with them. */
  readByAll(): readonly Readonly<{ text: string; all: string }>[];
  /** How much was shown to one person: in the group alone, or in a direct message. */
  toOne(): number;
  /** The next message to one person, or to all, meets this. */
  fails(how: (typeof faults)[number]): void;
  /** Waits for the answer to the last words, in the group and in each direct message. */
  settled(round: string): Promise<void>;
}>;

export const faults = ['refused', 'busy', 'cut before', 'cut after'] as const;

/** How the bot is opened: what it says to everybody, and what nobody else may read. */
export const groupBot = (owner: string, users: readonly string[]): WholeBotOptions => ({
  toml: [
    `[bot]\nowner = ["${owner}"]`,
    `[access]\nusers = ${JSON.stringify(users)}\ngroups_mode = "open"`,
    '[agent]\ntools = ["use_skill", "write_file"]\ndetach_after_seconds = 1',
    '[policy]\nmoderate = "confirm"',
    `[skills]\nbundled = false\n[skills.payroll]\nallow_users = ["${owner}"]`,
    '[models.fast]\nmodel = "claude-haiku-5-5"',
  ].join('\n'),
  skills: Object.fromEntries(
    ['payroll', 'lookup'].map((name) => [
      name,
      `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`,
    ]),
  ),
  script: ({ messages }) => {
    const last = JSON.stringify(messages.at(-1)?.content);
    const round = [...last.matchAll(/round=(\w+)/g)].at(-1)?.[1];
    if (round !== undefined) return `Heard ${round}.`;
    if (last.includes('tool_result') || !last.includes('write it')) return 'Said nicely.';
    const input = { path: 'a.txt', content: 'HIDDEN-INPUT' };
    const id = `toolu_${crypto.randomUUID().slice(0, 8)}`;
    return { content: [{ type: 'tool_use' as const, id, name: 'write_file', input }] };
  },
  flood: false,
});

const said = [
  ...['/help', '/skills', '/status', '/whoami', '/why 2', '/memory', '/routines', '/skill', '/tools'],
  ...['/skill payroll x', '/settings', '/settings web_fetch', '/model', '/model fast', '/model HIDDEN'],
  ...['/persona HIDDEN-VALUE', '/persona', 'write it', 'write it', 'write it', 'yes', 'no', 'yes ABCDEFGH'],
];

/** Everything that all members of a group may read. */
const neutral = [
  /^I answered you in a direct message\.$/,
  /^I can say that only in a direct message\. Write to me there, and you get it\.$/,
  /^I can’t do that here\.$/,
  /^(Said nicely|Heard \w+)\.$/,
  /^For \S+:\s+I need a yes to use write_file\.$/,
  /^(Approved|Denied) by \S+: write_file\.$/,
  /^Approved from now on, for any input, by \S+: write_file\.$/,
  /^\S+ changed this for the whole chat: [^:]*\.$/,
  /^(\S+ asked (me something|for \w+).*)?$/,
  // Lines that say what the bot does now.
  /^I’ve seen your new message\.$/,
  /^\p{Extended_Pictographic}\S* \S.{0,80}$/u,
];
const never =
  /HIDDEN|Approve it within|Settings of tools|Skills here|lists what I can do|You: |claude-|Does \w/;

/** What each channel promises: nothing that is meant for one person is in a call that others can read (U16). */
export function saidToOneContract(
  name: string,
  { steps, atLeast }: Readonly<{ steps: number; atLeast: number }>,
  open: (t: TestContext) => Promise<GroupStage & Readonly<{ set: WholeBot }>>,
): void {
  test(`U16 property, ${name}: whatever people ask and press and whatever fails, others read neutral lines only`, async (t) => {
    const seed = Number(process.env['SKILLET_SEED'] ?? 11);
    const random = seededRandom(seed);
    const stage = await open(t);
    for (let step = 0; step < steps; step += 1) {
      const who = random.pick([0, 1]);
      if (random.chance(0.25)) stage.fails(random.pick(faults));
      const buttons = stage.buttons(who);
      if (buttons.length > 0 && random.chance(0.5)) random.pick(buttons)();
      else if (random.chance(0.1)) stage.saysDirectly(who, '/whoami');
      else stage.says(who, random.pick(said));
      if (step % 6 === 5) await stage.settled(`r${step}`);
    }
    await stage.settled('last');
    for (const { text, all } of stage.readByAll()) {
      const isNeutral = neutral.some((line) => line.test(text));
      assert.ok(isNeutral && !never.test(all), `SKILLET_SEED=${seed} ${all}`);
    }
    assert.ok(stage.toOne() >= atLeast, `only ${stage.toOne()} answers came`);
  });
}
