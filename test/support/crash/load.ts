import type { Accepted, Place } from './places.ts';
import type { Random } from './seeded-random.ts';

/** Something a person said that is to be answered. */
export type Said = Readonly<{ token: string; place: Place; text: string; accepted: Accepted }>;

export type Load = Readonly<{
  said: readonly Said[];
  /** Resolves when all of it was said and something came back for each. */
  done: Promise<unknown>;
}>;

const apology = 'Sorry, I couldn’t answer that.';

/**
 * Talks in every place side by side: `each` messages a place, at most `ahead` of them without an answer at a time, so
 * that load keeps coming for as long as the bot takes. What is said is drawn by `random`.
 */
export function startLoad(
  places: readonly Place[],
  options: { each: number; ahead: number; random: Random },
): Load {
  const { each, ahead, random } = options;
  const said: Said[] = [];
  let tokens = 0;

  async function talk(place: Place): Promise<void> {
    for (let spoken = 0; spoken < each;) {
      if (spoken - answers(place) >= ahead) await place.more();
      else {
        const token = `n${++tokens}`;
        const text = draw(place, random).replace('$', token);
        // In its place before the platform is told of it, so that a message is never answered before it counts.
        const entry = { token, place, text, accepted: (): boolean => false };
        said.push(entry);
        entry.accepted = await place.say(text);
        spoken += 1;
      }
    }
    while (answers(place) < each) await place.more();
  }

  return { said, done: Promise.all(places.map(talk)) };
}

function draw({ platform, name }: Place, random: Random): string {
  const direct = platform === 'telegram' || name.includes('thread') ? ['/ledger $'] : ['mark $'];
  return random.pick(['say $', 'say $', 'say $', 'say $', 'say $', 'list $', 'list $', 'mark $', ...direct]);
}

/** Messages that something came back for: an answer, however often, or an apology. */
function answers(place: Place): number {
  const heard = place.heard();
  const tokens = heard.flatMap(answered);
  return new Set(tokens).size + heard.filter((text) => text.includes(apology)).length;
}

/** The tokens that a text of the bot answers: several where messages joined a turn (H11). */
export function answered(text: string): readonly string[] {
  return /\banswer (n\d+(?: n\d+)*)\b/.exec(text)?.[1]?.split(' ') ?? [];
}
