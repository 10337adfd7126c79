import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ForecastView, RelationView } from '@slowwave/contracts';
import { listUpTo } from '../api.ts';
import { type Call, type Outcome, oneOf } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { table, tracked } from '../output.ts';
import type { Files, Found, Ids, Left, Relation, Talk } from '../sources/found.ts';
import { factBatch, keyOf, postAll } from '../sources/post.ts';
import { ORIGINS, type Origin, READERS } from '../sources/readers.ts';
import { itemsInFile, jsonIn, memoriesOf } from './import-mem0.ts';
import { forecastText } from './usage.ts';

export const FROM_OPTIONS = {
  from: { value: 'SYSTEM', about: `Read a file of ${ORIGINS.join(', ')} instead of a bundle.` },
  conversations: { value: null, about: 'Also read the conversations that the other system extracted its facts from.' },
  yes: { value: null, about: 'Confirm that a model reads the conversations.' },
  'dry-run': { value: null, about: 'Only show what would be imported.' },
} as const;

/** The system that --from names; null: none. */
export const originOf = ({ given }: Pick<Call, 'given'>): Origin | null => oneOf(given, 'from', ORIGINS);

/** Imports what another system has written, and says what came over and what did not. */
export async function importFrom(call: Call, origin: Origin, path: string): Promise<Outcome> {
  const { given } = call;
  const found = await read(origin, path, given.text('user'));
  const isAsked = found.talks.length > 0 && (!found.isRead || given.flag('conversations'));
  const wanted: Found = isAsked ? found : { ...found, talks: [], left: [...found.left, ...unread(found)] };
  if (given.flag('dry-run'))
    return { value: { origin, ...counted(wanted), sent: null }, text: reportOf(wanted, 'would be imported') };
  if (isAsked && !given.flag('yes'))
    throw new UsageError(`expected --yes: ${await costOf(call, found.talks)}`, 'import');
  const sent = await send(call, origin, wanted);
  return { value: { origin, ...counted(wanted), sent }, text: `${reportOf(wanted, 'imported')}\n${sentText(sent)}` };
}

async function read(origin: Origin, path: string, user: string | null): Promise<Found> {
  if (origin === 'mem0') return mem0Found(await itemsInFile(path), user);
  const files = await filesAt(path);
  try {
    return withoutLong(READERS[origin](files, user));
  } catch (error) {
    throw new CommandError(`${path}: ${error instanceof Error ? error.message : String(error)}`, EXIT.failed);
  }
}

/** mem0 has its own way in, which is older. */
function mem0Found(items: readonly unknown[], user: string | null): Found {
  const facts = memoriesOf(items, user);
  const lacks = ['former texts', 'the messages that memories came from', 'ratings', 'relations'];
  return { facts, talks: [], relations: [], left: [], lacks, isRead: true };
}

/** As long as a memory may be. */
const TEXT_MAX = 8_000;

function withoutLong(found: Found): Found {
  const facts = found.facts.filter(({ text }) => text !== '' && text.length <= TEXT_MAX);
  const count = found.facts.length - facts.length;
  const left = { what: 'memories', why: `they are empty or longer than ${TEXT_MAX} characters`, count };
  return count === 0 ? found : { ...found, facts, left: [...found.left, left] };
}

const READABLE = /\.(?:json|jsonl|ndjson|af)$/u;

/** A file, or all files of a folder that could be meant, by their names in it. */
async function filesAt(path: string): Promise<Files> {
  const about = await stat(path).catch((cause: Error) => {
    throw new CommandError(`could not read ${path}: ${cause.message}`, EXIT.notFound);
  });
  if (!about.isDirectory()) return new Map([[basename(path), await parsedIn(path)]]);
  const names = (await readdir(path, { recursive: true })).filter((name) => READABLE.test(name)).sort();
  const files = new Map<string, unknown>();
  for (const name of names) files.set(name, await parsedIn(join(path, name)));
  return files;
}

/** The first bytes of a ZIP archive. */
const ZIP = 'PK\u0003\u0004';

async function parsedIn(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8');
  if (text.startsWith(ZIP))
    throw new CommandError(`${path} is a ZIP archive; unpack it and name the folder`, EXIT.failed);
  return jsonIn(path, text);
}

const unread = ({ talks }: Found): readonly Left[] =>
  talks.length === 0
    ? []
    : [
        {
          ...{ what: 'messages', count: messagesIn(talks) },
          why: 'the facts were extracted from them; --conversations reads them again',
        },
      ];

const messagesIn = (talks: readonly Talk[]): number => talks.reduce((sum, { messages }) => sum + messages.length, 0);

const counted = ({ facts, talks, relations, left, lacks }: Found) => ({
  memories: facts.length,
  conversations: talks.length,
  messages: messagesIn(talks),
  relations: relations.length,
  timed: facts.filter(({ at }) => at !== null).length,
  left,
  lacks,
});

function reportOf(found: Found, verb: string): string {
  const { memories, conversations, messages, relations, timed } = counted(found);
  const ended = found.relations.filter(({ until }) => until !== null).length;
  const rows = [
    { what: 'memories', count: memories, note: `${timed} with their time` },
    { what: 'conversations', count: conversations, note: `${messages} messages` },
    { what: 'relations', count: relations, note: `${ended} ended` },
  ];
  const came = table({ [verb]: 'what', count: 'count', '': ({ count, note }) => (count === 0 ? '' : note) }, rows);
  const left = found.left.map(({ what, count, why }) => `  - ${count} ${what}: ${why}`).join('\n');
  return [
    came,
    ...(left === '' ? [] : [`Left behind:\n${left}`]),
    `The source does not contain: ${found.lacks.join('; ')}.`,
  ].join('\n');
}

/** What the model will read, and what it will use for that, as the server forecasts it. */
async function costOf(call: Call, talks: readonly Talk[]): Promise<string> {
  const { estimateTokens } = await import('@slowwave/engine');
  const tokens = talks.reduce(
    (sum, { messages }) => sum + messages.reduce((all, { text }) => all + estimateTokens(text), 0),
    0,
  );
  const owners = new Set(talks.map(({ ids }) => JSON.stringify(ids))).size;
  const use = await call.ask<ForecastView>('POST', '/v1/usage/forecast', { tokens, owners });
  return (
    `the model reads ${talks.length} conversations with ${messagesIn(talks)} messages. This takes ${forecastText(use)}, within the ` +
    'tenant’s budgets and with lower priority than live messages'
  );
}

interface Sent {
  readonly memories: number;
  readonly batches: number;
  readonly relations: number;
  /** What an earlier run had sent. */
  readonly known: number;
}

const sentText = ({ memories, batches, relations, known }: Sent): string =>
  `Sent ${memories} memories, ${batches} batches of conversations and ${relations} relations${known === 0 ? '' : `; ${known} were known already`}.`;

const send = (call: Call, origin: Origin, found: Found): Promise<Sent> =>
  tracked(call.out, { title: 'import', unit: 'items' }, async ({ update }) => {
    const parts = found.talks.flatMap(partsOf);
    const total = found.facts.length + parts.length + found.relations.length;
    let done = 0;
    const step = (): void => {
      call.cancel.throwIfAborted();
      done += 1;
      update(done, total);
    };
    const facts = found.facts.map((fact) => factBatch(origin, fact));
    const knownFacts = await postAll(call, facts, step);
    const knownParts = await postAll(
      call,
      parts.map((part) => partBatch(origin, part)),
      step,
    );
    const relations = await postRelations(call, found.relations, step);
    return {
      ...{ memories: found.facts.length - knownFacts, batches: parts.length - knownParts, relations },
      known: knownFacts + knownParts + found.relations.length - relations,
    };
  });

/** A part of a conversation that is one batch. */
interface Part extends Talk {
  readonly number: number;
}

const MESSAGES_AT_ONCE = 100;
const CHARACTERS_AT_ONCE = 40_000;
/** As long as a message may be. */
const MESSAGE_MAX = 500_000;

function partsOf(talk: Talk): readonly Part[] {
  const parts: Talk['messages'][number][][] = [[]];
  let characters = 0;
  for (const message of talk.messages) {
    const last = parts.at(-1) ?? [];
    if (
      last.length > 0 &&
      (last.length === MESSAGES_AT_ONCE || characters + message.text.length > CHARACTERS_AT_ONCE)
    ) {
      parts.push([message]);
      characters = 0;
    } else last.push(message);
    characters += message.text.length;
  }
  return parts.map((messages, number) => ({ ...talk, messages, number }));
}

/** As it was said, in its conversation, behind what is said now. */
const partBatch = (origin: Origin, { id, ids, title, messages, number }: Part): object => ({
  ...ids,
  ...(id !== '' && ids.run_id === undefined && { run_id: id }),
  priority: 'backfill',
  messages: messages.map(({ role, text, at }) => ({
    ...{ role, content: text.slice(0, MESSAGE_MAX) },
    ...(at !== null && { timestamp: at }),
  })),
  metadata: { origin, origin_id: id, ...(title !== null && { title }) },
  idempotency_key: keyOf(origin, [id, ids, number, messages]),
});

const NAME_MAX = 200;
const RELATIONS_MAX = 100_000;

/** Statements are not posted by a key: what is there already is not said again. Returns how many are new. */
async function postRelations(call: Call, relations: readonly Relation[], step: () => void): Promise<number> {
  let added = 0;
  for (const [ids, group] of Map.groupBy(relations, ({ ids }) => JSON.stringify(ids))) {
    const owner = JSON.parse(ids) as Ids;
    const query = { ...owner, ended: 'true' };
    const { items } = await listUpTo<RelationView>(call, { path: '/v1/relations', query, limit: RELATIONS_MAX });
    const known = new Set(
      items.map(({ source, relationship, destination, valid_from }) =>
        nameOf([source.name, relationship, destination.name, valid_from]),
      ),
    );
    for (const { source, relationship, destination, from, until, quote } of group) {
      const key = nameOf([source, relationship, destination, from]);
      if (!known.has(key)) {
        await call.ask('POST', '/v1/relations', {
          ...{ ...owner, source: { name: source.slice(0, NAME_MAX) }, relationship },
          destination: { name: destination.slice(0, NAME_MAX) },
          ...(from !== null && { valid_from: from }),
          ...(until !== null && (from === null || until >= from) && { invalid_at: until }),
          ...(quote !== null && { quote: quote.slice(0, 1_000) }),
          single: false,
        });
        known.add(key);
        added += 1;
      }
      step();
    }
  }
  return added;
}

const nameOf = (parts: readonly (string | null)[]): string =>
  JSON.stringify(parts.map((part) => part?.toLowerCase().replaceAll(' ', '_') ?? null));
