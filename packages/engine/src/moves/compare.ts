import type { EngineDeps } from '../deps.ts';
import { spaceIn } from '../ids.ts';
import { liveVersion } from '../memories/evolve.ts';
import { embedAll } from '../models/embed.ts';
import type { Vectors } from '../models/vectors.ts';
import type { Receipt } from '../ports/ledger/feedback.ts';
import type { Embedder } from '../ports/models.ts';
import type { IndexLane } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { withoutAsker } from '../search/asked-for.ts';
import { rank } from '../search/rank.ts';
import { terms } from '../text/terms.ts';
import { besideOwner, type Memory, type Millis, type NamedIds, ownerOf } from '../words.ts';
import type { Space } from './write-in.ts';

/** A space as searches use it. */
export interface SearchedSpace extends Space {
  /** Embeds what is asked. */
  readonly queries: Embedder;
  /** How its vectors read. */
  vectors(): Vectors;
}

export interface SpaceComparison {
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

type CompareDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

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
  deps: CompareDeps,
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
async function askedByPeople({ ledger }: CompareDeps): Promise<readonly StoredQuestion[]> {
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

async function textsOfMemories({ ledger }: CompareDeps, limit: number): Promise<readonly StoredQuestion[]> {
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
  { tools }: CompareDeps,
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
