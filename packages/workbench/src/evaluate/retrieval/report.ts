import { aligned } from '../../aligned.ts';
import { type Api, each } from '../../api.ts';
import { settled } from '../course.ts';
import type { Conversation, Corpus, Session } from './corpus.ts';
import type { Least } from './options.ts';
import { type Answer, auroc, DEPTHS, type Measures, measuresOf } from './question.ts';

export interface RetrievalReport {
  readonly name: string;
  /** Which models the server used. */
  readonly models: string;
  readonly users: number;
  readonly messages: number;
  readonly seconds: number;
  readonly mode: string;
  readonly search: string;
  /** The server's own time for a search, in ms. */
  readonly took: { readonly p50: number; readonly p95: number };
  readonly all: Measures;
  readonly categories: Readonly<Record<string, Measures>>;
  /** How well each score distinguishes the answerable questions from the others; null where the file has only one kind. */
  readonly auroc: Readonly<Record<'keyword' | 'vector' | 'score', number | null>>;
  readonly unanswerable: number;
  readonly degraded: readonly string[];
  readonly targets: readonly (Least & { readonly reached: number; readonly passed: boolean })[];
  readonly passed: boolean;
  readonly misses: readonly string[];
}

type About = Pick<RetrievalReport, 'name' | 'models' | 'users' | 'messages' | 'seconds' | 'mode' | 'search'>;

export function reportOf(about: About, answers: readonly Answer[], atLeast: readonly Least[]): RetrievalReport {
  const asked = answers.filter(({ question }) => question.answerable);
  const rest = answers.filter(({ question }) => !question.answerable);
  const groups = Map.groupBy(asked, ({ question }) => question.category ?? '');
  const named = [...groups].filter(([category]) => category !== '').sort(([a], [b]) => (a < b ? -1 : 1));
  const apart = (of: 'keyword' | 'vector' | 'score'): number | null =>
    auroc(
      asked.map((answer) => answer[of] ?? 0),
      rest.map((answer) => answer[of] ?? 0),
    );
  const all = measuresOf(asked);
  const aurocs = { keyword: apart('keyword'), vector: apart('vector'), score: apart('score') };
  const targets = atLeast.map((one) => {
    const reached = figureOf(one.figure, all, aurocs.keyword);
    return { ...one, reached, passed: reached >= one.least };
  });
  return {
    ...about,
    took: tookOf(answers),
    all,
    categories: Object.fromEntries(named.map(([category, of]) => [category, measuresOf(of)])),
    auroc: aurocs,
    unanswerable: rest.length,
    degraded: [...new Set(answers.flatMap(({ degraded }) => degraded))],
    targets,
    passed: targets.every(({ passed }) => passed),
    misses: asked
      .filter(({ ranks }) => ranks.every((rank) => rank === null))
      .map(({ question }) => `${question.user}: ${question.text} (wanted: ${question.gold.join(' | ')})`),
  };
}

function figureOf(figure: string, all: Measures, ofKeyword: number | null): number {
  if (figure === 'mrr') return all.mrr;
  if (figure === 'auroc') return ofKeyword ?? 0;
  const [reading, k] = figure.split('@');
  const depth = DEPTHS.find((one) => String(one) === k);
  return depth === undefined ? 0 : (reading === 'share' ? all.share : all.any)[depth];
}

function tookOf(answers: readonly Answer[]): RetrievalReport['took'] {
  const sorted = answers.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}

/** The report as a table for people. */
export function retrievalTable(report: RetrievalReport, showMisses: boolean): string {
  const rows = [...Object.entries(report.categories), ['all', report.all] as const].map(([category, measures]) =>
    rowOf(category, measures),
  );
  return `${[
    `${report.name}: ${report.messages} messages of ${report.users} users, ${report.mode} with ${report.models}; ${report.search} search`,
    '',
    ...aligned([HEAD, ...rows]),
    '',
    'R@k: questions of which a gold text is among the first k. share@k: mean share of a question’s gold texts there.',
    ...abstention(report),
    ...report.degraded.map((reason) => `Searches were degraded: ${reason}`),
    ...(showMisses ? ['', ...report.misses.map((miss) => `missed: ${miss}`)] : []),
    ...report.targets.map(
      ({ figure, least, reached, passed }) =>
        `${passed ? 'pass' : 'FAIL'}  ${figure} ${reached.toFixed(3)}, at least ${least}`,
    ),
    `Server's time of a search: p50 ${report.took.p50} ms, p95 ${report.took.p95} ms. All in ${report.seconds.toFixed(1)} s.`,
  ].join('\n')}\n`;
}

const HEAD = ['category', 'questions', 'R@1', 'R@5', 'R@10', 'R@20', 'MRR', 'share@5', 'share@10', 'share@20'];

const rowOf = (category: string, { questions, any, share, mrr }: Measures): string[] => [
  category,
  String(questions),
  ...DEPTHS.map((depth) => percent(any[depth])),
  mrr.toFixed(3),
  ...([5, 10, 20] as const).map((depth) => percent(share[depth])),
];

const percent = (part: number): string => (part * 100).toFixed(1);

function abstention({ auroc: apart, unanswerable, all }: RetrievalReport): string[] {
  if (unanswerable === 0) return [];
  const figures = Object.entries(apart).map(([score, figure]) => `${score} ${figure?.toFixed(3) ?? '–'}`);
  return [
    `Distinguishing ${all.questions} answerable questions from ${unanswerable} others by the best score of each (AUROC): ${figures.join(', ')}`,
  ];
}

interface Saying {
  readonly api: Api;
  readonly corpus: Corpus;
  readonly userOf: (user: string) => string;
  /** Whether a model looks for facts in what is said. */
  readonly mode: 'decide' | 'verbatim';
  readonly deadline: number;
  readonly progress: (text: string) => void;
}

/** As many messages as one POST takes. */
const MESSAGES_MAX = 2_000;

/** Posts every conversation, session by session in order, and waits until all of it is searchable. */
export async function say(saying: Saying): Promise<number> {
  const { api, corpus, userOf, deadline, progress } = saying;
  let said = 0;
  const total = corpus.conversations.length;
  const ids = await each(corpus.conversations, async (conversation) => {
    const posted = await sayOne(saying, conversation);
    await api.post('/v1/flush', { user_id: userOf(conversation.user) });
    said += 1;
    progress(`posted ${said} of ${total} conversations`);
    return posted;
  });
  for (const [i, id] of ids.flat().entries()) {
    progress(`consolidated ${i} of ${ids.flat().length} batches`);
    await settled({ api }, { id, deadline });
  }
  return ids.flat().length;
}

async function sayOne({ api, userOf, mode }: Saying, { user, sessions }: Conversation): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const { at, messages } of sessions.flatMap(inParts)) {
    const { batch_id } = await api.post<{ batch_id: string }>('/v1/batches', {
      user_id: userOf(user),
      mode,
      ...(at !== null && { timestamp: at }),
      messages: messages.map(({ role, name, content, at: moment }) => ({
        role,
        content,
        ...(name !== null && { name }),
        ...(moment !== null && { timestamp: moment }),
      })),
    });
    ids.push(batch_id);
  }
  return ids;
}

const inParts = ({ at, messages }: Session): Session[] =>
  Array.from({ length: Math.ceil(messages.length / MESSAGES_MAX) }, (_, i) => ({
    at,
    messages: messages.slice(i * MESSAGES_MAX, (i + 1) * MESSAGES_MAX),
  }));
