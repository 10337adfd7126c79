import { spawnService } from '@slowwave/testkit';

/** How fast a process posted. */
export interface Posted {
  readonly perSecond: number;
  /** Of the answer times at a steady rate, in ms; null flat out. */
  readonly p95: number | null;
}

interface Load {
  readonly connections: number;
  readonly ms: number;
  /** A second; 0 is as many as it can. */
  readonly rate: number;
}

const LATER_MS = 60_000; // for what it still waits for at the end

/** Posts batches from a process of its own, see main.ts. */
export async function postFromOutside(url: string, { connections, ms, rate }: Load): Promise<Posted> {
  const service = await spawnService({
    main: new URL('main.ts', import.meta.url),
    args: [url, connections, ms, rate].map(String),
  });
  const line = await service.waitForLine(/^posted /, ms + LATER_MS);
  await service.waitForExit();
  return JSON.parse(line.slice('posted '.length)) as Posted;
}
