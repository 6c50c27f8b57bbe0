/** What a feature answers to a browser that comes to one of its addresses (X8). */
export type WebPage = Readonly<{
  status: number;
  type: 'text/html; charset=utf-8' | 'application/json';
  body: string;
}>;
