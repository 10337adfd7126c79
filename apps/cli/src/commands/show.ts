import type { Command } from '../command.ts';
import { UsageError } from '../exit.ts';
import { pairs } from '../output.ts';

/** What is shown of each kind, by the prefix of its ids. */
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
  summary: 'Show a batch, a consolidation with its plan, or a memory, an entity or a relation with its history.',
  about: 'The prefix of the id determines the kind: bat_…, con_…, mem_…, ent_… (an entity), sta_… (a relation).',
  run: async ({ given, ask }) => {
    const [id = ''] = given.words;
    const paths = PATHS[id.split('_')[0] ?? '']?.(encodeURIComponent(id));
    if (paths === undefined)
      throw new UsageError(`expected an id like bat_…, con_…, mem_…, ent_… or sta_…, got "${id}"`, 'show');
    const shown: Record<string, unknown> = {};
    for (const [name, path] of Object.entries(paths)) shown[name] = await ask('GET', path);
    const parts = Object.values(shown).map((value) => outline(value));
    return { value: shown, text: parts.join('\n\n') };
  },
};

/** Plain values below each other; nested ones under their name. */
function outline(value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return `${indent}${String(value)}`;
  const entries = Object.entries(value).filter(([name, part]) => name !== 'next_cursor' || part !== null);
  const plain = entries.filter(([, part]) => typeof part !== 'object' || part === null);
  const nested = entries.filter(
    ([, part]) => typeof part === 'object' && part !== null && Object.keys(part).length > 0,
  );
  const lines = plain.length === 0 ? [] : pairs(plain.map(([name, part]) => [name, textOf(part)])).split('\n');
  return [
    ...lines.map((line) => indent + line),
    ...nested.map(([name, part]) => `${indent}${name}:\n${outline(part, `${indent}  `)}`),
  ].join('\n');
}

const textOf = (part: unknown): string | number | null =>
  part === null || typeof part === 'number' ? part : String(part);
