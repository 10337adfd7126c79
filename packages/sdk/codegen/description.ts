import { startOwnServer } from '@slowwave/testkit';
import type { Description } from './types-of.ts';

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
