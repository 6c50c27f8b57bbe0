// Groups standup notes by what is blocked, done and next. One argument: a line for each person, or parts between "|".
const parts = ['blocked', 'done', 'next'];
const found = new Map(parts.map((part) => [part, []]));
const lines = process.argv
  .slice(2)
  .join('\n')
  .split(/\n|\|/)
  .map((line) => line.trim());

for (const line of lines.filter((one) => one !== '')) {
  const [, name, rest] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
  if (name === undefined) {
    console.error(`no name before a colon: ${line}`);
    process.exit(1);
  }
  for (const note of rest.split(';').map((one) => one.trim())) {
    const part = parts.find((one) => note.toLowerCase().startsWith(`${one} `));
    if (part !== undefined) found.get(part).push(`${name}: ${note.slice(part.length + 1)}`);
  }
}

const said = parts.flatMap((part) => {
  const notes = found.get(part);
  return notes.length === 0
    ? []
    : [`**${part[0].toUpperCase()}${part.slice(1)}**`, ...notes.map((one) => `- ${one}`)];
});
console.log(said.length === 0 ? 'There are no notes.' : said.join('\n'));
