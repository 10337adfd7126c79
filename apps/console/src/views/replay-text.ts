import type { ReplayView } from '@slowwave/contracts';

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
