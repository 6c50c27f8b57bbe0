import type { TestContext } from 'node:test';
import { approval } from './approval.ts';
import { drawChat, type Drawing } from './draw.ts';
import { incident } from './incident.ts';
import { pdf, photo } from './sent-files.ts';
import { streamed } from './streamed.ts';
import { thread } from './thread.ts';
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
};

/** Plays a scene and draws it: SVG by file name. */
export async function pictures(t: TestContext, scene: string): Promise<ReadonlyMap<string, string>> {
  const drawings = (await scenes[scene]?.(t)) ?? [];
  return new Map(
    drawings.map((drawing) => [`${scene}-${drawing.platform.toLowerCase()}.svg`, drawChat(drawing)]),
  );
}
