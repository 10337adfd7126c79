/** The operator's, in each cell and the router. */
export const OPERATOR_KEY = 'the-key-of-the-operator';

/** A log that nobody reads. */
export const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface How {
  readonly key?: string | undefined;
  /** A cell instead of the router. */
  readonly at?: string | undefined;
}

interface Told {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what the API answers
  readonly body: any;
}

/** Asks a router that may not have started yet. */
export const askerOf =
  (url: () => string) =>
  async (route: string, body?: object, { key = OPERATOR_KEY, at = url() }: How = {}): Promise<Told> => {
    const [method = '', path = ''] = route.split(' ');
    const response = await fetch(`${at}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
  };
