import { existsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { z } from 'zod';
import type { Desk } from '../app.ts';
import { auditKeyFile } from '../audit/audit-files.ts';
import { OperatorError } from '../core/errors.ts';
import { skilletVersion } from '../core/version.ts';
import { createTarWriter } from '../lib/files/tar.ts';
import type { KeptFiles } from '../runs/kept-files.ts';
import { names } from '../store/forget-entries.ts';
import type { PersonRecord } from '../store/store.ts';
import { writeWhole } from '../store/write-whole.ts';
import type { ArchivePart } from './archive/archive-parts.ts';
import { addPart, addText } from './archive/write-archive.ts';
import { directMessagesOf } from './forget-somebody.ts';
import { personNamespaces, personPlaces } from './person-places.ts';

type ExportedPerson = Readonly<{
  file: string;
  /** How many records each file of the archive has. */
  records: Readonly<Record<string, number>>;
  files: number;
  /** Links and files that can't be read, by their names in the archive. */
  leftOut: readonly string[];
}>;

/** Writes everything that is stored of a person into a new archive (L18). */
export type ExportPerson = (of: Readonly<{ person: string; file: string }>) => Promise<ExportedPerson>;

/**
 * Makes a tar file (0600) of what the bot holds of a person: records as lines of JSON, their lines of the audit with a
 * proof, and files. Secrets and words of others are left out.
 */
export function createExportPerson(
  desk: Desk & Readonly<{ files: Readonly<{ reading: KeptFiles['reading'] }> }>,
): ExportPerson {
  const { store, audit, pairing, files, clock, config } = desk;
  return async ({ person, file }) => {
    if (!/^[a-z]+:\S+$/.test(person))
      throw new OperatorError(`${person}: write the whole id of a person, such as telegram:42`);
    const rooms = await directMessagesOf(person, { store, pairing, audit });
    const found = await store.person(person, rooms);
    const lines = linesByMember([...found.records, ...(await valuesOf(person, found.places, desk))]);
    const record = `${file}.audit.jsonl`;
    try {
      if (existsSync(auditKeyFile(config().bot.dataDir)))
        await audit.exportTo({ file: record, format: 'jsonl', person });
      const texts = [['README.txt', aboutArchive(person, clock.now())], ...lines] as const;
      const written = await files.reading({ ...found, sender: person }, (theirs) =>
        writeMembers(file, texts, [
          { name: 'audit.jsonl', at: record, kind: 'file', group: 'audit' },
          ...theirs.folders.map((one): ArchivePart => ({ ...one, kind: 'folder', group: 'files' })),
          ...theirs.files.map((one): ArchivePart => ({ ...one, kind: 'file', group: 'files' })),
        ]),
      );
      const records = Object.fromEntries(
        [...lines].map(([member, text]) => [member, text.trimEnd().split('\n').length]),
      );
      return { file, records, ...written };
    } finally {
      await rm(record, { force: true });
    }
  };
}

/** Writes the archive whole or not at all. `files` is how many files of conversations it has. */
async function writeMembers(
  file: string,
  texts: readonly (readonly [name: string, text: string])[],
  parts: readonly ArchivePart[],
): Promise<Readonly<{ files: number; leftOut: readonly string[] }>> {
  const leftOut: string[] = [];
  let files = 0;
  await writeWhole(file, async (part) => {
    const handle = await open(part, 'w', 0o600);
    try {
      const tar = createTarWriter(handle);
      for (const [name, text] of texts) await addText(tar, name, text);
      for (const { name, ...of } of parts) {
        const isFile = of.group === 'files';
        const added = await addPart(tar, { ...of, name: isFile ? `files/${name}` : name }, { leftOut });
        if (isFile) files += added.files;
      }
      await tar.end();
      await handle.sync();
    } finally {
      await handle.close();
    }
  });
  return { files, leftOut };
}

/** The lines of each file of the archive. */
function linesByMember(records: readonly PersonRecord[]): ReadonlyMap<string, string> {
  const lines = new Map<string, string>();
  for (const { from, ...record } of records) {
    const place = personPlaces[from];
    if (place !== undefined && 'in' in place)
      lines.set(place.in, `${lines.get(place.in) ?? ''}${JSON.stringify({ from, ...record })}\n`);
  }
  return lines;
}

/** Members that tell whose a value is. */
const ofPerson = z.object({
  sender: z.union([z.string(), z.object({ id: z.string() })]).optional(),
  person: z.string().optional(),
  by: z.string().optional(),
});

/** Values under a key that names the person or their direct messages, and those that say that they are theirs. */
async function valuesOf(
  person: string,
  places: readonly string[],
  { store }: Desk,
): Promise<readonly PersonRecord[]> {
  const found: PersonRecord[] = [];
  for (const namespace of personNamespaces) {
    for await (const [written, value] of store.keyed(namespace).iterator()) {
      const key = String(written);
      if (isOf(person, places, { namespace, key, value: value as unknown }))
        found.push({ from: `keyed ${namespace}`, data: shownValue(namespace, key, value) });
    }
  }
  return found;
}

function isOf(
  person: string,
  places: readonly string[],
  { namespace, key, value }: Readonly<{ namespace: string; key: string; value: unknown }>,
): boolean {
  const isTheirPlace = places.some((place) => key === place || key.startsWith(`${place}/`));
  if (names(key, person) || isTheirPlace || value === person) return true;
  const { sender, person: whose, by } = ofPerson.safeParse(value).data ?? {};
  // Who gave somebody else a standing approval is a part of that person's data.
  return [
    typeof sender === 'string' ? sender : sender?.id,
    whose,
    namespace === 'standing-rules' ? '' : by,
  ].includes(person);
}

/** A value without what opens something: codes, tokens and secret settings leave the store for nobody. */
function shownValue(namespace: string, key: string, value: unknown): unknown {
  if (namespace === 'server-sign-ins') return { key };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { key, value };
  const isSecret = 'secret' in value && value.secret === true;
  const isCode = namespace === 'pairing';
  const hidden = isCode ? 'code' : isSecret ? 'value' : undefined;
  const shown = Object.fromEntries(Object.entries(value).filter(([name]) => name !== hidden));
  return isCode ? { value: shown } : { key, value: shown };
}

function aboutArchive(person: string, now: number): string {
  const members = Map.groupBy(
    Object.entries(personPlaces).flatMap(([name, place]) =>
      'in' in place ? [{ name, member: place.in }] : [],
    ),
    ({ member }) => member,
  );
  const absent = Object.entries(personPlaces).flatMap(([name, place]) =>
    'not' in place ? [`${name}: ${place.not}`] : [],
  );
  return `What Skillet ${skilletVersion()} held of ${person} on ${new Date(now).toISOString()}.

Each line of a .jsonl file is one record. A file that is missing had no record.
${[...members].map(([member, from]) => `  ${member}: from ${from.map(({ name }) => name).join(', ')}`).join('\n')}

audit.jsonl has the entries of the audit about this person, and the hashes of the others with a signed proof.
Left out: what other people wrote, also where it was quoted, and tokens, codes and secret settings.
Not in here, because it says nothing about a person or repeats what is here:
${absent.map((line) => `  ${line}`).join('\n')}
`;
}
