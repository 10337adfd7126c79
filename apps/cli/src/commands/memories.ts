import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  BatchView,
  ContextResult,
  ErasureAccepted,
  ErasureView,
  GraphView,
  HistoryEvent,
  MemoryView,
  ProfileView,
  RelationView,
  SearchResult,
  UserList,
} from '@slowwave/contracts';
import type { z } from 'zod';
import { withQuery } from '../api.ts';
import {
  type Call,
  type Command,
  countOf,
  type Given,
  isOffline,
  momentOf,
  OWNER,
  oneOf,
  ownerOf,
  pathWord,
  present,
} from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, MORE, table } from '../output.ts';

const WAIT_MS = 60_000;

const TOP_K_USUAL = 10;
const TOP_K_MAX = 100;
const TOKENS_USUAL = 1_000;
const TOKENS_MAX = 100_000;

export const memoryCommands: readonly Command[] = [
  {
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
  },
  {
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
  },
  {
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
  },
  {
    name: 'users',
    usage: '[beginning of an id]',
    summary: 'List the users, agents and runs that own memories, last active first.',
    options: { limit: LIMIT },
    run: async (call) => {
      const query = { order: 'updated', id_prefix: call.given.words[0] ?? null };
      return listed(call, { path: '/v1/users', query, columns: USERS, as: 'users' });
    },
  },
  {
    name: 'memories',
    summary: 'List the memories of an owner, newest first.',
    options: { ...OWNER, limit: LIMIT },
    run: async (call) => {
      const query = ownerOf(call.given);
      return listed(call, { path: '/v1/memories', query, columns: MEMORIES, as: 'memories' });
    },
  },
  {
    name: 'history',
    usage: '<memory id>',
    summary: 'Show the history of a memory, even after it was deleted.',
    options: { limit: LIMIT },
    run: async (call) => {
      const path = `/v1/memories/${pathWord(call)}/history`;
      return listed(call, { path, query: {}, columns: HISTORY, as: 'events' });
    },
  },
  {
    name: 'profile',
    usage: '<user>',
    summary: 'Show the profile of a user, slot by slot.',
    run: async (call) => profileShown(await call.ask<ProfileView>('GET', profilePath(call.given.words))),
  },
  {
    name: 'profile put',
    usage: '<user> <slot> <text or memory>',
    summary: 'Put a line into a slot of a profile. Nights do not change it.',
    about: 'A word that starts with mem_ is the id of an existing memory; anything else is stored as a new memory.',
    writes: true,
    run: async (call) => {
      const [user = '', slot = '', line = ''] = call.given.words;
      const body = line.startsWith('mem_') ? { memory_id: line } : { memory: line };
      return profileShown(await call.ask<ProfileView>('PUT', profilePath([user, slot]), body));
    },
  },
  {
    name: 'profile take',
    usage: '<user> <slot> <memory>',
    summary: 'Remove a line from a profile for good. The memory stays.',
    writes: true,
    run: async (call) => profileShown(await call.ask<ProfileView>('DELETE', profilePath(call.given.words))),
  },
  {
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
  },
];

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

const EVENTS: Columns<BatchView['events'][number]> = { event: 'event', memory: 'memory_id', text: 'memory' };

const HITS: Columns<z.infer<typeof SearchResult>['results'][number]> = {
  score: ({ score }) => score.toFixed(2),
  since: ({ valid_from }) => dayOf(valid_from),
  id: 'id',
  memory: 'memory',
};

const dayOf = (moment: string): string => moment.slice(0, 'yyyy-mm-dd'.length);

const USERS: Columns<z.infer<typeof UserList>['results'][number]> = {
  kind: 'kind',
  id: 'id',
  memories: 'memories',
  pending: 'pending',
  active: 'updated_at',
};

const MEMORIES: Columns<MemoryView> = {
  since: ({ valid_from }) => dayOf(valid_from),
  id: 'id',
  version: 'version',
  memory: 'memory',
};

const HISTORY: Columns<HistoryEvent> = { at: 'created_at', event: 'event', before: 'previous', after: 'memory' };

const profilePath = ([user = '', ...rest]: readonly string[]): string =>
  ['/v1/users', ...[user, 'profile', ...rest].map(encodeURIComponent)].join('/');

function profileShown(profile: ProfileView) {
  const lines = profile.slots.flatMap(({ name, lines: of }) => of.map((line) => ({ slot: name, ...line })));
  const left = profile.slots
    .filter(({ left_out }) => left_out > 0)
    .map(({ name, left_out }) => `${left_out} of ${name}`);
  const note = left.length === 0 ? '' : `\n\nNot shown for lack of room: ${left.join(', ')}.`;
  const text =
    lines.length === 0 ? `The profile of ${profile.user_id} is empty.` : `${table(LINE_COLUMNS, lines)}${note}`;
  return { value: profile, text };
}

type Line = ProfileView['slots'][number]['lines'][number] & { readonly slot: string };

const LINE_COLUMNS: Columns<Line> = { slot: 'slot', line: 'memory', by: 'by', memory: 'memory_id' };

const GRAPH_FORMATS = ['table', 'dot', 'mermaid', 'svg'] as const;
const RELATIONS_USUAL = 200;
const RELATIONS_MAX = 1_000;

export const graphCommand: Command = {
  name: 'graph',
  summary: "Show or draw an owner's graph: entities and their relations.",
  about: `slowwave graph --user ann --format svg > ann.svg draws it; dot is for Graphviz, mermaid for
Markdown.`,
  options: {
    ...OWNER,
    format: { value: 'FORMAT', about: `${GRAPH_FORMATS.join(', ')}. Default: table.` },
    'as-of': { value: 'MOMENT', about: 'Show what was true at this time, e.g. 2026-03-01T09:30:00Z or 30d.' },
    ended: { value: null, about: 'Also relations that have ended.' },
    limit: { value: 'N', about: `Maximum number of relations. Default: ${RELATIONS_USUAL}.` },
  },
  run: async ({ given, out, ask }) => {
    const format = oneOf(given, 'format', GRAPH_FORMATS) ?? 'table';
    const limit = countOf(given, 'limit', { usual: RELATIONS_USUAL, max: RELATIONS_MAX });
    const time = { as_of: momentOf(given, 'as-of'), ended: given.flag('ended') ? 'true' : null };
    const query = { ...ownerOf(given), ...time, limit };
    if (format !== 'table' && !out.json)
      return { value: null, text: await ask<string>('GET', withQuery('/v1/graph', { ...query, format })) };
    const graph = await ask<GraphView>('GET', withQuery('/v1/graph', query));
    return { value: graph, text: graphText(graph) };
  },
};

function graphText({ relations, truncated }: GraphView): string {
  if (relations.length === 0) return 'No relations found.';
  return table(RELATION_COLUMNS, relations) + (truncated ? MORE : '');
}

const RELATION_COLUMNS: Columns<RelationView> = {
  source: ({ source }) => source.name,
  relationship: 'relationship',
  destination: ({ destination }) => destination.name,
  since: ({ valid_from }) => dayOf(valid_from),
  until: ({ invalid_at }) => (invalid_at === null ? '' : dayOf(invalid_at)),
  said: ({ confirmations }) => confirmations + 1,
  id: 'id',
};

export const eraseCommand: Command = {
  name: 'erase',
  usage: '[user id]',
  writes: true,
  summary: 'Erase a user, an agent or a run: everything it owns and everything derived from it.',
  about: `This cannot be undone and therefore requires --yes. A worker erases in the background; offline
the erasure is only requested, and runs once a worker runs. Backups are not changed. Erasing an
agent or a run keeps what users own: only what was said without a user is erased.`,
  options: {
    agent: { value: 'ID', about: 'An agent instead of a user,' },
    run: { value: 'ID', about: 'or a run.' },
    yes: { value: null, about: 'Confirm the erasure.' },
    'no-wait': { value: null, about: 'Do not wait for completion.' },
  },
  run: async (call) => {
    const { given, ask } = call;
    const { kind, id } = erasedBy(given);
    if (!given.flag('yes'))
      throw new UsageError(`expected --yes: this permanently erases everything that ${kind} ${id} owns`, 'erase');
    const accepted = await ask<z.infer<typeof ErasureAccepted>>('DELETE', `/v1/${kind}s/${encodeURIComponent(id)}`);
    if (given.flag('no-wait') || isOffline(call))
      return { value: accepted, text: `Erasure ${accepted.erasure_id} requested; a worker will run it.` };
    const erasure = await untilErased(call, accepted.status_url);
    return { value: erasure, text: erasureText(erasure) };
  },
};

/** Exactly one owner: an erasure by mistake cannot be undone. */
function erasedBy(given: Given): { readonly kind: string; readonly id: string } {
  const [user = null] = given.words;
  const named = Object.entries({ user, agent: given.text('agent'), run: given.text('run') });
  const [one, ...more] = named.flatMap(([kind, id]) => (id === null ? [] : [{ kind, id }]));
  if (one !== undefined && more.length === 0) return one;
  throw new UsageError('expected one of a user id, --agent, --run', 'erase');
}

const POLL_MS = 500;

async function untilErased({ ask, cancel }: Call, path: string): Promise<ErasureView> {
  for (;;) {
    const erasure = await ask<ErasureView>('GET', path);
    if (erasure.state === 'erased') return erasure;
    await sleep(POLL_MS, null, { signal: cancel });
  }
}

function erasureText({ id, counts, remains }: ErasureView): string {
  const erased = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  const rest = remains.map((one) => `\n  remaining: ${one}`).join('');
  return `Erased (${id}): ${erased.length === 0 ? 'there was nothing' : erased.join(', ')}.${rest}`;
}
