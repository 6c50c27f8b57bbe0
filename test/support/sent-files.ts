import { crc32, deflateRawSync } from 'node:zlib';

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

/** A ZIP archive of these texts, as Office programs write them: packed unless `stored`, with a directory at the end. */
export function zipOf(parts: Readonly<Record<string, string>>, { stored = false } = {}): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(parts)) {
    const content = stored ? Buffer.from(text) : deflateRawSync(text);
    // Version, flags, method, time, date, checksum, sizes, length of the name and of what follows it.
    const about = Buffer.alloc(26);
    about.writeUInt16LE(20, 0);
    about.writeUInt16LE(stored ? 0 : 8, 4);
    about.writeUInt32LE(crc32(text), 10);
    about.writeUInt32LE(content.length, 14);
    about.writeUInt32LE(Buffer.byteLength(text), 18);
    about.writeUInt16LE(Buffer.byteLength(name), 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), about, Buffer.from(name), content]);
    locals.push(local);
    directory.push(Buffer.from('PK\x01\x02\x14\0'), about, place, Buffer.from(name));
    at += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  const count = Object.keys(parts).length;
  end.writeUInt16LE(count, 4);
  end.writeUInt16LE(count, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, listed, Buffer.from('PK\x05\x06'), end]);
}
