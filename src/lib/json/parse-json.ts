/** What a text says as JSON; nothing where it is none. Which data it has to be is for the caller to check. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
