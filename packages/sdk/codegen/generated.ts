import { readFile } from 'node:fs/promises';
import { startOwnServer } from '@slowwave/testkit';
import type { Description } from './description.ts';
import { pythonOf, syncOf } from './python.ts';
import { typesOf } from './types-of.ts';

const PYTHON = new URL('../../../clients/python/src/slowwave/', import.meta.url);

interface Generated {
  readonly name: string;
  readonly file: URL;
  /** What belongs into it. */
  readonly text: (description: Description) => string | Promise<string>;
}

/** The files of the clients that are written by ./scripts/sdk-types. */
export const generated: readonly Generated[] = [
  { name: 'types for TypeScript', file: new URL('../src/api.ts', import.meta.url), text: typesOf },
  { name: 'types for Python', file: new URL('api.py', PYTHON), text: pythonOf },
  {
    name: 'the Python client that waits',
    file: new URL('_sync.py', PYTHON),
    text: async () => syncOf(await readFile(new URL('_async.py', PYTHON), 'utf8')),
  },
];

/** The OpenAPI description of a server. */
export async function describedBy(url: string): Promise<Description> {
  const answer = await fetch(`${url}/openapi.json`);
  return (await answer.json()) as Description;
}

/** The same, of a server that is started for it. */
export async function ownDescription(): Promise<Description> {
  const server = await startOwnServer({});
  try {
    return await describedBy(server.url);
  } finally {
    await server.close();
  }
}
