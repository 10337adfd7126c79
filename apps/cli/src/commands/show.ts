import { withApi } from '../api.ts';
import type { Command } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { pairs } from '../output.ts';

/** What is shown of each kind, by the beginning of its ids. */
const PATHS: Readonly<Record<string, (id: string) => Readonly<Record<string, string>>>> = {
  bat: (id) => ({ batch: `/v1/batches/${id}` }),
  con: (id) => ({ consolidation: `/v1/consolidations/${id}` }),
  ent: (id) => ({ entity: `/v1/entities/${id}`, history: `/v1/entities/${id}/history` }),
  mem: (id) => ({ memory: `/v1/memories/${id}`, history: `/v1/memories/${id}/history` }),
  sta: (id) => ({ relation: `/v1/relations/${id}`, history: `/v1/relations/${id}/history` }),
};

export const showCommand: Command = {
  name: 'show',
  usage: '<id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Show a batch, a consolidation with its plan, a memory or a part of the graph with its history.',
  about: 'Ids say what they name: bat_…, con_…, mem_…, ent_… (an entity), sta_… (a relation).',
  options: {},
  run: (call) => {
    const [id = ''] = call.given.words;
    const paths = PATHS[id.split('_')[0] ?? '']?.(encodeURIComponent(id));
    if (paths === undefined)
      throw new UsageError(`expected an id like bat_…, con_…, mem_…, ent_… or sta_…, got "${id}"`, 'show');
    return withApi(call, { writes: false }, async (ask) => {
      const shown: Record<string, unknown> = {};
      for (const [name, path] of Object.entries(paths)) shown[name] = await ask({ method: 'GET', path });
      call.out.answer(shown, told(shown));
      return EXIT.done;
    });
  },
};

const told = (shown: Readonly<Record<string, unknown>>): string =>
  Object.values(shown)
    .map((value) => outline(value))
    .join('\n\n');

/** Plain values below each other; what has parts under its name. */
function outline(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${indent}${String(value)}`;
  const entries = Object.entries(value).filter(([name, part]) => name !== 'next_cursor' || part !== null);
  const plain = entries.filter(([, part]) => typeof part !== 'object' || part === null);
  const nested = entries.filter(([, part]) => typeof part === 'object' && part !== null && sizeOf(part) > 0);
  const lines = plain.length === 0 ? [] : pairs(plain.map(([name, part]) => [name, textOf(part)])).split('\n');
  return [
    ...lines.map((line) => indent + line),
    ...nested.map(([name, part]) => `${indent}${name}:\n${outline(part, `${indent}  `)}`),
  ].join('\n');
}

const sizeOf = (part: object): number => Object.keys(part).length;

const textOf = (part: unknown): string | number | null =>
  part === null || typeof part === 'number' ? part : String(part);
