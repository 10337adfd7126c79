import type { EngineDeps } from '../deps.ts';
import { projectGraphNow } from '../graph/project.ts';
import { evolve, liveVersion, tombstoneOf } from '../memories/evolve.ts';
import { isHollow } from '../memories/former.ts';
import { inEffect } from '../memories/in-effect.ts';
import { undoneBy } from '../memories/undone.ts';
import { EXPLICIT_SEQ } from '../memories/write.ts';
import type { MemoryChange, Tombstone } from '../ports/ledger/memories.ts';
import type { Undo, Undoing } from '../ports/ledger/reviews.ts';
import type { Difference, Undoer, UndoReport, UndoResult } from '../ports/writers.ts';
import { type ProjectDeps, projectNow } from '../projection/project.ts';
import type { Memory, MemoryEvent, TenantId } from '../words.ts';
import { type Decision, decideRedo, decideRollback, decideUndo, type TakenBack } from './undo.ts';

/** What undoing works with: nothing that thinks. */
type UndoDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/** Others may change a memory between reading and writing it; after this many times the caller is told. */
const TRIES_MAX = 5;

export function undoer(deps: UndoDeps): Undoer {
  const { ledger } = deps;
  return {
    undo: (tenant, id, how) => attempt(deps, { tenant, ...how }, () => decideUndo(ledger, { tenant, id }, how)),
    rollback: (tenant, owner, { to, dryRun }) =>
      attempt(deps, { tenant, dryRun }, () => decideRollback(ledger, { tenant, owner }, to)),
    redo: (tenant, id, how) => attempt(deps, { tenant, ...how }, () => decideRedo(ledger, tenant, id)),
  };
}

/** Decides what is taken back and does it; again where something else was changed in between. */
async function attempt(
  deps: UndoDeps,
  { tenant, dryRun }: { tenant: TenantId; dryRun: boolean },
  decide: () => Promise<Decision | UndoResult>,
): Promise<UndoResult> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const decision = await decide();
    if ('kind' in decision) return decision;
    const result = await carryOut(deps, decision, { tenant, dryRun });
    if (result.kind !== 'conflict') return result;
  }
  return { kind: 'conflict' };
}

/** One transaction of so many memories holds other writes up for about three seconds on SQLite; callers wait five. */
const MEMORIES_MAX = 10_000;

/** Takes back what was decided, in one transaction; a dry run only reports. */
async function carryOut(
  deps: UndoDeps,
  decision: Decision,
  { tenant, dryRun }: { tenant: TenantId; dryRun: boolean },
): Promise<UndoResult> {
  const { ledger, log } = deps;
  const undoing = undoingOf(deps, decision, tenant);
  const report = reportOf(decision, undoing);
  const { lives, what } = decision;
  const hollow = undoing.changes.filter(({ memory }) => isHollow(memory)).map(({ memory }) => memory.id);
  if (hollow.length > 0) return { kind: 'removed', memoryIds: hollow };
  const isNothing = lives.length + what.consolidations.length + what.undos.length + decision.statements === 0;
  if (dryRun || isNothing) return { kind: 'done', report: { ...report, undo: null }, searchable: true };
  if (lives.length > MEMORIES_MAX) return { kind: 'refused', why: tooLarge(lives.length) };
  const written = await ledger.undos.write(tenant, undoing);
  if (written.kind === 'conflict') return written;
  const { id, kind, lane, memories, consolidations } = undoing.undo;
  const ids = undoing.changes.map(({ memory }) => memory.id);
  log.info({ undo: id, kind, lane, memories, consolidations: consolidations.length }, 'taken back');
  const changed = { memoryIds: ids, consolidationIds: [...undoing.undone, ...undoing.redone] };
  const otherwise = 'taken back, but not in the index yet';
  const searchables = [await projectNow(deps, changed, otherwise), await projectGraphNow(deps, lane, otherwise)];
  return { kind: 'done', report, searchable: !searchables.includes('later') };
}

function undoingOf({ tools }: UndoDeps, decision: Decision, tenant: TenantId): Undoing {
  const { lane, earlier, owner, lives, what } = decision;
  const { kindOfUndo: kind, ...takes } = what;
  const at = tools.now();
  const id = tools.id('und');
  const number = earlier.length + 1;
  const undo: Undo = { id, tenant, lane, owner, number, kind, ...takes, memories: lives.length, at };
  const [before, after] = [undoneBy(earlier), undoneBy([...earlier, undo])];
  const changes = lives.map((life) => changeOf(life, eventOf(tools.id('evt'), life, { decision, undo })));
  return {
    undo,
    changes,
    tombstones: lives.flatMap((life, i) => tombstonesOf(tools, life, changes[i])),
    undone: [...after].filter((one) => !before.has(one)),
    redone: [...before].filter((one) => !after.has(one)),
  };
}

const tooLarge = (memories: number): string =>
  `it would change ${memories} memories at once, and at most ${MEMORIES_MAX} are allowed; roll back in steps, to later times first`;

const changeOf = ({ memory }: TakenBack, event: MemoryEvent): MemoryChange => ({
  memory: evolve(memory, memory, [event]),
  expectedRevision: memory.revision,
  events: [event],
});

function eventOf(
  id: string,
  { memory, retracts }: TakenBack,
  { decision, undo }: { decision: Decision; undo: Undo },
): MemoryEvent {
  return {
    id,
    memoryId: memory.id,
    revision: memory.revision + 1,
    kind: 'UNDO',
    actor: decision.actor,
    consolidationId: null,
    factId: null,
    reason: decision.reason,
    previous: textOf(memory),
    saidAt: { at: undo.at, seq: EXPLICIT_SEQ },
    validFrom: undo.at,
    recordedAt: undo.at,
    text: null,
    details: null,
    sourceIds: [],
    retraction: { undoId: undo.id, retracts },
  };
}

/** Deletions that count afterwards, and no others, block what was said before them. */
function tombstonesOf(tools: UndoDeps['tools'], life: TakenBack, change: MemoryChange | undefined): Tombstone[] {
  const counting = new Set(inEffect(change?.memory.timeline ?? []).map(({ revision }) => revision));
  return life.events.filter(({ revision }) => counting.has(revision)).flatMap((event) => tombstoneOf(tools, event));
}

function reportOf({ lives, dependents }: Decision, { undo, changes, undone, redone }: Undoing): UndoReport {
  const differences = lives.flatMap(({ memory }, i): Difference[] => {
    const change = changes[i];
    const [before, after] = [textOf(memory), change === undefined ? null : textOf(change.memory)];
    return before === after ? [] : [{ memoryId: memory.id, before, after }];
  });
  return { undo, differences, undone, redone, dependents };
}

const textOf = (memory: Memory): string | null => liveVersion(memory)?.text ?? null;
