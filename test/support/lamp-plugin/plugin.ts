import { definePlugin, defineTool } from 'skillet/plugin';
import { z } from 'zod';

/** A plugin for tests: a tool with a setting of every kind, which says what it was given, and a tool that is not listed. */
const settings = z.object({
  room: z.string().min(2).max(40).default('hall').meta({ title: 'Room', placeholder: 'kitchen' }),
  level: z.int().min(0).max(100).default(40).meta({ title: 'Level', unit: '%', step: 25 }),
  on: z.boolean().default(false).meta({ title: 'On' }),
  colour: z
    .enum(['warm', 'cold'])
    .default('warm')
    .meta({ title: 'Colour', options: { warm: 'Warm white' } }),
  days: z
    .array(z.enum(['mo', 'tu', 'we']))
    .max(2)
    .default([])
    .meta({ title: 'Days' }),
  note: z.string().default('').meta({ title: 'Note', kind: 'text' }),
  token: z.string().min(8).optional().meta({ title: 'Token', secret: true }),
  bridge: z.url().optional().meta({ title: 'Bridge' }),
});

export default definePlugin({
  name: 'lamp',
  tools: () => [
    defineTool({
      name: 'lamp_state',
      displayName: 'Lamp',
      icon: '💡',
      description: 'Says how the lamp is set up. For tests it says everything.',
      input: z.object({}),
      settings,
      run: async (_, context) => ({ ...context.settings }),
    }),
    defineTool({
      name: 'lamp_inner',
      description: 'Works behind the others.',
      hidden: true,
      input: z.object({}),
      run: async () => 'inside',
    }),
  ],
});
