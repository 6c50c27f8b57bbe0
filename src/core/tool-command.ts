/** The command of a chat by which a person starts a tool, such as a prompt of an MCP server (X9). */
export type ToolCommand = Readonly<{
  /** In lower case, of the characters that all platforms allow, at most 32. */
  name: string;
  /** Names of what it needs; optional ones are in brackets. Empty if it needs nothing. */
  hint: string;
  /** One line about it. For an MCP server these are words of a stranger. */
  about: string;
  /** The input of the tool for the words behind the command. Undefined if something that it needs is missing. */
  inputOf(text: string): Readonly<Record<string, unknown>> | undefined;
}>;
