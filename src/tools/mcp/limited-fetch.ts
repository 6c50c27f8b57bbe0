/** Bytes of one answer, or of one event of a stream: more is an error. */
const answerLimit = 10 * 1024 * 1024;

/** `fetch` whose answers end with an error where a body, or one event of an event stream, is over 10 MB; `onTooMuch` is told as well. */
export function limitedFetch(
  onTooMuch: (why: string) => void,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(limit(isStream, onTooMuch));
    const limited = new Response(body, { status, statusText, headers });
    // Redirects are judged by it, and a new one has none.
    Object.defineProperty(limited, 'url', { value: response.url });
    return limited;
  };
}

function limit(
  isStream: boolean,
  onTooMuch: (why: string) => void,
): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > answerLimit) {
        const why = `it sent more than ${answerLimit} bytes at once`;
        controller.error(new Error(why));
        onTooMuch(why);
        return;
      }
      controller.enqueue(chunk);
      // An empty line ends an event; a line end at the end of a chunk is near enough.
      if (isStream && chunk.at(-1) === 10) size = 0;
    },
  });
}
