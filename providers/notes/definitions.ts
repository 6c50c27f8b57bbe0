import { z } from 'zod';
import { operations } from './operations.ts';

export const namespace = 'notes';
export const capability = 'notes.book';

/** What the provider answers to `definitions`: the schemas are those that its operations check by. */
export function definitions(): unknown {
  const shown = Object.entries(operations).map(([name, { description, mutating, input, output }]) => [
    name,
    {
      description,
      requires_auth: true,
      mutating,
      input_schema: z.toJSONSchema(input, { io: 'input' }),
      output_schema: z.toJSONSchema(output),
    },
  ]);
  return {
    definitions: [
      {
        id: capability,
        description: "A person's own notebook: list, read, search, add, edit and remove notes.",
        sensitive: true,
        allowed_chat_types: ['private'],
        operations: Object.fromEntries(shown) as unknown,
      },
    ],
  };
}
