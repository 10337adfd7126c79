import { CONVERSATIONS } from './conversations.ts';
import { failuresOf, type Reworded } from './questions.ts';

/** What became of one conversation. */
export interface Result {
  readonly said: string;
  readonly state: string;
  /** Of a parked batch its error; of what the model wrote and is not remembered what speaks against it. */
  readonly reasons: readonly string[];
  /** What ended without a reason. */
  readonly unexplained: readonly string[];
  /** As many as the model wrote. */
  readonly facts: number;
  readonly memories: readonly {
    readonly text: string;
    /** Its words that nobody said. */
    readonly unsaid: readonly string[];
    /** What it says twice; null: nothing. */
    readonly repeated: string | null;
    /** A search by vectors alone finds it. */
    readonly isFound: boolean;
  }[];
  /** How many of the facts that may be remembered are not. */
  readonly missed: number;
  readonly degraded: readonly string[];
  /** Questions for facts, their repairs and further tries counted. */
  readonly extractCalls: number;
}

export interface RealModelsReport {
  readonly models: string;
  readonly seconds: number;
  readonly results: readonly Result[];
  readonly reworded: Reworded;
  /** What speaks against it; none: it passed. */
  readonly failures: readonly string[];
}

/** Two tries, each with a repair. */
const EXTRACT_CALLS_MAX = 4;
const ENDS = ['consolidated', 'empty', 'parked'];

export function reportOf(run: Omit<RealModelsReport, 'failures'>): RealModelsReport {
  const failures = run.results.flatMap(({ said, state, memories, unexplained, degraded, extractCalls }) => [
    ...memories
      .filter(({ unsaid }) => unsaid.length > 0)
      .map(({ text, unsaid }) => `${said}: "${text}" is remembered, but nobody said ${unsaid.join(', ')}`),
    ...memories
      .filter(({ repeated }) => repeated !== null)
      .map(({ text, repeated }) => `${said}: "${text}" is remembered, and says "${repeated}" twice`),
    ...memories.filter(({ isFound }) => !isFound).map(({ text }) => `${said}: no search by vectors finds "${text}"`),
    ...degraded.map((reason) => `${said}: the search was degraded: ${reason}`),
    ...unexplained.map((text) => `${said}: no reason is given for ${text}`),
    ...(ENDS.includes(state) ? [] : [`${said}: expected an end, got ${state}`]),
    ...(extractCalls > EXTRACT_CALLS_MAX ? [`${said}: the model was asked ${extractCalls} times`] : []),
  ]);
  return { ...run, failures: [...failures, ...failuresOf(run.reworded)] };
}

/** The counts, as one line. */
export function figureOf({ models, results, reworded, failures }: RealModelsReport): string {
  const count = (of: (result: Result) => number): number => results.reduce((sum, result) => sum + of(result), 0);
  const gold = CONVERSATIONS.reduce((sum, { facts }) => sum + facts.length, 0);
  const isFalse = ({ unsaid, repeated }: Result['memories'][number]): boolean => unsaid.length > 0 || repeated !== null;
  const parked = results.filter(({ state }) => state === 'parked').length;
  const said = [
    `${results.length} conversations: ${count(({ facts }) => facts)} facts written`,
    `${count(({ memories }) => memories.length)} remembered, ${count(({ memories }) => memories.filter(isFalse).length)} of them said by nobody`,
    `${gold - count(({ missed }) => missed)} of the ${gold} that were told`,
    `${parked} parked`,
  ];
  return [
    models,
    ...(results.length === 0 ? [] : said),
    `${reworded.asked - reworded.missed.length} of ${reworded.asked} questions in other words find their fact among the first five`,
    `${failures.length} findings`,
  ].join(', ');
}

/** A table in Markdown: what was said, what it became, and why. */
export function tableOf({ results }: RealModelsReport): string {
  const rows = results.map(({ said, state, facts, memories, extractCalls }) => [
    said,
    state,
    String(extractCalls),
    String(facts),
    memories.map(({ text }) => text).join('; ') || '–',
  ]);
  const head = ['said', 'state', 'calls for facts', 'facts written', 'remembered'];
  return [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('');
}
