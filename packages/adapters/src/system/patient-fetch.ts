import type { Agent } from 'undici';

/**
 * Node's own fetch hangs up on a server after four quiet seconds, and the next search pays for a new connection: with TLS
 * as much as for the embedding itself. Below the minute after which load balancers drop what is quiet.
 */
const KEPT_OPEN_MS = 30_000;

let agent: Promise<Agent> | null = null;

/** Loaded when the first request is made: most processes make none. */
async function connections(): Promise<Agent> {
  const { Agent } = await import('undici');
  return new Agent({ keepAliveTimeout: KEPT_OPEN_MS, keepAliveMaxTimeout: KEPT_OPEN_MS });
}

/** fetch that keeps its connections for longer. */
export async function patientFetch(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  agent ??= connections();
  // Types of the version that Node has built in differ in what is not used here.
  return fetch(url, { ...init, dispatcher: await agent } as unknown as RequestInit);
}
