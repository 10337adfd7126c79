import type { EngineDeps, MessagesInIndex } from '../deps.ts';
import { spaceIn } from '../ids.ts';
import { liveVersion } from '../memories/evolve.ts';
import { embedAll } from '../models/embed.ts';
import type { Vectors } from '../models/vectors.ts';
import type { Receipt } from '../ports/ledger/feedback.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { Embedder } from '../ports/models.ts';
import {
  type BuildNote,
  type IndexLane,
  type IndexMarker,
  type SearchIndex,
  SHELVES,
  type ShownPoint,
} from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { vectorTextOf } from '../projection/make-points.ts';
import { markerOf } from '../projection/project.ts';
import { rank } from '../search/rank.ts';
import { withoutAsker } from '../search/traits.ts';
import { terms } from '../text/terms.ts';
import {
  besideOwner,
  type JsonObject,
  type LaneId,
  type Memory,
  type Millis,
  type NamedIds,
  ownerOf,
} from '../words.ts';
import type { Space } from './write-in.ts';

/**
 * The index goes over to another embedder, its new index beside the old one:
 *
 *   filling     everybody writes to both; a worker writes to the new one what was there before. Searches use the old one
 *   ready       the new one has everything, and was compared with the old one. Below the bound it stays at this
 *   switched    searches use the new one; both are written to, so that a way back costs nothing
 *   confirmed   the old one is emptied; processes are restarted with the new embedder alone, at leisure
 *   abandoned   the new one is emptied; then there is no move
 *
 * ready → switched → ready by `switch` and `back`, confirmed from switched, abandoned from filling and ready.
 */
type MoveState = 'filling' | 'ready' | 'switched' | 'confirmed' | 'abandoned';

export interface IndexMove {
  readonly state: MoveState;
  /** Fingerprints of the two embedders. */
  readonly from: string;
  readonly to: string;
  readonly startedAt: Millis;
  /** When it came into its state. */
  readonly since: Millis;
  /** What filling may use of the new embedder; null: as much as it answers. */
  readonly tokensPerMinute: number | null;
  /** So much less of what is expected the new one may find, as a share, to be switched to without a person. */
  readonly margin: number;
  /** Whether it switches by itself once it is ready. */
  readonly auto: boolean;
  /** What filling takes, as it was estimated when it began. */
  readonly estimate: MoveEstimate;
  readonly note: BuildNote;
  /** Lanes in which either index may lack vectors, since its embedder did not answer when the other one was written to. */
  readonly behind: Behind;
  /** Who works on it, and until when nobody else does. */
  readonly worker: { readonly id: string; readonly until: Millis } | null;
  readonly comparison: SpaceComparison | null;
  /** Why the work on it stopped last; null: it did not. */
  readonly problem: string | null;
  /** Confirmed or abandoned: what it left behind is gone. */
  readonly cleaned: boolean;
}

export type Side = 'from' | 'to';
type Behind = Readonly<Record<Side, readonly LaneId[]>>;
const NOT_BEHIND: Behind = { from: [], to: [] };

interface WantedMove extends Pick<IndexMove, 'from' | 'to' | 'tokensPerMinute' | 'margin' | 'auto' | 'estimate'> {}

/** What an operator does about a move of this installation's index, and what a worker does for it. */
export interface IndexMoves {
  current(): Promise<IndexMove | null>;
  /** What filling the new index will take. */
  estimate(): Promise<MoveEstimate>;
  start(wanted: Pick<WantedMove, 'tokensPerMinute' | 'margin' | 'auto'>): Promise<IndexMove>;
  switch(how: { readonly force: boolean }): Promise<IndexMove>;
  back(): Promise<IndexMove>;
  confirm(): Promise<IndexMove>;
  abandon(): Promise<IndexMove>;
  /** Goes on with what is to be done. Answers whether there was anything. */
  work(cancel: Cancellation): Promise<boolean>;
}

type MoveDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

const NAME = 'index move';

/** Whoever knows no more of the ledger than this. */
interface KnowsMoves {
  readonly ledger: Pick<Ledger, 'models'>;
}

export const currentMove = async ({ ledger }: KnowsMoves): Promise<IndexMove | null> =>
  (await ledger.models.get(NAME)) as unknown as IndexMove | null;

/** Several processes change it: whoever was too late looks again. null instead of a change: it stays as it is. */
export async function changeMove(
  { ledger }: KnowsMoves,
  change: (move: IndexMove | null) => IndexMove | null | 'gone',
): Promise<IndexMove | null> {
  for (;;) {
    const before = await currentMove({ ledger });
    const after = change(before);
    if (after === null) return before;
    const known = after === 'gone' ? null : after;
    if (await ledger.models.swap(NAME, jsonOf(before), jsonOf(known))) return known;
  }
}

const jsonOf = (move: IndexMove | null): JsonObject | null => move as unknown as JsonObject | null;

type StartDeps = MoveDeps & {
  readonly to: Space;
  readonly settings: { readonly messagesInIndex: MessagesInIndex };
};

/** Empties the new index, before anybody writes to it. */
export async function startMove(deps: StartDeps, wanted: WantedMove): Promise<IndexMove> {
  const { ledger, tools } = deps;
  if (wanted.from === wanted.to)
    throw refused('the next embedding model is already in use; set SLOWWAVE_NEXT_EMBEDDING_MODEL to another one');
  requireNoMove(await currentMove(deps), wanted);
  const now = tools.now();
  const move: IndexMove = {
    ...wanted,
    ...{ state: 'filling', startedAt: now, since: now },
    note: { ledgerId: ledger.id, startedAt: now, after: null, afterBatch: null, memories: 0, points: 0 },
    ...{ behind: NOT_BEHIND, worker: null, comparison: null, problem: null, cleaned: false },
  };
  await deps.to.index.clear();
  await deps.to.index.stamp(fillingMarker(deps, move));
  const begun = await changeMove(deps, (before) => {
    requireNoMove(before, wanted);
    return move;
  });
  return begun ?? move;
}

function requireNoMove(before: IndexMove | null, { from }: WantedMove): void {
  if (before === null || (before.state === 'confirmed' && before.cleaned && before.to === from)) return;
  if (before.state === 'confirmed' && before.to !== from) throw refused(RESTART);
  throw refused(`another move is already ${before.state}; see slowwave index status`);
}

const RESTART =
  'the last move is confirmed; first set SLOWWAVE_EMBEDDING_MODEL to its model, remove the SLOWWAVE_NEXT_EMBEDDING_ settings, and restart all processes';

/** Nobody believes an index that has it. */
export function fillingMarker(
  { ledger, to: { embedder }, settings }: Omit<StartDeps, 'tools'>,
  { startedAt }: Pick<IndexMove, 'startedAt'>,
): IndexMarker {
  const { ledgerId, fingerprint } = markerOf({ ledger, embedder, settings });
  return { ledgerId, fingerprint: `${fingerprint}, filled since ${startedAt}` };
}

/** Whoever decides against the comparison, or before there is one, says so by `force`. */
export const switchMove = (deps: MoveDeps, { force }: { readonly force: boolean }): Promise<IndexMove> =>
  step(deps, (move) => {
    requireState(move, ['ready']);
    if (move.behind.to.length > 0) throw refused(BEHIND);
    if (!force && !passes(move)) {
      throw refused('the new index finds less than the margin allows; add force to switch anyway');
    }
    return { ...move, state: 'switched' };
  });

/** The old index was kept up to date: nothing is embedded for it. */
export const moveBack = (deps: MoveDeps): Promise<IndexMove> =>
  step(deps, (move) => {
    requireState(move, ['switched']);
    if (move.behind.from.length > 0) throw refused(BEHIND);
    return { ...move, state: 'ready', auto: false };
  });

/** Who is restarted right after it, with the new embedder alone, finds the index of that. */
export async function confirmMove(
  deps: MoveDeps & { readonly keepPlace: (move: IndexMove) => Promise<void> },
): Promise<IndexMove> {
  const before = await currentMove(deps);
  if (before?.state === 'switched') await deps.keepPlace(before);
  return step(deps, (move) => {
    requireState(move, ['switched']);
    return { ...move, state: 'confirmed', behind: NOT_BEHIND, worker: null };
  });
}

export const abandonMove = (deps: MoveDeps): Promise<IndexMove> =>
  step(deps, (move) => {
    requireState(move, ['filling', 'ready']);
    return { ...move, state: 'abandoned', behind: NOT_BEHIND, worker: null };
  });

const BEHIND =
  'some texts have no vector in that index yet, because its embedding model did not answer; retry when it answers';

async function step(deps: MoveDeps, next: (move: IndexMove) => IndexMove): Promise<IndexMove> {
  const after = await changeMove(deps, (move) => {
    if (move === null) throw refused('there is no move; start one with slowwave index move');
    return { ...next(move), since: deps.tools.now() };
  });
  if (after === null) throw refused('there is no move');
  return after;
}

function requireState({ state }: IndexMove, allowed: readonly MoveState[]): void {
  if (allowed.includes(state)) return;
  throw refused(`expected a move in the state ${allowed.join(' or ')}, got ${state}`);
}

/** Whether the new index finds as much as the old one, but for the margin. */
export const passes = ({ comparison, margin }: Pick<IndexMove, 'comparison' | 'margin'>): boolean =>
  comparison !== null && comparison.to.recall >= comparison.from.recall - margin;

/** Which index searches use. */
export const isSwitched = (move: Pick<IndexMove, 'state'> | null): boolean =>
  move?.state === 'switched' || move?.state === 'confirmed';

/** Whether everybody writes to both indexes. */
export const writesBoth = (move: Pick<IndexMove, 'state'> | null): boolean =>
  move?.state === 'filling' || move?.state === 'ready' || move?.state === 'switched';

/** More than these are as good as all of them. */
const BEHIND_MAX = 1_000;
/** Stands for all lanes. */
export const ALL_LANES = '*' as LaneId;

/** An index lacks vectors in these lanes, until a worker has made up for it. */
export async function noteBehind(deps: KnowsMoves, side: Side, lanes: readonly LaneId[]): Promise<void> {
  if (lanes.length === 0) return;
  await changeMove(deps, (move) => {
    if (move === null || !writesBoth(move) || lanes.every((lane) => move.behind[side].includes(lane))) return null;
    const all = [...new Set([...move.behind[side], ...lanes])];
    return { ...move, behind: { ...move.behind, [side]: all.length > BEHIND_MAX ? [ALL_LANES] : all } };
  });
}

/** Says what is to be done first. */
export class MoveRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefusedError';
  }
}

const refused = (message: string): MoveRefusedError => new MoveRefusedError(message);

/** What filling an index takes, about. */
interface MoveEstimate {
  readonly texts: number;
  readonly tokens: number;
}

type EstimateDeps = Pick<EngineDeps, 'ledger' | 'tokenizer'> & {
  /** The one in use. */
  readonly index: SearchIndex;
  readonly settings: { readonly messagesInIndex: MessagesInIndex };
};

/** Points whose texts are counted: of these follows how long a text is. */
const SAMPLE = 500;

/** Counts the points of the index in use, and the tokens of some of them. */
export async function estimateMove(deps: EstimateDeps): Promise<MoveEstimate> {
  const { ledger, index, settings, tokenizer } = deps;
  const shelves = SHELVES.filter((shelf) => shelf !== 'messages' || settings.messagesInIndex === 'hybrid');
  const { points } = await index.page(null, SAMPLE);
  const tokensOf = (point: ShownPoint): number => tokenizer.count(vectorTextOf(point));
  let [texts, tokens] = [0, 0];
  for (const shelf of shelves) {
    let count = 0;
    for (const tenant of await ledger.audit.tenants()) count += await index.count(tenant, shelf);
    const some = points.filter((point) => point.shelf === shelf).map(tokensOf);
    const usual = some.length === 0 ? USUAL_TOKENS : some.reduce((sum, one) => sum + one, 0) / some.length;
    texts += count;
    tokens += count * usual;
  }
  return { texts, tokens: Math.round(tokens) };
}

/** Of a sentence, where the sample has none of its kind. */
const USUAL_TOKENS = 15;

/** A space as searches use it. */
export interface SearchedSpace extends Space {
  /** Embeds what is asked. */
  readonly queries: Embedder;
  /** How its vectors read. */
  vectors(): Vectors;
}

interface SpaceComparison {
  readonly questions: number;
  /** How many of them somebody asked; the others are texts of memories. */
  readonly asked: number;
  /** Of the memories that are expected, the share in the first ten, on average over the questions. */
  readonly from: { readonly recall: number };
  readonly to: { readonly recall: number };
  /** Of the first ten of the old index, the share in the first ten of the new one. */
  readonly agreement: number;
  readonly at: Millis;
}

const TOP = 10;
/** What each leg brings: as searches ask. */
const PER_LEG = 80;
/** More would only cost: a tenth of that shows a loss of three in a hundred. */
const QUESTIONS_MAX = 200;
/** Fewer questions of people than these are filled up with texts of memories, which are embedded once more for that. */
const ASKED_MIN = 10;
const EMBEDDED_AT_A_TIME = 32;

/**
 * Asks both indexes what people have asked lately, and counts how much of what the answers told first they find, or of all that they
 * told where somebody said that it was good. That was found by the old one, so the figure rather favours it. Where few have asked,
 * texts of memories are asked for themselves.
 */
export async function compareSpaces(
  deps: MoveDeps,
  { from, to }: { readonly from: SearchedSpace; readonly to: SearchedSpace },
  cancel: Cancellation,
): Promise<SpaceComparison> {
  const asked = await askedByPeople(deps);
  const more = asked.length >= ASKED_MIN ? [] : await textsOfMemories(deps, QUESTIONS_MAX - asked.length);
  const questions = [...asked, ...more];
  const [before, after] = [
    await answersOf(deps, from, { questions, cancel }),
    await answersOf(deps, to, { questions, cancel }),
  ];
  return {
    questions: questions.length,
    asked: asked.length,
    from: { recall: mean(questions.map(({ expected }, i) => shareOf(expected, before[i] ?? []))) },
    to: { recall: mean(questions.map(({ expected }, i) => shareOf(expected, after[i] ?? []))) },
    agreement: mean(before.map((found, i) => shareOf(found, after[i] ?? []))),
    at: deps.tools.now(),
  };
}

interface StoredQuestion extends IndexLane {
  readonly text: string;
  readonly filter: NamedIds;
  /** Memories. */
  readonly expected: readonly string[];
}

/** Those of one app saw other memories than the index finds by itself, and those of another moment other versions. */
async function askedByPeople({ ledger }: MoveDeps): Promise<readonly StoredQuestion[]> {
  const receipts = (await ledger.receipts.asked(QUESTIONS_MAX)).filter(
    (one) => one.question !== null && !one.ownApp && one.asOf === null && one.filters === null,
  );
  const questions: StoredQuestion[] = [];
  for (const receipt of receipts) {
    const told = receipt.told.flatMap((one) => (one.kind === 'memory' ? [one.id] : []));
    const wanted = receipt.outcome === 'good' ? told : told.slice(0, 1);
    const memories = await ledger.memories.many(receipt.tenant, [...new Set(wanted)].slice(0, TOP));
    const expected = memories.filter((memory) => liveVersion(memory) !== null).map(({ id }) => id);
    if (expected.length > 0) questions.push({ ...placeOf(receipt), text: receipt.question ?? '', expected });
  }
  return questions;
}

const placeOf = ({ tenant, lane, scope }: Receipt) => ({
  ...{ tenant, lane, owner: ownerOf(scope), filter: besideOwner(scope) },
});

async function textsOfMemories({ ledger }: MoveDeps, limit: number): Promise<readonly StoredQuestion[]> {
  const sample = (await ledger.audit.sample(limit)).filter(({ tenant }) => spaceIn(tenant) === null);
  const memories: Memory[] = [];
  for (const [tenant, some] of Map.groupBy(sample, (one) => one.tenant))
    memories.push(
      ...(await ledger.memories.many(
        tenant,
        some.map(({ id }) => id),
      )),
    );
  return memories.flatMap((memory) => {
    const { tenant, lane, owner, id } = memory;
    const text = liveVersion(memory)?.text;
    return text === undefined ? [] : [{ tenant, lane, owner, filter: {}, text, expected: [id] }];
  });
}

interface Asking {
  readonly questions: readonly StoredQuestion[];
  readonly cancel: Cancellation;
}

/** The first ten memories for each question. */
async function answersOf(
  { tools }: MoveDeps,
  { index, queries, vectors }: SearchedSpace,
  { questions, cancel }: Asking,
): Promise<readonly (readonly string[])[]> {
  const answers: (readonly string[])[] = [];
  for (let at = 0; at < questions.length; at += EMBEDDED_AT_A_TIME) {
    const some = questions.slice(at, at + EMBEDDED_AT_A_TIME);
    const embedded = await embedAll(
      queries,
      some.map(({ text }) => withoutAsker(text)),
      cancel,
    );
    for (const [i, { text, expected: _, ...of }] of some.entries()) {
      const now = tools.now();
      const words = terms(text);
      const [hits = []] = await index.search([
        {
          ...of,
          ...{ shelf: 'memories', where: null, visibility: { kind: 'live', now } },
          ...{ vector: embedded[i] ?? null, terms: words, wide: true, limit: PER_LEG },
        },
      ]);
      const question = { text, terms: words, mode: 'hybrid', at: now, vectors: vectors() } as const;
      answers.push(
        rank(question, hits)
          .slice(0, TOP)
          .map(({ hit }) => hit.point.memoryId),
      );
    }
  }
  return answers;
}

const shareOf = (wanted: readonly string[], found: readonly string[]): number =>
  wanted.length === 0 ? 1 : wanted.filter((id) => found.includes(id)).length / wanted.length;

/** Of no questions: nothing is lost. */
const mean = (shares: readonly number[]): number =>
  shares.length === 0 ? 1 : shares.reduce((sum, share) => sum + share, 0) / shares.length;
