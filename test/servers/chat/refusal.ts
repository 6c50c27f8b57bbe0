/** What a server says of a request that it refuses, beside the status. */
export type Refusal = Readonly<{
  message: string;
  param?: string;
  code?: string;
  type?: string;
  status?: number;
}>;
