#!/usr/bin/env node
/** Writes all notes of the notebook to notes.md, oldest first. Arguments: the notebook, where there are several. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const [account] = process.argv.slice(2);

function invoke(operation, input) {
  const named = account === undefined ? [] : ['--account', account];
  const args = ['invoke', 'notes.book', operation, '--input', JSON.stringify(input), ...named];
  try {
    return JSON.parse(execFileSync('skillet-cap', args, { encoding: 'utf8' })).output;
  } catch (error) {
    // Refused: what it printed says why.
    console.log(error.stdout || error.message);
    process.exit(1);
  }
}

const { notes, total } = invoke('list', { limit: 200 });
const texts = notes.toReversed().map(({ id }) => {
  const { text, changed_at } = invoke('read', { id });
  return `## ${id}, ${changed_at.slice(0, 10)}\n\n${text}\n`;
});
writeFileSync('notes.md', texts.join('\n'));
console.log(`notes.md holds ${notes.length} of ${total} notes`);
