// Prints who pays whom how much. One argument: lines, or parts between "|", such as `Ann 30 pizza for Ann, Bob`.
const owed = new Map();
const add = (name, cents) => owed.set(name, (owed.get(name) ?? 0) + cents);
const lines = process.argv
  .slice(2)
  .join('\n')
  .split(/\n|\|/)
  .map((line) => line.trim());

for (const line of lines.filter((one) => one !== '')) {
  const [, payer, amount, names] = /^(\S+) (\d+(?:[.,]\d\d?)?) .*?\bfor (.+)$/.exec(line) ?? [];
  if (payer === undefined) {
    console.error(`not read: ${line}. Write it as: Ann 30 pizza for Ann, Bob`);
    process.exit(1);
  }
  const people = names.split(',').map((name) => name.trim());
  const cents = Math.round(Number(amount.replace(',', '.')) * 100);
  add(payer, cents);
  // The first few carry the odd cents.
  people.forEach((name, at) =>
    add(name, -(Math.floor(cents / people.length) + (at < cents % people.length ? 1 : 0))),
  );
}

const most = (sign) =>
  [...owed].filter(([, cents]) => cents * sign > 0).sort((a, b) => sign * (b[1] - a[1]))[0];
const payments = [];
for (let to = most(1), from = most(-1); to && from; to = most(1), from = most(-1)) {
  const cents = Math.min(to[1], -from[1]);
  payments.push(`${from[0]} pays ${to[0]} ${(cents / 100).toFixed(2)}`);
  owed.set(to[0], to[1] - cents);
  owed.set(from[0], from[1] + cents);
}
console.log(payments.join('\n') || 'Nobody owes anything.');
