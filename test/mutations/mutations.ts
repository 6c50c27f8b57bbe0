import { accessMutations } from './access.ts';
import { textMutations } from './text.ts';
import type { Mutation } from './mutation.ts';

/** All of them. New safety code adds its own. */
export const mutations: readonly Mutation[] = [...accessMutations, ...textMutations];
