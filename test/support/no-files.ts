import type { OutgoingFiles } from '../../src/replies/artifacts.ts';
import type { FileLimits } from '../../src/core/file-limits.ts';
import type { DeliverArtifacts } from '../../src/core/tool.ts';
import { partOf } from './app-of.ts';

/** For tests in which no file is handed over: whoever does it anyway fails. */
export const noHandOver: DeliverArtifacts = async () => Promise.reject(new Error('no file was expected'));

export const noArtifact = async (): Promise<never> => Promise.reject(new Error('no file was expected'));

export const noFiles = partOf<OutgoingFiles>({
  find: async () => undefined,
  remove: async () => undefined,
});

export const anyFile: FileLimits = { largest: Infinity, fitsCaption: () => true };
