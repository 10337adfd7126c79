import type { EngineDeps } from '../deps.ts';
import { liveVersion } from '../memories/evolve.ts';
import type { ProfileFact } from '../ports/ledger/summaries.ts';
import type { MemoryPatch, MemoryWriter, WriteResult } from '../ports/writers.ts';
import { normaliseText } from '../text/normalise.ts';
import { compareSaid, type Placement, type SaidAt, type Scope, type TenantId } from '../words.ts';
import { OTHER_SLOT, type ProfileSlot, slotOfCategory, slotsOf } from './placement.ts';

/** More than all slots hold; no more is read. */
export const PROFILE_READ = 200;

interface Whose {
  readonly tenant: TenantId;
  readonly userId: string;
}

interface ProfileDeps extends Pick<EngineDeps, 'ledger' | 'tools'> {
  readonly writer: Pick<MemoryWriter, 'add' | 'change'>;
}

export type LineResult =
  | WriteResult
  | { readonly kind: 'no_slot'; readonly names: readonly string[] }
  /** People have filled it. */
  | { readonly kind: 'full'; readonly lines: number };

/** The profile of a user, as it is now. */
export async function readProfile(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  whose: Whose,
): Promise<readonly FilledSlot<ProfileFact>[]> {
  const { profileSlots } = await ledger.settings.get(whose.tenant);
  const how = { at: tools.now(), limit: PROFILE_READ };
  return profileOf(await ledger.present.profile(whose.tenant, scopeOf(whose), how), slotsOf(profileSlots));
}

const scopeOf = ({ userId }: Whose): Scope => ({ userId, agentId: null, runId: null, appId: null });

/** What a person puts into a slot: what it shall say, or the memory that says it. */
type NewLine = { readonly text: string } | { readonly memoryId: string };

/**
 * A person’s line goes before those of nights, which leave it as it is. It is a memory of the user like any other, pinned. Of a slot with
 * one line another text corrects the one that a person put there before.
 */
export async function putLine(
  deps: ProfileDeps,
  whose: Whose,
  { slot: name, line }: { readonly slot: string; readonly line: NewLine },
): Promise<LineResult> {
  const { writer } = deps;
  const { tenant } = whose;
  const filled = await readProfile(deps, whose);
  const wanted = filled.find(({ slot }) => slot.name === name && slot !== OTHER_SLOT);
  if (wanted === undefined) return { kind: 'no_slot', names: namesOf(filled) };
  const place = { pinned: true, placed: { slot: name, by: 'person' } } as const;
  const { slot, lines } = wanted;
  const own = lines.filter(({ by }) => by === 'person').map(({ fact }) => fact);
  const known = await knownLine(deps, whose, { filled, line });
  if (known === 'none') return { kind: 'not_found' };
  const isThere = own.some(({ memoryId }) => memoryId === known?.memoryId);
  const [only] = own;
  if (slot.lines === 1 && only !== undefined && !isThere && 'text' in line)
    return writer.change(tenant, only.memoryId, { text: line.text, ...place });
  if (own.length >= slot.lines && !isThere) return { kind: 'full', lines: slot.lines };
  if (known !== undefined) return writer.change(tenant, known.memoryId, { ...known.patch, ...place });
  return writer.add(tenant, { ...newMemory(whose, line), ...place });
}

const namesOf = (filled: readonly FilledSlot<ProfileFact>[]): readonly string[] =>
  filled.flatMap(({ slot }) => (slot === OTHER_SLOT ? [] : [slot.name]));

interface Looking {
  readonly filled: readonly FilledSlot<ProfileFact>[];
  readonly line: NewLine;
}

interface Known {
  readonly memoryId: string;
  /** Who puts in what a night concluded says it by that. */
  readonly patch: Pick<MemoryPatch, 'text'>;
}

/** The memory of the user that says so already; undefined: there is none yet. none: the one that is named is none of theirs. */
async function knownLine(
  { ledger }: ProfileDeps,
  { tenant, userId }: Whose,
  { filled, line }: Looking,
): Promise<Known | undefined | 'none'> {
  if ('text' in line) {
    const text = normaliseText(line.text);
    const facts = filled.flatMap(({ lines }) => lines.map(({ fact }) => fact));
    const same = facts.find((fact) => normaliseText(fact.text) === text);
    return same && { memoryId: same.memoryId, patch: {} };
  }
  const memory = await ledger.memories.get(tenant, line.memoryId);
  const live = memory === null ? null : liveVersion(memory);
  if (memory === null || live === null || memory.owner.kind !== 'user' || memory.owner.id !== userId) return 'none';
  const isConcluded = live.details.concluded !== undefined;
  return { memoryId: memory.id, patch: isConcluded ? { text: live.text } : {} };
}

const newMemory = (whose: Whose, line: NewLine) => ({
  scope: scopeOf(whose),
  text: 'text' in line ? line.text : '',
  metadata: {},
  category: null,
  immutable: false,
  validFrom: null,
  expiresAt: null,
});

/** A person takes a line out: the memory stays, and no night puts it back. What a person had pinned by it is no longer pinned. */
export async function takeLine(
  deps: ProfileDeps,
  whose: Whose,
  { slot: name, memoryId }: { readonly slot: string; readonly memoryId: string },
): Promise<WriteResult> {
  const filled = await readProfile(deps, whose);
  const found = filled.find(({ slot }) => slot.name === name)?.lines.find(({ fact }) => fact.memoryId === memoryId);
  if (found === undefined) return { kind: 'not_found' };
  const isOwn = found.by === 'person';
  return deps.writer.change(whose.tenant, memoryId, {
    placed: { slot: null, by: 'person' },
    ...(isOwn && { pinned: false }),
  });
}

/** What is known of a fact of a profile. */
export interface Placeable {
  readonly saidAt: SaidAt;
  readonly category: string | null;
  readonly placed: Placement | null;
}

/** One line: a memory in the version that says so. */
interface ProfileLine<F extends Placeable> {
  readonly fact: F;
  /** rule: by its category, or because it was pinned or said again and again. */
  readonly by: 'person' | 'night' | 'rule';
}

/** A slot with its lines. */
export interface FilledSlot<F extends Placeable> {
  readonly slot: ProfileSlot;
  readonly lines: readonly ProfileLine<F>[];
  /** There was no room for so many. */
  readonly leftOut: number;
}

/**
 * The profile as a document: all that has a rank in it, in its slots. Of a slot that is full, what people put there stays, then what was
 * said last.
 */
export function profileOf<F extends Placeable>(
  facts: readonly F[],
  slots: readonly ProfileSlot[],
): readonly FilledSlot<F>[] {
  const all = [...slots, OTHER_SLOT];
  const bySlot = Map.groupBy(facts, (fact) => slotOf(fact, slots).name);
  return all.map((slot) => {
    const lines = (bySlot.get(slot.name) ?? [])
      .map((fact): ProfileLine<F> => ({ fact, by: fact.placed?.by ?? 'rule' }))
      .sort(
        (a, b) => Number(b.by === 'person') - Number(a.by === 'person') || compareSaid(b.fact.saidAt, a.fact.saidAt),
      );
    return { slot, lines: lines.slice(0, slot.lines), leftOut: Math.max(0, lines.length - slot.lines) };
  });
}

function slotOf({ placed, category }: Placeable, slots: readonly ProfileSlot[]): ProfileSlot {
  const named = slots.find(({ name }) => name === placed?.slot);
  return named ?? slotOfCategory(slots, category) ?? OTHER_SLOT;
}

/** The facts of a profile alone, in the order in which they were given: that of their rank. */
export function linesKept<F extends Placeable>(facts: readonly F[], slots: readonly ProfileSlot[]): readonly F[] {
  const kept = new Set(profileOf(facts, slots).flatMap(({ lines }) => lines.map(({ fact }) => fact)));
  return facts.filter((fact) => kept.has(fact));
}
