/** A question to the HTTP API. */
export interface Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With its query, e.g. /v1/batches?state=parked */
  readonly path: string;
  readonly body?: object;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The API of a server, or the same routes in this process over the stores themselves. */
export interface Api {
  /** What was answered, whatever it is. Throws when nobody answers. */
  ask(question: Question): Promise<Answer>;
  close(): Promise<void>;
}

/** A path with the parts of a query that are there. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== null) given.set(name, String(value));
  return given.size === 0 ? path : `${path}?${given}`;
}
