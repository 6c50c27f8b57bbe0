import { inspect } from 'node:util';

type Redact = (text: string) => string;
/** A stream's `write` that takes secrets out; what it takes out can be changed. */
type Guarded = NodeJS.WriteStream['write'] & { redactBy?: (redact: Redact) => void };

/** From now on nothing that this process prints holds a secret (S2, S3), nor what it says when it crashes. Said again it goes by the newest `redact`. */
export function guardOutput(redact: Redact): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write: Guarded = stream.write;
    if (write.redactBy === undefined) stream.write = guarded(stream, redact);
    else write.redactBy(redact);
  }
  // Node would print the error by itself, past everything.
  if (process.listenerCount('uncaughtException') === 0)
    process.on('uncaughtException', (error) => {
      process.stderr.write(`${inspect(error)}\n`);
      process.exit(1);
    });
}

function guarded(stream: NodeJS.WriteStream, first: Redact): Guarded {
  const plain = stream.write.bind(stream);
  let redact = first;
  const write: Guarded = (given: string | Uint8Array, ...rest: unknown[]): boolean => {
    const clean = typeof given === 'string' ? redact(given) : given;
    return Reflect.apply(plain, stream, [clean, ...rest]) as boolean;
  };
  write.redactBy = (next) => {
    redact = next;
  };
  return write;
}
