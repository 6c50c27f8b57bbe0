import type { Feature, Footer, NewTurn, TurnPart } from '../core/feature.ts';

/** What all features bring to one turn, in their order. */
export async function partsOf(features: readonly Feature[], turn: NewTurn): Promise<Required<TurnPart>> {
  const found = await Promise.all(features.map(async (feature) => feature.turn?.(turn)));
  const parts = found.filter((part) => part !== undefined);
  return {
    tools: parts.flatMap(({ tools = [] }) => tools),
    async notes(before) {
      const all = await Promise.all(parts.map(async (part) => part.notes?.(before)));
      return all.find((notes) => notes !== undefined);
    },
    async said(entry, before) {
      return (await Promise.all(parts.map(async (part) => part.said?.(entry, before) ?? []))).flat();
    },
    async footer(entries) {
      const all: Footer[] = [];
      for (const part of parts) if (part.footer !== undefined) all.push(await part.footer(entries));
      return {
        text: all.map(({ text }) => text).join(''),
        question: all.find(({ question }) => question !== undefined)?.question,
      };
    },
  };
}
