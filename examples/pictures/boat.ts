import { crc32, deflateSync } from 'node:zlib';

const size = { width: 240, height: 160 };
/** Sky, sun, sea, hull and sail. */
const palette = Buffer.from('fbd9a5f2703d2f6f8f5b3a29ffffff', 'hex');

/** A boat at sunset, as a PNG. */
export function boat(): Buffer {
  const rows = Array.from({ length: size.height }, (_, y) =>
    Buffer.from([0, ...Array.from({ length: size.width }, (__, x) => colourAt(x, y))]),
  );
  const head = Buffer.from([0, 0, 0, size.width, 0, 0, 0, size.height, 8, 3, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function colourAt(x: number, y: number): number {
  if (y > 112 && y < 126 && x > 84 + (y - 112) && x < 156 - (y - 112)) return 3;
  if (y > 40 && y < 110 && x > 118 && x < 118 + (y - 40) * 0.55) return 4;
  if (y > 118) return 2;
  return Math.hypot(x - 190, y - 96) < 26 ? 1 : 0;
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
