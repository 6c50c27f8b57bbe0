// Groups commits by kind. One argument: lines, or parts between "|", such as `feat: dark mode` or `fix(api)!: a crash`.
const headings = { breaking: 'Breaking', feat: 'New', fix: 'Fixed', perf: 'Faster' };
const found = { breaking: [], feat: [], fix: [], perf: [] };
const lines = process.argv
  .slice(2)
  .join('\n')
  .split(/\n|\|/)
  .map((line) => line.trim().replace(/^[0-9a-f]{7,40} /, ''));

for (const line of lines) {
  const [, kind, mark, text] = /^(\w+)(?:\([^)]*\))?(!)?: (.+)$/.exec(line) ?? [];
  const list = mark === undefined ? found[kind] : found.breaking;
  list?.push(text);
}

const said = Object.entries(headings).flatMap(([kind, heading]) =>
  found[kind].length === 0 ? [] : [`## ${heading}`, ...found[kind].map((text) => `- ${text}`)],
);
console.log(said.join('\n') || 'Nothing that users notice.');
