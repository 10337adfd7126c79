import { readFileSync } from 'node:fs';

/** A limit as docs/limits.md tells it. */
export interface Limit {
  readonly what: string;
  readonly most: number;
  readonly status: number;
  readonly code: string;
}

const UNITS: Readonly<Record<string, number>> = { KiB: 1_024, MiB: 1_048_576 };
const ROW = /^\| (?<what>[^|]+) \| (?<most>[\d,]+)(?: (?<unit>[KM]iB))? \| (?<status>\d+) `(?<code>\w+)` \|$/;

/** Every limit of a request, from the tables people read. */
export function limits(): Limit[] {
  const text = readFileSync(new URL('../../../../docs/limits.md', import.meta.url), 'utf8');
  return text.split('\n').flatMap((line) => {
    const { what = '', most = '', unit = '', status, code = '' } = ROW.exec(line)?.groups ?? {};
    if (what === '') return [];
    return [{ what, most: Number(most.replaceAll(',', '')) * (UNITS[unit] ?? 1), status: Number(status), code }];
  });
}
