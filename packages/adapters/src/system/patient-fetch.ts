import { Agent } from 'undici';

/**
 * Node's own fetch hangs up on a server after four quiet seconds, and the next search pays for a new connection: with TLS
 * as much as for the embedding itself. Below the minute after which load balancers drop what is quiet.
 */
const KEPT_OPEN_MS = 30_000;

const dispatcher = new Agent({ keepAliveTimeout: KEPT_OPEN_MS, keepAliveMaxTimeout: KEPT_OPEN_MS });

/** fetch that keeps its connections for longer. */
export const patientFetch = (...[url, init]: Parameters<typeof fetch>): Promise<Response> =>
  // Types of the version that Node has built in differ in what is not used here.
  fetch(url, { ...init, dispatcher } as unknown as RequestInit);
