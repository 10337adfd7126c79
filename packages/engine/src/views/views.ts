import type {
  ConclusionView,
  EntityView,
  MemoryView,
  RelationView,
  SaidMessage,
  StatementView,
} from '@slowwave/contracts';
import type { SeenRelation } from '../graph/read/read-graph.ts';
import { type Entity, type KeptRelation, relationText, type Statement } from '../graph/words.ts';
import { isPinned, newest } from '../memories/evolve.ts';
import { ratingOf } from '../memories/ratings.ts';
import { writtenIn } from '../messages/messages.ts';
import type { Covered } from '../ports/ledger/summaries.ts';
import { isoOf } from '../text/dates.ts';
import {
  type Conclusion,
  type Content,
  type Failure,
  isWithheld,
  type Memory,
  type MemoryVersion,
  type Message,
  type Millis,
  type Owner,
  type Scope,
  type TaskSource,
} from '../words.ts';

/** A memory as the API shows it: by what was said last, where nothing else is given. */
export function memoryView(memory: Memory, version: MemoryVersion = newest(memory)): MemoryView {
  const { details } = version;
  return {
    id: memory.id,
    ...scopeView(memory.scope),
    memory: version.text,
    version: version.number,
    metadata: details.metadata,
    categories: details.category === null ? [] : [details.category],
    immutable: details.immutable,
    trust: details.trust,
    flagged: details.flagged ?? false,
    ...(details.concluded !== undefined && { conclusion: conclusionView(details.concluded) }),
    ...(details.skill !== undefined && { skill: details.skill }),
    ...(details.task !== undefined && { task: taskSourceView(details.task) }),
    pinned: isPinned(memory),
    feedback: ratingOf(memory, version.number),
    said_at: isoOf(version.saidAt.at),
    valid_from: isoOf(version.validFrom),
    ...(details.utcOffset !== undefined && { utc_offset: details.utcOffset }),
    invalid_at: isoOrNull(version.invalidAt),
    expires_at: isoOrNull(details.expiresAt),
    confirmations: memory.confirmations,
    created_at: isoOf(memory.createdAt),
    updated_at: isoOf(memory.updatedAt),
  };
}

/** What a memory that nobody said rests on. */
export const conclusionView = ({ certainty, from }: Conclusion): ConclusionView => ({
  certainty,
  evidence: from.map(({ memoryId, version }) => ({ memory_id: memoryId, version })),
});

/** The state of a run that a memory tells of. */
const taskSourceView = ({ runId, version }: TaskSource): NonNullable<MemoryView['task']> => ({
  run_id: runId,
  version,
});

/** A message as the API shows it. */
export const saidView = (message: Message): SaidMessage => ({
  message_id: message.id,
  batch_id: message.batchId,
  id: message.clientId,
  role: message.role,
  name: message.name,
  ...contentView(message.content),
  said_at: isoOf(message.saidAt.at),
  ...(message.clock !== undefined && { utc_offset: message.clock.offset }),
});

const contentView = (content: Content): Pick<SaidMessage, 'content' | 'withheld'> =>
  isWithheld(content) ? { content: '', withheld: content.withheld } : { content: writtenIn(content) };

/** The ids of a scope in the API's words. */
export const scopeView = (scope: Scope) => ({
  user_id: scope.userId,
  agent_id: scope.agentId,
  run_id: scope.runId,
  app_id: scope.appId,
});

/** Which messages a summary was made of. */
export const coveredView = ({ firstMessageId, lastMessageId, messages }: Covered) => ({
  first_message_id: firstMessageId,
  last_message_id: lastMessageId,
  messages,
});

/** The ids of an owner in the API's words. */
export const ownerView = ({ kind, id }: Owner) => ({
  user_id: kind === 'user' ? id : null,
  agent_id: kind === 'agent' ? id : null,
  run_id: kind === 'run' ? id : null,
});

export const entityView = (entity: Entity): EntityView => ({
  id: entity.id,
  ...ownerView(entity.owner),
  name: entity.name,
  kind: entity.kind,
  self: entity.self,
  aliases: [...entity.aliases],
  merged_into: entity.mergedInto,
  created_at: isoOf(entity.createdAt),
});

/** What a relation says, wherever it is shown. */
export const relationCore = (relation: SeenRelation) => ({
  id: relation.id,
  source: { id: relation.source, name: relation.sourceName },
  relationship: relation.relationship,
  destination: { id: relation.destination, name: relation.destinationName },
  text: relationText(relation),
  valid_from: isoOf(relation.validFrom),
  invalid_at: isoOrNull(relation.invalidAt),
  memory_ids: [...relation.memoryIds],
});

export const relationView = (relation: KeptRelation): RelationView => ({
  ...relationCore(relation),
  ...ownerView(relation.owner),
  said_at: isoOf(relation.saidAt.at),
  confirmations: relation.confirmations,
  quote: relation.quote,
  message_ids: [...relation.messageIds],
});

export const statementView = (statement: Statement, counts: boolean): StatementView => ({
  id: statement.id,
  kind: statement.kind,
  counts,
  source: statement.source,
  ...saidBy(statement),
  quote: statement.quote,
  actor: statement.consolidationId === null ? 'api' : 'study',
  consolidation_id: statement.consolidationId,
  message_ids: [...statement.messageIds],
  memory_ids: [...statement.memoryIds],
  said_at: isoOf(statement.saidAt.at),
  recorded_at: isoOf(statement.recordedAt),
});

type Own = Pick<StatementView, 'relationship' | 'destination' | 'name' | 'valid_from' | 'until' | 'reason'>;

const NONE: Own = { relationship: null, destination: null, name: null, valid_from: null, until: null, reason: null };

/** What only some kinds of statements have. */
function saidBy(statement: Statement): Own {
  switch (statement.kind) {
    case 'holds':
      return {
        ...NONE,
        ...endsOf(statement),
        valid_from: isoOf(statement.validFrom),
        until: isoOrNull(statement.until),
      };
    case 'ended':
      return { ...NONE, ...endsOf(statement), until: isoOf(statement.at), reason: statement.reason };
    case 'denied':
      return { ...NONE, ...endsOf(statement) };
    case 'same':
      return { ...NONE, destination: statement.destination, reason: statement.reason };
    case 'apart':
      return NONE;
    case 'named':
      return { ...NONE, name: statement.name };
  }
}

const endsOf = ({ relationship, destination }: { relationship: string; destination: string }) => ({
  relationship,
  destination,
});

/** A failure as tenants may read it: what happened, and nothing of where. The log has the message as it was. */
export const failureOf = ({ code, message }: Pick<Failure, 'code' | 'message'>, at: Millis): Failure => ({
  code,
  message: withoutPlaces(message),
  at,
});

/**
 * A text without addresses, hosts, names of databases and paths of the installation. Messages come from drivers, servers and
 * the system, in words that nobody here chooses: what looks like a place is taken for one.
 */
export const withoutPlaces = (text: string): string =>
  PLACES.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);

const ADDRESS = '[address]';
const PATH = '[path]';

const PLACES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>(){},;]+/giu, ADDRESS],
  // What the system says it looked up or connected to: getaddrinfo ENOTFOUND llm.example.
  [/\b(getaddrinfo|connect|querySrv|bind|listen) ([A-Z][A-Z_]+) [^\s,;)]+/gu, `$1 $2 ${ADDRESS}`],
  [/\b(database|user|role|host|host name) "[^"]*"/giu, '$1 "…"'],
  [/\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d{1,5})?/giu, ADDRESS],
  [/(?<![\w:])(?:[0-9a-f]{1,4}:){0,7}:(?:[0-9a-f]{1,4}:?)+/giu, ADDRESS],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:\/[\w.-]+)?/gu, ADDRESS],
  [/\b[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*:\d{2,5}\b(?:\/[\w.-]+)?/giu, ADDRESS],
  [/\b[a-z]:\\[^\s"'`<>|,;]+/giu, PATH],
  // Routes of the API are no places.
  [/(?<![\w.:/\]])\/(?!(?:v1|v2|v3|mem0|queues|readyz|healthz)\b)[\w.@+-]+(?:\/[\w.@+-]+)+\/?/gu, PATH],
];

export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : isoOf(at));

export const failureView = (failure: Failure | null) => (failure === null ? null : shown(failure));

export const failuresView = (failures: readonly Failure[]) => failures.map(shown);

/** What was kept before failures were kept without their places is shown without them, too. */
const shown = (failure: Failure) => ({ ...failureOf(failure, failure.at), at: isoOf(failure.at) });
