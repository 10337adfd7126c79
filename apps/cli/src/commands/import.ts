import { createHash } from 'node:crypto';
import { type Ask, withApi } from '../api/ask.ts';
import type { Call, Command } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type ImportedMemory, memoriesOf } from '../import/mem0-items.ts';
import { itemsInFile } from '../import/read-file.ts';
import { itemsInCollection } from '../import/read-qdrant.ts';

export const importMem0Command: Command = {
  name: 'import mem0',
  usage: '[file]',
  words: [0, 1],
  on: 'server or ledger',
  summary: 'Import memories from mem0: from a file, or from its collection in Qdrant.',
  about: `The file is what mem0's API or its export answered: JSON with a list of memories, or one
memory a line. Each becomes a memory word for word, said when mem0 last changed it, with its
metadata and its owner; no model is asked. They come in behind what is posted meanwhile. Once
imported, a memory is never imported again: run it as often as you like.`,
  options: {
    qdrant: { value: 'URL', about: 'Read from Qdrant instead of a file…' },
    collection: { value: 'NAME', about: '…from this collection (mem0; its JavaScript calls it memories).' },
    'qdrant-key': { value: 'KEY', about: '…with this key.' },
    user: { value: 'ID', about: 'Owner of memories that have no user, agent or run.' },
    'dry-run': { value: null, about: 'Only check them.' },
  },
  run: async (call) => {
    const memories = memoriesOf(await itemsOf(call), call.given.text('user'));
    if (call.given.flag('dry-run')) {
      call.out.answer({ found: memories.length }, `${memories.length} memories can be imported.`);
      return EXIT.done;
    }
    const counts = await withApi(call, { writes: true }, (ask) => post(call, ask, memories));
    const again = counts.known === 0 ? '' : `, ${counts.known} were known already`;
    call.out.answer(
      { found: memories.length, ...counts },
      `${counts.imported} memories are imported${again}; they can be searched shortly.`,
    );
    return EXIT.done;
  },
};

function itemsOf({ given, cancel }: Call): Promise<readonly unknown[]> {
  const [file] = given.words;
  const url = given.text('qdrant');
  if ((file === undefined) === (url === null))
    throw new UsageError('expected a file, or --qdrant; not both', 'import mem0');
  if (file !== undefined) return itemsInFile(file);
  const collection = given.text('collection') ?? 'mem0';
  return itemsInCollection({ url: url ?? '', collection, apiKey: given.text('qdrant-key') }, cancel);
}

interface Counts {
  readonly imported: number;
  readonly known: number;
}

async function post({ out, cancel }: Call, ask: Ask, memories: readonly ImportedMemory[]): Promise<Counts> {
  const progress = out.progress({ title: 'import', unit: 'memories' });
  let known = 0;
  try {
    for (const [i, memory] of memories.entries()) {
      cancel.throwIfAborted();
      const answer = await ask<{ batch_id?: string; state: string }>({
        method: 'POST',
        path: '/v1/batches',
        body: batchOf(memory),
      });
      if (answer.state !== 'pending') known += 1;
      progress.update(i + 1, memories.length);
    }
  } finally {
    progress.stop();
  }
  return { imported: memories.length - known, known };
}

/** Verbatim, and counted once however often it is sent: the key follows from the memory. */
const batchOf = (memory: ImportedMemory): object => ({
  ...memory.ids,
  mode: 'verbatim',
  priority: 'backfill',
  messages: [{ role: 'user', content: memory.text, ...(memory.saidAt !== null && { timestamp: memory.saidAt }) }],
  metadata: memory.metadata,
  ...(memory.expiresAt !== null && { expires_at: memory.expiresAt }),
  idempotency_key: `mem0:${keyOf(memory)}`,
});

const keyOf = ({ id, text, ids, saidAt }: ImportedMemory): string =>
  createHash('sha256')
    .update(JSON.stringify([id, ids, saidAt, text]))
    .digest('hex');
