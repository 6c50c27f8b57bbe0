import path from 'node:path';
import { installation } from '../lib/files/installation.js';

/** The JSON Schema of the config, which `npm run docs:reference` makes. */
export const configSchemaFile = path.join(installation, 'docs/reference/config.schema.json');

/** The first line of a config at this place. By it editors find the schema: beside the config, else by its whole path. */
export function schemaLine(configFile: string): string {
  const near = path.relative(path.dirname(path.resolve(configFile)), configSchemaFile);
  return `#:schema ${near.startsWith('..') ? `file://${configSchemaFile}` : `./${near}`}`;
}
