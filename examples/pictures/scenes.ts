import type { TestContext } from 'node:test';
import { alone } from './alone.ts';
import { approval } from './approval.ts';
import { drawChat, type Drawing } from './draw.ts';
import { firstWords } from './first-words.ts';
import { incident } from './incident.ts';
import { plan } from './plan.ts';
import { pdf, photo } from './sent-files.ts';
import { stopped } from './stopped.ts';
import { streamed } from './streamed.ts';
import { thread } from './thread.ts';
import { thumbs } from './thumbs.ts';
import { week } from './week.ts';

type Scene = (t: TestContext) => Promise<readonly Drawing[]>;

/** Each is played once, and drawn for every platform. */
export const scenes: Readonly<Record<string, Scene>> = {
  incident,
  approval,
  photo,
  pdf,
  streamed,
  thread,
  week,
  alone,
  plan,
  stopped,
  thumbs,
  'first-words': firstWords,
};

/** Plays a scene and draws it: SVG by file name. */
export async function pictures(t: TestContext, scene: string): Promise<ReadonlyMap<string, string>> {
  const drawings = (await scenes[scene]?.(t)) ?? [];
  return new Map(
    drawings.map((drawing) => [`${scene}-${drawing.platform.toLowerCase()}.svg`, drawChat(drawing)]),
  );
}
