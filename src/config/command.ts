import { z } from 'zod';

const parts = z.array(z.string().min(1)).min(1);

/** A program and its arguments: a list, or text that is cut at spaces. Never given to a shell. */
export const command = z.codec(
  z.union([parts, z.string().regex(/^[^\s"'`$|&;<>]+( +[^\s"'`$|&;<>]+)*$/)], {
    error:
      'write a command such as "gogcli bridge"; with quotes or spaces in an argument write a list: ["a", "b c"]',
  }),
  parts,
  {
    decode: (written) => (typeof written === 'string' ? written.split(/ +/) : written),
    encode: (list) => list,
  },
);
