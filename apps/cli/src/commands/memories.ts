import { readFile } from 'node:fs/promises';
import type { BatchView, ContextResult, HistoryEvent, MemoryView, SearchResult, UserList } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Command, countOf, type Given, momentOf, OWNER, ownerOf, pathWord, present } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type Column, LIMIT, listing, table } from '../output.ts';

const WAIT_MS = 60_000;

export const addCommand: Command = {
  name: 'add',
  usage: '[text]',
  writes: true,
  summary: 'Post what a user said, or a conversation from a file, and show the resulting memories.',
  about: `The file has messages as JSON: an array in the format of OpenAI's or Anthropic's API, or an object with
the field messages. Offline the batch is only stored; a worker consolidates it.`,
  options: {
    ...OWNER,
    app: { value: 'ID', about: 'The app it was said in.' },
    file: { value: 'FILE', about: 'A file with messages instead of a text; - reads standard input.' },
    'no-wait': { value: null, about: 'Do not wait for the result.' },
  },
  run: async (call) => {
    const { given, ask } = call;
    const body = {
      ...ownerOf(given),
      ...present({ app_id: given.text('app') }),
      messages: await saidIn(given),
      flush: true,
    };
    const isWaiting = !(given.flag('no-wait') || given.flag('offline'));
    if (!isWaiting) {
      const accepted = await ask<{ readonly batch_id: string }>('POST', '/v1/batches', body);
      return { value: accepted, text: `Batch ${accepted.batch_id} is stored.` };
    }
    const batch = await ask<BatchView>('POST', `/v1/batches?wait=${WAIT_MS}`, body);
    return { value: batch, text: outcomeOf(batch), exit: batch.state === 'parked' ? EXIT.findings : EXIT.done };
  },
};

async function saidIn(given: Given): Promise<unknown> {
  const [text = null] = given.words;
  const file = given.text('file');
  if ((text === null) === (file === null)) throw new UsageError('expected a text or --file', 'add');
  if (file === null) return text;
  const json = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8');
  try {
    const read: unknown = JSON.parse(json);
    return typeof read === 'object' && read !== null && 'messages' in read ? read.messages : read;
  } catch {
    throw new UsageError(`expected JSON in ${file}, got something else`, 'add');
  }
}

function outcomeOf({ id, state, error, events }: BatchView): string {
  if (error !== null) return `Batch ${id} is ${state}: ${error.message}`;
  if (state === 'pending' || state === 'consolidating')
    return `Batch ${id} is ${state}; it continues in the background.`;
  return events.length === 0 ? 'It contains nothing to remember.' : table(EVENTS, events);
}

const EVENTS: readonly Column<BatchView['events'][number]>[] = [
  { name: 'event', of: ({ event }) => event },
  { name: 'memory', of: ({ memory_id }) => memory_id },
  { name: 'text', of: ({ memory }) => memory },
];

const TOP_K_USUAL = 10;
const TOP_K_MAX = 100;

export const searchCommand: Command = {
  name: 'search',
  usage: '<question>',
  summary: 'Search the memories of an owner.',
  options: {
    ...OWNER,
    limit: { value: 'N', about: `Maximum number of results. Default: ${TOP_K_USUAL}.` },
    'as-of': { value: 'MOMENT', about: 'Search what was true then, e.g. 2026-03-01T09:30:00Z or 30d.' },
  },
  run: async ({ given, ask }) => {
    const top_k = countOf(given, 'limit', { usual: TOP_K_USUAL, max: TOP_K_MAX });
    const body = { ...ownerOf(given), query: given.words[0], top_k, ...present({ as_of: momentOf(given, 'as-of') }) };
    const found = await ask<z.infer<typeof SearchResult>>('POST', '/v1/search', body);
    const { results } = found;
    return {
      value: found,
      text: results.length === 0 ? 'No memory answers this.' : table(HITS, results),
    };
  },
};

const HITS: readonly Column<z.infer<typeof SearchResult>['results'][number]>[] = [
  { name: 'score', of: ({ score }) => score.toFixed(2) },
  { name: 'since', of: ({ valid_from }) => dayOf(valid_from) },
  { name: 'id', of: ({ id }) => id },
  { name: 'memory', of: ({ memory }) => memory },
];

const dayOf = (moment: string): string => moment.slice(0, 'yyyy-mm-dd'.length);

const TOKENS_MAX = 100_000;
const TOKENS_USUAL = 1_000;

export const contextCommand: Command = {
  name: 'context',
  usage: '[question]',
  summary: 'Show the context block for a prompt.',
  options: { ...OWNER, tokens: { value: 'N', about: `Token budget of the block. Default: ${TOKENS_USUAL}.` } },
  run: async ({ given, ask }) => {
    const max_tokens = countOf(given, 'tokens', { usual: TOKENS_USUAL, max: TOKENS_MAX });
    const [query = null] = given.words;
    const body = { ...ownerOf(given), ...present({ query }), max_tokens, format: 'text' };
    const block = await ask<z.infer<typeof ContextResult>>('POST', '/v1/context', body);
    return { value: block, text: block.text === '' ? 'Nothing is known.' : (block.text ?? '') };
  },
};

export const usersCommand: Command = {
  name: 'users',
  usage: '[beginning of an id]',
  summary: 'List the users, agents and runs that own memories, last active first.',
  options: { limit: LIMIT },
  run: async (call) => {
    const query = { order: 'updated', id_prefix: call.given.words[0] ?? null };
    const { items: users, more, text } = await listing(call, { path: '/v1/users', query, columns: USERS });
    return { value: { users, more }, text };
  },
};

const USERS: readonly Column<z.infer<typeof UserList>['results'][number]>[] = [
  { name: 'kind', of: ({ kind }) => kind },
  { name: 'id', of: ({ id }) => id },
  { name: 'memories', of: ({ memories }) => memories },
  { name: 'pending', of: ({ pending }) => pending },
  { name: 'active', of: ({ updated_at }) => updated_at },
];

export const memoriesCommand: Command = {
  name: 'memories',
  summary: 'List the memories of an owner, newest first.',
  options: { ...OWNER, limit: LIMIT },
  run: async (call) => {
    const query = ownerOf(call.given);
    const { items: memories, more, text } = await listing(call, { path: '/v1/memories', query, columns: MEMORIES });
    return { value: { memories, more }, text };
  },
};

const MEMORIES: readonly Column<MemoryView>[] = [
  { name: 'since', of: ({ valid_from }) => dayOf(valid_from) },
  { name: 'id', of: ({ id }) => id },
  { name: 'version', of: ({ version }) => version },
  { name: 'memory', of: ({ memory }) => memory },
];

export const historyCommand: Command = {
  name: 'history',
  usage: '<memory id>',
  summary: 'Show the history of a memory, even after it was deleted.',
  options: { limit: LIMIT },
  run: async (call) => {
    const path = `/v1/memories/${pathWord(call)}/history`;
    const { items: events, more, text } = await listing(call, { path, query: {}, columns: HISTORY });
    return { value: { events, more }, text };
  },
};

const HISTORY: readonly Column<HistoryEvent>[] = [
  { name: 'at', of: ({ created_at }) => created_at },
  { name: 'event', of: ({ event }) => event },
  { name: 'before', of: ({ previous }) => previous },
  { name: 'after', of: ({ memory }) => memory },
];

export const exportUserCommand: Command = {
  name: 'export user',
  usage: '<user id>',
  summary: 'Print all data of a user, one JSON object per line.',
  run: async (call) => {
    const lines = await call.ask<string>('GET', `/v1/users/${pathWord(call)}/export`);
    if (!lines.trimEnd().split('\n').at(-1)?.includes('"end"'))
      throw new Error('the export was interrupted; run it again');
    if (!call.given.flag('json')) return { value: lines, text: lines };
    return {
      value: lines
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
      text: lines,
    };
  },
};
