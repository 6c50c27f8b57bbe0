import type { Tool } from '../core/tool.ts';
import { webFetchTool } from '../tools/built-in/web-fetch.ts';

/** The tools that reach the internet, as config has them now (T2). */
export function createWebTools(): () => readonly Tool[] {
  const webFetch = webFetchTool();
  return () => [webFetch];
}
