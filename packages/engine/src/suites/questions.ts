import type { EngineDeps } from '../deps.ts';
import type { Figures } from '../figures/figures.ts';
import { askedBy } from '../models/embed.ts';
import type { Cancellation } from '../ports/tools.ts';
import { projectRest } from '../projection/project.ts';
import { type RankQuestion, rank } from '../search/rank.ts';
import { cutAt, judge } from '../search/relevance.ts';
import { scored } from '../search/score.ts';
import { normaliseText } from '../text/normalise.ts';
import { overlap, terms } from '../text/terms.ts';
import type { LaneId, Owner, TenantId } from '../words.ts';
import type { CaseQuestion } from './content.ts';

export type QuestionDeps = Pick<
  EngineDeps,
  'ledger' | 'index' | 'embedder' | 'tools' | 'tokenizer' | 'settings' | 'meter' | 'log'
>;

interface Asked {
  readonly owned: { readonly tenant: TenantId; readonly owner: Owner; readonly lane: LaneId };
  readonly questions: readonly CaseQuestion[];
}

/** How many results count. */
const TOP = 10;
/** As many as a search for so many looks through. */
const LEG = 80;
/** A memory says what is expected in words of its own. */
const SAYS = 0.6;

/** Searches a space for the stored questions of a case. */
export async function answered(
  deps: QuestionDeps,
  { owned, questions }: Asked,
  cancel: Cancellation,
): Promise<Figures> {
  if (questions.length === 0) return {};
  while (await projectRest(deps, owned.lane, cancel));
  const { vectors } = await deps.embedder.embed(
    questions.map(({ query }) => query),
    cancel,
  );
  const [found, nothing]: [boolean[], boolean[]] = [[], []];
  let tokens = 0;
  for (const [i, { query, expects }] of questions.entries()) {
    const texts = await search(deps, owned, { text: query, vector: vectors[i] ?? null });
    tokens += texts.reduce((sum, text) => sum + deps.tokenizer.count(text), 0);
    if (expects.length === 0) nothing.push(texts.length === 0);
    else found.push(expects.some((text) => texts.some((one) => isSaid(one, text))));
  }
  const share = (all: readonly boolean[]) => ({ part: all.filter(Boolean).length, of: all.length });
  return { recall: share(found), abstained: share(nothing), context_tokens: { part: tokens, of: questions.length } };
}

const isSaid = (text: string, expected: string): boolean =>
  normaliseText(text) === normaliseText(expected) || overlap(text, expected) >= SAYS;

/** As POST /v1/search orders and cuts. */
async function search(
  { index, tools, settings }: QuestionDeps,
  { tenant, owner, lane }: Asked['owned'],
  { text, vector }: { readonly text: string; readonly vector: Float32Array | null },
): Promise<readonly string[]> {
  const now = tools.now();
  const asked = vector === null ? null : askedBy(vector);
  const [hits = []] = await index.search([
    {
      ...{ tenant, owner, lane, shelf: 'memories', filter: {}, where: null, wide: true, limit: LEG },
      ...{ visibility: { kind: 'live', now }, vector: asked, terms: terms(text) },
    },
  ]);
  const question: RankQuestion = {
    ...{ text, terms: terms(text), at: now, vectors: settings.vectors },
    mode: asked === null ? 'keyword' : 'hybrid',
  };
  const ranked = rank(question, hits);
  const judged = judge(question, ranked);
  const { kept } = cutAt(question, scored(question, ranked, judged), judged);
  return kept.slice(0, TOP).map(({ hit }) => hit.point.text);
}
