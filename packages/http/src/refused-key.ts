import { ProblemError } from './problem.ts';

/** The key that has ended, where whoever sent it had its secret. */
export interface RefusedKey {
  readonly id: string;
  readonly tenant: string;
}

/** A key was sent, and is not taken. */
export class RefusedKeyError extends ProblemError {
  readonly key: RefusedKey | null;

  constructor(detail: string, { key, headers }: { key: RefusedKey | null; headers: Readonly<Record<string, string>> }) {
    super('unauthorized', detail, { headers });
    this.name = 'RefusedKeyError';
    this.key = key;
  }
}
