import type { ParkedView, ReplayView } from '@slowwave/contracts';
import {
  type Batch,
  type BatchState,
  failureView,
  isoOf,
  isoOrNull,
  type JsonObject,
  type Ledger,
  ownerView,
  type ParkedReason,
  type ParkedStudy,
  type RelationDifference,
  type Replay,
  remedyOf,
  type SideResult,
  scopeView,
  spaceOf,
  type TenantId,
  type Time,
  type WhatIfResult,
  withoutPlaces,
} from '@slowwave/engine';
import { notFound } from '@slowwave/http';

interface Deps {
  readonly ledger: Ledger;
}

export const parkedView = ({ example, oldestAt, newestAt, ...reason }: ParkedReason): ParkedView => ({
  ...reason,
  example: withoutPlaces(example),
  remedy: remedyOf(reason.code),
  oldest_at: isoOf(oldestAt),
  newest_at: isoOf(newestAt),
});

export const parkedStudyView = ({ consolidationId, scope, failure, attempts, requestedAt }: ParkedStudy) => ({
  consolidation_id: consolidationId,
  ...scopeView(scope),
  error: failureView(failure),
  attempts,
  requested_at: isoOf(requestedAt),
});

export async function existingReplay({ ledger }: Deps, tenant: TenantId, id: string): Promise<Replay> {
  const replay = await ledger.replays.get(tenant, id);
  if (replay === null) throw notFound('replay', id);
  return replay;
}

export const replaySummary = (replay: Replay) => ({
  id: replay.id,
  kind: replay.kind,
  state: replay.state,
  filter: filterView(replay),
  changes: changesView(replay),
  matched: replay.matched,
  created_at: isoOf(replay.createdAt),
  finished_at: isoOrNull(replay.finishedAt),
  expires_at: isoOrNull(replay.expiresAt),
  error: failureView(replay.failure),
});

/** A replay with the progress of its batches. */
export async function replayProgress({ ledger }: Deps, replay: Replay): Promise<ReplayView> {
  const states = replay.kind === 'live' ? await ledger.replays.states(replay.id) : await statesInSpace(ledger, replay);
  const { pending = 0, consolidating = 0, consolidated = 0, empty = 0, parked = 0, undone = 0 } = states;
  const waiting = pending + consolidating;
  return {
    ...replaySummary(replay),
    replayed: waiting + consolidated + empty + parked + undone,
    waiting,
    consolidated: consolidated + empty,
    parked,
    waiting_for: waiting === 0 ? null : await waitingFor(ledger, replay),
    result:
      replay.result === null || replay.kind === 'suite' ? null : resultView(replay.result as unknown as WhatIfResult),
  };
}

/** The states of its copies, or the final ones once they are deleted. */
async function statesInSpace(ledger: Ledger, replay: Replay): Promise<Partial<Record<BatchState, number>>> {
  if (replay.result !== null) return { ...(replay.result as unknown as WhatIfResult).batches };
  return ledger.overview.batches(spaceFor(replay));
}

const spaceFor = ({ tenant, id }: Replay): TenantId => spaceOf({ tenant, replay: id });

/** The most batches that are read to find what they wait for. */
const LOOKED_AT_MAX = 200;

async function waitingFor(ledger: Ledger, replay: Replay) {
  const filter = { states: ['consolidating'] } as const;
  const batches =
    replay.kind === 'live'
      ? await ledger.replays.batches(replay.id, LOOKED_AT_MAX)
      : (await ledger.replays.match(spaceFor(replay), filter, LOOKED_AT_MAX)).batches;
  const held = batches.find(({ state, failure }) => state === 'consolidating' && failure !== null);
  return failureView(held?.failure ?? null);
}

export const rehearsalView = ({ matched, batches }: { matched: number; batches: readonly Batch[] }) => ({
  dry_run: true as const,
  matched,
  sample: batches.map((batch) => ({
    id: batch.id,
    ...scopeView(batch.scope),
    state: batch.state,
    error: failureView(batch.failure),
    accepted_at: isoOf(batch.acceptedAt),
  })),
});

function filterView({ filter }: Replay): JsonObject {
  const { states, ids, lane, userId, errorCode, since, until } = filter;
  return {
    state: states.join(', '),
    ...(ids !== undefined && { batch_ids: [...ids] }),
    ...(lane !== undefined && { lane }),
    ...(userId !== undefined && { user_id: userId }),
    ...(errorCode !== undefined && { error_code: errorCode }),
    ...(since !== undefined && { since: isoOf(since) }),
    ...(until !== undefined && { until: isoOf(until) }),
  };
}

/** In the API's words. */
export function changesView({ changes }: Replay): JsonObject {
  const { decideInstructions, recallPerFact, rules, ...rest } = changes;
  return {
    ...rest,
    ...(rules !== undefined && { settings: rulesView(rules as JsonObject) }),
    ...(decideInstructions !== undefined && { decide_instructions: decideInstructions }),
    ...(recallPerFact !== undefined && { recall_per_fact: recallPerFact }),
  };
}

const rulesView = ({ decideInstructions = null, externalContent = null, ...rest }: JsonObject): JsonObject => ({
  ...rest,
  decide_instructions: decideInstructions,
  external_content: externalContent,
});

const resultView = ({ relations, ...result }: WhatIfResult) => ({
  batches: result.batches,
  memories: countsOf(result),
  differences: result.differences.map((difference) => ({
    ...ownerView(difference.owner),
    memory_id: difference.memoryId,
    life: difference.life,
    what_if: difference.whatIf,
  })),
  relations: relations && { ...countsOf(relations), differences: relations.differences.map(relationView) },
  life: sideView(result.life),
  what_if: sideView(result.whatIf),
});

type Counts = Pick<WhatIfResult, 'same' | 'added' | 'changed' | 'gone'>;

const countsOf = ({ same, added, changed, gone }: Counts): Counts => ({ same, added, changed, gone });

const relationView = ({ owner, source, relationship, destination, life, whatIf }: RelationDifference) => ({
  ...ownerView(owner),
  ...{ source, relationship, destination },
  life: timeView(life),
  what_if: timeView(whatIf),
});

const timeView = (time: Time | null) =>
  time && { valid_from: isoOf(time.validFrom), invalid_at: isoOrNull(time.invalidAt) };

const sideView = ({ promptTokens, completionTokens, ...side }: SideResult) => ({
  ...side,
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
});

type Result = NonNullable<ReplayView['result']>;
type Difference = Result['differences'][number];
type Side = Result['life'];
type Relations = NonNullable<Result['relations']>;

/** A replay as plain text, to be read by people. */
export function replayText(view: ReplayView): string {
  const lines = [
    `${view.kind === 'live' ? 'Replay' : 'What-if'} ${view.id}: ${view.state}`,
    ...changesOf(view),
    `Batches: ${view.matched} matched, ${view.waiting} waiting, ${view.consolidated} consolidated, ${view.parked} parked`,
    ...(view.error === null ? [] : [`Failed: ${view.error.code}, ${view.error.message}`]),
    ...(view.waiting_for === null ? [] : [`Waiting for: ${view.waiting_for.code}, ${view.waiting_for.message}`]),
    ...(view.result === null ? [] : resultLines(view.result)),
  ];
  return `${lines.join('\n')}\n`;
}

function changesOf({ changes, kind }: ReplayView): string[] {
  if (kind === 'live') return [];
  const entries = Object.entries(changes ?? {});
  if (entries.length === 0) return ['With: no changes'];
  return entries.map(([name, value]) => `With: ${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`);
}

function resultLines({ memories, differences, relations, life, what_if }: Result): string[] {
  const { same, added, changed, gone } = memories;
  const shown = differences.length < added + changed + gone ? [`… the first ${differences.length} are shown`] : [];
  return [
    '',
    `Memories: ${added} added, ${changed} changed, ${gone} gone, ${same} the same`,
    ...[...Map.groupBy(differences, ownerOf)].flatMap(([owner, own]) => ['', owner, ...own.flatMap(differenceLines)]),
    ...shown,
    ...(relations === null ? [] : relationLines(relations)),
    '',
    ...table(life, what_if),
  ];
}

function relationLines({ same, added, changed, gone, differences }: Relations): string[] {
  const shown = differences.length < added + changed + gone ? [`… the first ${differences.length} are shown`] : [];
  const lines = [...Map.groupBy(differences, ownerOf)].flatMap(([owner, own]) => [
    '',
    owner,
    ...own.flatMap(heldLines),
  ]);
  return ['', `Relations: ${added} added, ${changed} changed, ${gone} gone, ${same} the same`, ...lines, ...shown];
}

function heldLines({ source, relationship, destination, life, what_if }: Relations['differences'][number]): string[] {
  const text = `${source} ${relationship} ${destination}`;
  if (life === null) return [`  + ${text}, ${timeOf(what_if)}`];
  if (what_if === null) return [`  - ${text}, ${timeOf(life)}`];
  return [`  ~ ${text}, ${timeOf(life)}`, `    → ${timeOf(what_if)}`];
}

const DAY_LENGTH = 'yyyy-mm-dd'.length;

const timeOf = (time: Relations['differences'][number]['life']): string =>
  time === null ? '' : `${dayOf(time.valid_from)}..${time.invalid_at === null ? '' : dayOf(time.invalid_at)}`;

const dayOf = (moment: string): string => moment.slice(0, DAY_LENGTH);

const ownerOf = ({ user_id, agent_id, run_id }: Pick<Difference, 'user_id' | 'agent_id' | 'run_id'>): string =>
  user_id !== null ? `user ${user_id}` : agent_id !== null ? `agent ${agent_id}` : `run ${run_id}`;

function differenceLines({ life, what_if }: Difference): string[] {
  if (life === null) return [`  + ${what_if}`];
  if (what_if === null) return [`  - ${life}`];
  return [`  ~ ${life}`, `    → ${what_if}`];
}

function table(life: Side, whatIf: Side): string[] {
  const rows: [string, string | number, string | number][] = [
    ['', 'in life', 'what-if'],
    ...(['ADD', 'UPDATE', 'DELETE', 'NONE'] as const).map((kind): [string, number, number] => [
      kind,
      life.operations[kind],
      whatIf.operations[kind],
    ]),
    ['consolidations', life.consolidations, whatIf.consolidations],
    ['model calls', life.calls, whatIf.calls],
    ['prompt tokens', life.prompt_tokens, whatIf.prompt_tokens],
    ['completion tokens', life.completion_tokens, whatIf.completion_tokens],
    ['cost', costOf(life), costOf(whatIf)],
    ...(studiesIn(life) + studiesIn(whatIf) === 0 ? [] : studyRows(life.studies, whatIf.studies)),
  ];
  return rows.map(([name, a, b]) => `${name.padEnd(18)}${String(a).padStart(12)}${String(b).padStart(12)}`.trimEnd());
}

const studiesIn = ({ studies: { applied, parked, waiting } }: Side): number => applied + parked + waiting;

const studyRows = (life: Side['studies'], whatIf: Side['studies']): [string, string | number, string | number][] => [
  ['studies', life.applied, whatIf.applied],
  ['studies parked', life.parked, whatIf.parked],
  ['cost of studies', costOf(life), costOf(whatIf)],
];

const costOf = ({ cost }: Pick<Side, 'cost'>): string => (cost === null ? 'unknown' : cost.toFixed(4));
