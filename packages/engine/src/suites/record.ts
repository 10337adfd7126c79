import type { EngineDeps } from '../deps.ts';
import { languageOf } from '../figures/measure.ts';
import { batchIdOf, messageIdOf, ownerBitsOf } from '../ids.ts';
import { valuesMasked } from '../masking/personal.ts';
import { evolve, forgottenAt, liveVersion } from '../memories/evolve.ts';
import { textOfContent } from '../messages/messages.ts';
import type { Receipt } from '../ports/ledger/feedback.ts';
import type { Batch } from '../ports/ledger/lanes.ts';
import { pages } from '../ports/ledger/ledger.ts';
import type { Suite, SuiteCase } from '../ports/ledger/replays.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';
import { asIfAll, type LaneInLife, lanesInLife, livesBefore, messagesOf } from '../replays/lives.ts';
import { heldInLife } from '../replays/result.ts';
import { claimsOf, plainOf } from '../text/claims.ts';
import { estimateTokens, normaliseText } from '../text/normalise.ts';
import { terms } from '../text/terms.ts';
import { hasFacts, isWithheld, type LaneId, type Millis, type Owner, type TenantId } from '../words.ts';
import {
  type CaseBatch,
  type CaseContent,
  type CaseQuestion,
  type KnownMemory,
  madeBy,
  storedContent,
} from './cases.ts';

type Deps = Pick<EngineDeps, 'ledger' | 'tools'>;

interface RecordAsked {
  readonly tenant: TenantId;
  readonly name: string;
  readonly owners: number;
  /** The newest of each owner. */
  readonly batchesPerOwner: number;
  readonly masked: boolean;
}

type RecordedSuite =
  | { readonly kind: 'recorded'; readonly suite: Suite; readonly cases: number }
  | { readonly kind: 'name_taken' }
  /** Nobody has anything that was consolidated and is still there. */
  | { readonly kind: 'nothing' };

/** Owners that are looked at for each that is taken: from them those are chosen that differ most. */
const CANDIDATES = 4;
/** An installation may have millions: the order by hash is that of so many of them. */
const OWNERS_SCANNED = 20_000;
/** Batches of one owner that are looked through for the newest. */
const BATCHES_SCANNED = 1_000;
/** Cases are seeded whole: owners who have told more are left out. */
const MEMORIES_MAX = 1_000;

/** Records what was said by a sample of owners, what was known before, and what was made of it. */
export async function recordSuite(deps: Deps, asked: RecordAsked): Promise<RecordedSuite> {
  const { ledger, tools } = deps;
  const { tenant, name, masked } = asked;
  if ((await ledger.suites.find(tenant, name)) !== null) return { kind: 'name_taken' };
  const candidates: Candidate[] = [];
  const receipts = await receiptsByLane(deps, tenant);
  for (const owner of await ownersByHash(deps, asked)) {
    if (candidates.length >= asked.owners * CANDIDATES) break;
    const recorded = await recordOwner(deps, { ...asked, owner, receipts });
    if (recorded !== null) candidates.push(recorded);
    await tools.breathe();
  }
  const chosen = stratified(candidates, asked.owners);
  if (chosen.length === 0) return { kind: 'nothing' };
  const id = tools.id('sui');
  const suite: Suite = { id, tenant, name, origin: 'production', masked, margins: {}, createdAt: tools.now() };
  const cases = chosen.map(({ owner, lane, content }, place): Omit<SuiteCase, 'suiteId'> => {
    const stored = storedContent(content);
    // Every text in it, quotes and messages alike, so that what stood in them still does.
    return { id: tools.id('sca'), place, owner, lane, content: masked ? valuesMasked(stored) : stored };
  });
  const isCreated = await ledger.suites.create(suite, cases);
  return isCreated ? { kind: 'recorded', suite, cases: cases.length } : { kind: 'name_taken' };
}

/** The same name takes the same owners. */
async function ownersByHash({ ledger, tools }: Deps, { tenant, name }: RecordAsked): Promise<readonly Owner[]> {
  const found: { readonly owner: Owner; readonly by: string }[] = [];
  for await (const { owner } of pages((page) => ledger.overview.owners(tenant, page))) {
    found.push({ owner, by: tools.hash(JSON.stringify([name, owner.kind, owner.id])) });
    if (found.length >= OWNERS_SCANNED) break;
  }
  return found.sort((a, b) => (a.by < b.by ? -1 : 1)).map(({ owner }) => owner);
}

interface Candidate {
  readonly owner: Owner;
  readonly lane: LaneId;
  readonly content: CaseContent;
  /** Language, length and kind of change. */
  readonly stratum: string;
}

/** One of each stratum after the other, so that rare ones are among them. */
function stratified(candidates: readonly Candidate[], count: number): readonly Candidate[] {
  const strata = [...Map.groupBy(candidates, ({ stratum }) => stratum).values()];
  const chosen: Candidate[] = [];
  for (let round = 0; chosen.length < count && strata.some((stratum) => stratum.length > round); round += 1)
    chosen.push(...strata.flatMap((stratum) => stratum[round] ?? []));
  return chosen.slice(0, count);
}

interface RecordedOwner {
  readonly owner: Owner;
  /** What was asked lately. */
  readonly receipts: ReadonlyMap<LaneId, readonly Receipt[]>;
}

/** null: there is nothing of it to be consolidated again, or not all of it is kept. */
async function recordOwner(
  deps: Deps,
  { tenant, owner, batchesPerOwner, receipts }: RecordAsked & RecordedOwner,
): Promise<Candidate | null> {
  const { ledger, tools } = deps;
  const lane = await ledger.lanes.find(tenant, owner);
  if (lane === null) return null;
  const filter = { states: ['consolidated', 'empty'], lane: lane.id } as const;
  const { batches: known } = await ledger.replays.match(tenant, filter, BATCHES_SCANNED);
  const windows = await windowsOf(
    deps,
    known.filter(({ settings }) => hasFacts(settings)),
    batchesPerOwner,
  );
  const batches = windows.flatMap(({ batches: some }) => some);
  const ids = batches.map(({ id }) => id);
  if (ids.length === 0 || (await ledger.retention.withoutMessages(tenant, ids)).length > 0) return null;
  const [life] = await lanesInLife(deps, batches, tools.now());
  if (life === undefined || [...life.own.values()].some(({ details }) => details?.removed !== undefined)) return null;
  const content = await contentOfLife(deps, { tenant, life, windows, receipts: receipts.get(lane.id) ?? [] });
  return content === null ? null : { owner, lane: lane.id, content, stratum: stratumOf(content) };
}

interface Window {
  readonly consolidation: Consolidation;
  readonly batches: readonly Batch[];
}

/** The newest batches, as they were consolidated together; windows that are cut in two, or of which something is forgotten, are left out. */
async function windowsOf(deps: Deps, known: readonly Batch[], count: number): Promise<readonly Window[]> {
  const { ledger } = deps;
  const newest = known.toSorted((a, b) => a.position - b.position).slice(-count);
  const windows: Window[] = [];
  for (const [id, batches] of Map.groupBy(newest, ({ consolidationId }) => consolidationId ?? '')) {
    const [first] = batches;
    const consolidation = first === undefined ? null : await ledger.thoughts.get(first.tenant, id);
    const isWhole = consolidation?.batchIds.length === batches.length && consolidation.removedAt === undefined;
    if (!isWhole || !(await areShown(deps, batches))) {
      windows.length = 0; // what came before is not what was known then
      continue;
    }
    windows.push({ consolidation, batches });
  }
  return windows;
}

/** Whether nothing of it is hidden by now: neither what was said, nor what came of it. */
async function areShown(deps: Deps, batches: readonly Batch[]): Promise<boolean> {
  const { ledger } = deps;
  for (const batch of batches) {
    const messages = await messagesOf(deps, batch);
    if (messages.some(({ content, hidden }) => hidden === true || isWithheld(content))) return false;
    const events = await ledger.batches.events(batch.tenant, batch.id);
    const ids = [...new Set(events.map(({ memoryId }) => memoryId))];
    const memories = await ledger.memories.many(batch.tenant, ids);
    if (memories.some((memory) => forgottenAt(memory) !== null)) return false;
  }
  return true;
}

interface RecordedLife {
  readonly tenant: TenantId;
  readonly life: LaneInLife;
  readonly windows: readonly Window[];
  readonly receipts: readonly Receipt[];
}

async function contentOfLife(
  deps: Deps,
  { tenant, life, windows, receipts }: RecordedLife,
): Promise<CaseContent | null> {
  const memories: KnownMemory[] = [];
  const forgotten = new Set<string>();
  for await (const page of livesBefore(deps, life)) {
    for (const { memory, events } of page) {
      if (forgottenAt(memory) !== null) {
        forgotten.add(memory.id);
        continue;
      }
      const version = liveVersion(evolve(memory, null, asIfAll(events)));
      if (version === null || version.text === '') continue;
      const { category, language, about } = version.details;
      const { text, saidAt, validFrom } = version;
      memories.push({ id: memory.id, text, at: saidAt.at, validFrom, category, language, about });
    }
    if (memories.length > MEMORIES_MAX) return null;
  }
  const made = await madeBy(
    deps,
    windows.map(({ consolidation }) => consolidation),
  );
  const { held } = await heldInLife(deps, life);
  const batches: CaseBatch[] = [];
  for (const [window, { batches: some }] of windows.entries())
    for (const batch of some) batches.push({ ...(await batchOf(deps, batch)), window });
  const said = batches.flatMap(({ messages }) => messages).map(({ content }) => textOfContent(content));
  const live = held.filter(({ id }) => !forgotten.has(id)).map(({ text }) => text);
  const stored = { ...made.outcome, live };
  return {
    language: languageOf(said.join('\n')),
    memories,
    batches,
    stored,
    measured: { figures: made.figures, calls: made.calls, tokens: made.tokens },
    questions: await questionsOf(
      deps,
      { tenant, receipts },
      { stored, said: [...said, ...memories.map(({ text }) => text)] },
    ),
  };
}

async function batchOf(deps: Deps, batch: Batch): Promise<Omit<CaseBatch, 'window'>> {
  const messages = await messagesOf(deps, batch);
  return {
    id: batch.id,
    scope: batch.scope,
    settings: batch.settings,
    messages: messages.map(({ id, clientId, role, content, name, saidAt, clock, trust }) => ({
      ...{ id, clientId, role, content, name, at: saidAt.at as Millis },
      ...(clock !== undefined && { clock }),
      ...(trust !== undefined && { trust }),
    })),
  };
}

/** In tokens: a word or two, a talk, and more. */
const SHORT = 300;
const LONG = 1_500;

function stratumOf({ language, batches, stored }: CaseContent): string {
  const tokens = batches
    .flatMap(({ messages }) => messages)
    .reduce((sum, { content }) => sum + estimateTokens(textOfContent(content)), 0);
  const length = tokens < SHORT ? 'short' : tokens < LONG ? 'middle' : 'long';
  const kinds = new Set(stored?.changes.map(({ event }) => event));
  const change = kinds.has('DELETE') ? 'deletes' : kinds.has('UPDATE') ? 'updates' : 'adds';
  return `${language ?? 'unknown'} ${length} ${change}`;
}

export interface FileCase {
  readonly name: string;
  readonly content: CaseContent;
}

/** A suite from a file. Ids of a file are names within it: everything gets one of this ledger's. false: the name is taken. */
export async function importSuite(
  { ledger, tools }: Deps,
  suite: Pick<Suite, 'tenant' | 'name' | 'margins' | 'masked'>,
  cases: readonly FileCase[],
): Promise<Suite | null> {
  const created: Suite = { ...suite, id: tools.id('sui'), origin: 'file', createdAt: tools.now() };
  const isCreated = await ledger.suites.create(
    created,
    cases.map(({ name, content }, place) => {
      const owner: Owner = { kind: 'user', id: name };
      const named = withOwnIds(tools, { tenant: suite.tenant, owner }, content);
      return { id: tools.id('sca'), place, owner, lane: null, content: storedContent(named) };
    }),
  );
  return isCreated ? created : null;
}

function withOwnIds(
  tools: Deps['tools'],
  owned: { readonly tenant: TenantId; readonly owner: Owner },
  content: CaseContent,
): CaseContent {
  const bits = ownerBitsOf(tools, owned);
  const names = new Map<string, string>();
  const batches = content.batches.map((batch) => {
    const batchId = batchIdOf(tools.id('bat', bits));
    return {
      ...batch,
      id: batchId,
      scope: { userId: owned.owner.id, agentId: null, runId: null, appId: null },
      messages: batch.messages.map((message, i) => {
        const id = messageIdOf(batchId, i);
        names.set(message.id, id);
        return { ...message, id };
      }),
    };
  });
  const stored = content.stored && {
    ...content.stored,
    facts: content.stored.facts.map((fact) => ({
      ...fact,
      sources: fact.sources.flatMap((source) => names.get(source) ?? []),
    })),
  };
  const memories = content.memories.map((memory) => ({ ...memory, id: tools.id('mem', bits) }));
  return { ...content, batches, memories, stored };
}

/** Questions of a case that have an answer, and those that have none. */
const ANSWERED = 8;
const UNANSWERED = 2;
/** The newest questions of all tenants that are looked through. */
const RECEIPTS = 5_000;
/** With fewer words than these nothing in particular is asked. */
const TERMS_MIN = 2;

/** What people have asked lately, by lane, newest first. Those of one app, of another moment, or with filters saw something else. */
async function receiptsByLane(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  tenant: TenantId,
): Promise<ReadonlyMap<LaneId, readonly Receipt[]>> {
  const receipts = await ledger.receipts.asked(RECEIPTS);
  const plain = receipts.filter(
    (one) => one.tenant === tenant && one.question !== null && !one.ownApp && one.asOf === null && one.filters === null,
  );
  return Map.groupBy(plain, ({ lane }) => lane);
}

/**
 * Questions that memories of a case answer: first those that somebody asked, with what was told first, or all that was where it was
 * said to be good; then those that follow from facts that still hold, in the words of their quotes. And some that nothing answers.
 */
async function questionsOf(
  deps: Pick<EngineDeps, 'ledger'>,
  { tenant, receipts }: { readonly tenant: TenantId; readonly receipts: readonly Receipt[] },
  { stored, said }: { readonly stored: NonNullable<CaseContent['stored']>; readonly said: readonly string[] },
): Promise<readonly CaseQuestion[]> {
  const asked = await askedByPeople(deps, { tenant, receipts }, stored.live);
  const live = new Set(stored.live.map(normaliseText));
  const made = stored.facts
    .filter(({ text }) => live.has(normaliseText(text)))
    .map(({ text, quote }) => ({ query: withoutAnswer(quote ?? text), expects: [text] }));
  const once = new Map([...asked, ...made].map((one) => [normaliseText(one.query), one] as const));
  const answered = [...once.values()].filter(({ query }) => terms(query).length >= TERMS_MIN).slice(0, ANSWERED);
  return [...answered, ...unansweredBy(said)];
}

async function askedByPeople(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { tenant, receipts }: { readonly tenant: TenantId; readonly receipts: readonly Receipt[] },
  live: readonly string[],
): Promise<readonly CaseQuestion[]> {
  const questions: CaseQuestion[] = [];
  for (const { question, told, outcome } of receipts) {
    if (questions.length === ANSWERED) break;
    const ids = told.flatMap((one) => (one.kind === 'memory' ? [one.id] : []));
    const memories = await ledger.memories.many(tenant, [...new Set(outcome === 'good' ? ids : ids.slice(0, 1))]);
    const expects = memories.flatMap((memory) => liveVersion(memory)?.text ?? []).filter((text) => live.includes(text));
    if (question !== null && expects.length > 0) questions.push({ query: question, expects });
  }
  return questions;
}

/** Names and numbers are mostly what a fact answers: they are left out, as long as enough is left to ask with. */
function withoutAnswer(quote: string): string {
  const { names, quantities } = claimsOf(quote);
  const answers = new Set([...names, ...quantities.numbers.map(({ whole }) => String(whole))]);
  const asked = quote
    .split(/\s+/u)
    .filter((word) => !answers.has(plainOf(word).trim()))
    .join(' ');
  return terms(asked).length >= TERMS_MIN ? asked : quote;
}

/** Of things that few people tell; never of what another owner said, which would outlive that owner's erasure. */
const SELDOM_KNOWN = [
  'What is the licence plate of the car?',
  'Which blood group was found at the hospital?',
  'Who is the landlord of the flat?',
  'What is the number of the insurance policy?',
  'Which dentist was recommended?',
  'What shoe size fits best?',
  'Where was the passport issued?',
  'Which lottery ticket won?',
];

/** Questions about which nothing in a case says anything: they should find nothing. */
function unansweredBy(texts: readonly string[]): readonly CaseQuestion[] {
  const known = new Set(texts.flatMap((text) => terms(text)));
  return SELDOM_KNOWN.filter((query) => !terms(query).some((term) => known.has(term)))
    .slice(0, UNANSWERED)
    .map((query) => ({ query, expects: [] }));
}
