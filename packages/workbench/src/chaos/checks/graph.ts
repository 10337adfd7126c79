import { read, readAll, searchAll } from '../api.ts';
import { SELF, statementsOf } from '../graph-model.ts';
import type { Stage } from '../stage.ts';
import type { SaidBatch, Story } from '../story.ts';
import { type Studied, studiesOf } from '../studies.ts';
import { type Expected, expectedOf, type Listed, nameOf } from './expected-graph.ts';
import type { Finding } from './finding.ts';

/** Looks at everything that a quiet product says of one user's graph; of who has none, that there is none. */
export async function checkGraph(stage: Stage, story: Story): Promise<Finding[]> {
  const ofUser = `user_id=${encodeURIComponent(story.user)}`;
  const studies = await studiesOf(stage, story);
  const entities = await readAll<Entity>(`${stage.urls.search}/v1/entities?${ofUser}`);
  const listed = await readAll<Listed>(`${stage.urls.search}/v1/relations?ended=true&${ofUser}`);
  const expected = expectedOf(story.said);
  return [
    ...story.batches.flatMap((batch) => checkStudy(story, batch, studies.get(batch.id))),
    ...compared(story, 'relation', { found: listed.map(nameOf), should: expected.map(nameOf) }),
    ...compared(story, 'entity', { found: entities.map(({ name }) => name), should: namesIn(expected) }),
    ...listed.flatMap((one) => checkRelation(story, one, expected)),
    ...(await checkStatements(stage, story, entities)),
    ...(await checkSearch(stage, story, { listed, expected })),
  ];
}

interface Entity {
  readonly id: string;
  readonly name: string;
  readonly self: boolean;
}

/** It was consolidated once, and that was studied, with nothing refused. */
function checkStudy({ user }: Story, batch: SaidBatch, studies: readonly Studied[] | undefined): Finding[] {
  if (studies === undefined) return [];
  const where = `batch ${batch.id} of ${user}`;
  const [only] = studies;
  if (only === undefined || studies.length > 1) {
    const what = `${where} is in ${studies.length} applied consolidations`;
    return [{ kind: only === undefined ? 'lost' : 'doubled', what }];
  }
  const { study, consolidation } = only;
  if (study?.state !== 'applied') {
    const what = `the study of ${consolidation} with ${where} is ${study?.state ?? 'not there'}`;
    const kind = study?.state === 'parked' ? 'parked' : 'lost';
    return [{ kind, what: `${what}: ${JSON.stringify(study?.error)}` }];
  }
  batch.studied = true;
  const refused = study.plan?.remarks ?? [];
  if (refused.length === 0) return [];
  return [{ kind: 'wrong', what: `the study of ${consolidation} with ${where} remarks ${JSON.stringify(refused)}` }];
}

interface Both {
  readonly found: readonly string[];
  readonly should: readonly string[];
}

/** Each that should be there is, once, and no other. */
function compared({ user }: Story, of: string, { found, should }: Both): Finding[] {
  const said = (name: string) => `the ${of} "${name}" of ${user}`;
  const missing = should.filter((name) => !found.includes(name));
  const extra = found.filter((name) => !should.includes(name));
  const again = found.filter((name, i) => found.indexOf(name) !== i);
  return [
    ...missing.map((name): Finding => ({ kind: 'lost', what: `${said(name)} is not there` })),
    ...again.map((name): Finding => ({ kind: 'doubled', what: `${said(name)} is there again` })),
    ...extra.map((name): Finding => ({ kind: 'leak', what: `${said(name)} was never said` })),
  ];
}

function namesIn(expected: readonly Expected[]): string[] {
  return [...new Set(expected.flatMap(({ source, destination }) => [source.name, destination.name]))];
}

/** It is confirmed as often as it was said again, begins when it was first said, and holds if nothing was said after it. */
function checkRelation({ user }: Story, found: Listed, expected: readonly Expected[]): Finding[] {
  const should = expected.find((one) => nameOf(one) === nameOf(found));
  if (should === undefined) return [];
  const is = {
    confirmations: found.confirmations,
    from: Date.parse(found.valid_from),
    ends: found.invalid_at !== null,
  };
  const must = { confirmations: should.times - 1, from: should.from, ends: should.ends };
  if (JSON.stringify(is) === JSON.stringify(must)) return [];
  const what = `"${nameOf(found)}" of ${user} is ${JSON.stringify(is)}, not ${JSON.stringify(must)}`;
  return [{ kind: is.confirmations > must.confirmations ? 'doubled' : 'wrong', what }];
}

interface Statement {
  readonly kind: string;
  readonly relationship: string | null;
  readonly message_ids: readonly string[];
}

/** Of the user there is one statement for each time that something was said. */
async function checkStatements({ urls }: Stage, story: Story, entities: readonly Entity[]): Promise<Finding[]> {
  const self = entities.find((entity) => entity.self);
  if (self === undefined) return [];
  const url = `${urls.search}/v1/entities/${self.id}/history`;
  const { results } = await read<{ results: readonly Statement[] }>(url);
  const holds = results.filter(({ kind }) => kind === 'holds');
  const said = story.said.filter(({ text }) => statementsOf(text).length > 0).length;
  if (holds.length === said) return [];
  const what = `${story.user} said ${said} things, ${SELF} has ${holds.length} statements`;
  return [{ kind: holds.length > said ? 'doubled' : 'lost', what }];
}

interface Known {
  readonly listed: readonly Listed[];
  readonly expected: readonly Expected[];
}

const ALL = 200; // the most a search gives

/** A search for the newest relation finds it, and nothing that is not the user's. Whether the index has all says the doctor. */
async function checkSearch({ urls }: Stage, { user }: Story, { listed, expected }: Known): Promise<Finding[]> {
  const newest = expected.filter(({ ends, source }) => !ends && source.name !== SELF).at(-1);
  const query = newest === undefined ? 'what do I own?' : `what about ${newest.source.name}?`;
  const body = { user_id: user, query, top_k: ALL, include: ['relations'], latest_only: false };
  const { status, body: answer } = await searchAll(urls.search, body);
  if (status !== 200) return [{ kind: 'index', what: `a search for relations of ${user} is answered with ${status}` }];
  const { relations = [], degraded } = answer as { relations?: readonly Listed[]; degraded?: string[] };
  const others = relations.filter(({ id }) => !listed.some((one) => one.id === id));
  const lacks = newest !== undefined && !relations.some((one) => nameOf(one) === nameOf(newest));
  return [
    ...others.map((one): Finding => ({ kind: 'leak', what: `a search of ${user} shows "${nameOf(one)}"` })),
    ...(lacks
      ? [{ kind: 'index' as const, what: `a search of ${user} lacks "${nameOf(newest)}" (${degraded ?? 'whole'})` }]
      : []),
  ];
}
