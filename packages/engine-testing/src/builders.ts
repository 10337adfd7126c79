import {
  type BatchSettings,
  DEFAULT_TENANT,
  eventIdOf,
  evolve,
  type HeldOperation,
  type Home,
  type LaneId,
  type Memory,
  type MemoryChange,
  type MemoryEvent,
  type NewBatch,
  type NewMessage,
  type Nudge,
  newestOrNull,
  type Owner,
  type OwnerBits,
  ownerBitsOf,
  ownerOf,
  type Plan,
  type Rated,
  type Scope,
  type SentCall,
  type SettledCall,
  type StoredAnswer,
  type Tools,
  type Turn,
  underOf,
  type VersionDetails,
} from '@slowwave/engine';
import { batchIdOf, messageIdOf } from '@slowwave/engine/storing';

export const scope = (ids: Partial<Scope> = { userId: 'ann' }): Scope => ({
  userId: null,
  agentId: null,
  runId: null,
  appId: null,
  ...ids,
});

export const user = (id: string): Owner => ({ kind: 'user', id });

export const settings = (changed: Partial<BatchSettings> = {}): BatchSettings => ({
  mode: 'decide',
  instructions: null,
  includes: null,
  excludes: null,
  expiresAt: null,
  ...changed,
});

/** What ids of ann's things carry, or of another owner's. */
export const bitsOf = (tools: Tools, owner: Owner = user('ann'), tenant = DEFAULT_TENANT): OwnerBits =>
  ownerBitsOf(tools, { tenant, owner });

export const newMessage = (tools: Tools, given: Partial<NewMessage> = {}, bits = bitsOf(tools)): NewMessage => ({
  id: tools.id('msg', bits),
  clientId: null,
  role: 'user',
  content: 'I live in Berlin.',
  name: null,
  at: null,
  ...given,
});

/** A batch of user ann with one message, accepted now, unless said otherwise. */
export function newBatch(tools: Tools, given: Partial<NewBatch> = {}): NewBatch {
  const bits = bitsOf(tools, ownerOf(given.scope ?? scope()), given.tenant);
  const id = given.id ?? batchIdOf(tools.id('bat', bits));
  return {
    id,
    tenant: DEFAULT_TENANT,
    scope: scope(),
    settings: settings(),
    metadata: {},
    messages: [newMessage(tools, { id: messageIdOf(id, 0) }, bits)],
    tokens: 10,
    acceptedAt: tools.now(),
    flush: false,
    priority: 'live',
    idempotency: null,
    ...given,
  };
}

/** The first turn of a lane of the default tenant, due long ago unless said otherwise. */
export const newNudge = (lane: string, given: Partial<Nudge> = {}): Nudge => ({
  lane: lane as LaneId,
  tenant: DEFAULT_TENANT,
  generation: 1,
  priority: 'live',
  dueAt: 0,
  ...given,
});

export const details = (given: Partial<VersionDetails> = {}): VersionDetails => ({
  category: null,
  language: 'en',
  about: 'user',
  trust: 'user',
  quote: null,
  sourceIds: [],
  metadata: {},
  immutable: false,
  expiresAt: null,
  ...given,
});

/** Where memories of a scope live. */
export const home = (lane: LaneId, where: { tenant?: Home['tenant']; scope?: Scope } = {}): Home => {
  const inScope = where.scope ?? scope();
  return { tenant: where.tenant ?? DEFAULT_TENANT, lane, owner: ownerOf(inScope), scope: inScope };
};

/** What a test says of an event; the rest follows from the memory it happens to. */
export type Happening = Partial<Omit<MemoryEvent, 'details'>> & { details?: Partial<VersionDetails> };

/** A memory that did not exist before. */
export function added(tools: Tools, at: Home, given: Happening = {}): MemoryChange {
  const event = eventOf(tools, { kind: 'ADD', memory: null, home: at }, { under: underOf(at.scope), ...given });
  return { memory: evolve(at, null, [event]), expectedRevision: 0, events: [event] };
}

export const updated = (tools: Tools, memory: Memory, given: Happening = {}): MemoryChange =>
  changed(tools, { kind: 'UPDATE', memory }, given);

export const deleted = (tools: Tools, memory: Memory, given: Happening = {}): MemoryChange =>
  changed(tools, { kind: 'DELETE', memory }, given);

/** Earlier events of the memory, by their revisions, count no more. */
export const retracted = (
  tools: Tools,
  memory: Memory,
  { retracts, undoId = 'und_1' }: { retracts: readonly number[]; undoId?: string },
): MemoryChange => changed(tools, { kind: 'UNDO', memory }, { actor: 'undo', retraction: { undoId, retracts } });

/** Somebody rates a version of it; the newest unless said otherwise. */
export const rated = (tools: Tools, memory: Memory, given: Rated & Happening): MemoryChange => {
  const { version, rating, ...happening } = given;
  return changed(tools, { kind: 'FEEDBACK', memory }, { rated: { version, rating }, ...happening });
};

export const confirmed = (tools: Tools, memory: Memory, given: Happening = {}): MemoryChange =>
  changed(tools, { kind: 'NONE', memory }, { under: underOf(memory.scope), ...given });

function changed(tools: Tools, what: { kind: MemoryEvent['kind']; memory: Memory }, given: Happening): MemoryChange {
  const { tenant, lane, owner, scope: inScope, revision } = what.memory;
  const event = eventOf(tools, { ...what, home: what.memory }, given);
  const memory = evolve({ tenant, lane, owner, scope: inScope }, what.memory, [event]);
  return { memory, expectedRevision: revision, events: [event] };
}

function eventOf(
  tools: Tools,
  what: { kind: MemoryEvent['kind']; memory: Memory | null; home: Home },
  given: Happening,
): MemoryEvent {
  const { kind, memory } = what;
  const now = tools.now();
  const saysSomething = textOf(kind, memory) !== null;
  const { details: someDetails, ...fields } = given;
  const sourceIds = fields.sourceIds ?? someDetails?.sourceIds ?? [];
  const saidAt = fields.saidAt ?? { at: now, seq: (memory?.revision ?? 0) + 1 };
  const memoryId = memory?.id ?? tools.id('mem', ownerBitsOf(tools, what.home));
  const revision = (memory?.revision ?? 0) + 1;
  return {
    id: eventIdOf(memoryId, revision),
    memoryId,
    revision,
    kind,
    actor: 'api',
    consolidationId: null,
    factId: null,
    reason: 'a test says so',
    previous: memory === null ? null : (newestOrNull(memory)?.text ?? null),
    saidAt,
    validFrom: saidAt.at,
    recordedAt: now,
    text: textOf(kind, memory),
    sourceIds,
    ...fields,
    details: saysSomething ? details({ sourceIds, ...someDetails }) : null,
  };
}

function textOf(kind: MemoryEvent['kind'], memory: Memory | null): string | null {
  if (kind === 'DELETE' || kind === 'UNDO' || kind === 'FEEDBACK') return null;
  const known = memory === null ? null : newestOrNull(memory);
  return kind === 'NONE' && known !== null ? known.text : 'Lives in Berlin';
}

export const storedAnswer = (tools: Tools, given: Partial<StoredAnswer> = {}): StoredAnswer => ({
  step: 'extract',
  inputHash: 'input-1',
  text: '{"facts":[]}',
  truncated: false,
  model: 'scripted',
  usage: { promptTokens: 100, completionTokens: 20 },
  at: tools.now(),
  ...given,
});

/** A call of the consolidation of a turn that was answered, and never noted before. */
export const settledCall = (
  tools: Tools,
  { tenant, lane, consolidationId }: Pick<Turn, 'tenant' | 'lane' | 'consolidationId'>,
  given: Partial<SettledCall> = {},
): SettledCall => ({
  id: tools.id('cal'),
  ...{ tenant, lane, consolidationId, appId: null, keyId: null, step: 'extract', cause: 'live', model: 'scripted' },
  usage: { promptTokens: 100, completionTokens: 20 },
  ...{ cost: 0.5, at: tools.now(), outcome: 'answered', noted: null, tookMs: 10 },
  ...given,
});

/** A call of the consolidation of a turn that has just been sent. */
export function sentCall(tools: Tools, turn: Turn, given: Partial<SentCall> = {}): SentCall {
  const { outcome: _, noted: __, tookMs: ___, ...call } = settledCall(tools, turn);
  return { ...call, usage: { promptTokens: 7, completionTokens: 0 }, ...given };
}

/** A plan that decides nothing. */
export const newPlan = (turn: Turn, given: Partial<Plan> = {}): Plan => ({
  consolidationId: turn.consolidationId,
  round: 1,
  facts: [],
  discards: [],
  candidates: [],
  operations: [],
  held: [],
  outcomes: [],
  remarks: [],
  events: [],
  prompts: [],
  models: { chat: 'scripted', embedder: 'fake' },
  usage: { promptTokens: 0, completionTokens: 0, calls: 0, models: [] },
  cost: 0,
  timings: {},
  ...given,
});

/** A new memory that waits for a person. */
export const heldOperation = (tools: Tools, given: Partial<HeldOperation> = {}): HeldOperation => ({
  id: tools.id('rev', bitsOf(tools)),
  kind: 'ADD',
  fact: 'f0',
  factText: 'Lives in Berlin',
  memoryId: tools.id('mem', bitsOf(tools)),
  before: null,
  after: 'Lives in Berlin',
  reason: 'new',
  decidedBy: 'model',
  saidAt: { at: tools.now(), seq: 1 },
  validFrom: tools.now(),
  details: details(),
  sourceIds: [],
  ...given,
});
