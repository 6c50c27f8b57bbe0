/** Bytes of files as people send them: as much of each as tells its type. `seed` makes them differ. */
export function pngOf(seed: string, { side = 90, bytes = 100 } = {}): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const sides = Buffer.alloc(8);
  sides.writeUInt32BE(side, 0);
  sides.writeUInt32BE(side, 4);
  const rest = Buffer.alloc(Math.max(0, bytes - head.length - sides.length), `${seed}\0`);
  return Buffer.concat([head, sides, rest]);
}

export function jpegOf(seed: string): Buffer {
  return Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.from(seed)]);
}

export function pdfOf(seed: string, pages = 1): Buffer {
  return Buffer.from(`%PDF-1.4\n${seed}\n${'/Type /Page\n'.repeat(pages)}%%EOF`);
}
