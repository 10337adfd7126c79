import type { Assessment, OwnerKind, Suite, SuiteCase, SuiteStore } from '@slowwave/engine';
import { forgetInRuns, holdsAny, SELECT_SAYING } from './forgetting.ts';
import { type Listing, newestFirst } from './page.ts';
import { RUNS_OF_SUITE } from './replays.ts';
import type { ColumnsOf } from './rows/columns.ts';
import { all, allAs, firstAs, idsOf, insert, lookup, read, run, statement, storeOf, write } from './script.ts';

export const suiteStore = storeOf<SuiteStore>('suites', {
  create: write(function* (suite, cases) {
    if ((yield* run(INSERT_SUITE, suiteColumns(suite))) === 0) return false;
    const lanes = [...new Set(cases.flatMap(({ lane }) => lane ?? []))];
    // Whoever erases or forgets something of them meanwhile finds its cases, and what went before is in none.
    const standing = yield* all<{ id: string }>(LOCK_STANDING, { lanes });
    const known = new Set(standing.map(({ id }) => id));
    const memoryIds = yield* idsOf(SELECT_FORGOTTEN, { lanes });
    const forgotten = [...memoryIds, ...(yield* idsOf(SELECT_SAYING, { memoryIds }))];
    const rows = cases.map(({ id, place, owner, lane, content }) => ({
      ...{ id, suite_id: suite.id, place, owner_kind: owner.kind, owner_id: owner.id, lane },
      content: JSON.stringify(content),
    }));
    yield* insert(
      'suite_cases',
      rows.filter(({ lane, content }) => lane === null || (known.has(lane) && !holdsAny(content, forgotten))),
    );
    return true;
  }),
  find: lookup((tenant, name) => firstAs(suiteFrom, `${SELECT_SUITES} AND name = @name`, { tenant, name })),
  get: lookup((tenant, id) => firstAs(suiteFrom, `${SELECT_SUITES} AND id = @id`, { tenant, id })),
  list: read((tenant, page) => newestFirst(SUITES, page, { tenant })),
  cases: read((suiteId, { after, limit }) => allAs(caseFrom, SELECT_CASES, { suiteId, after, limit })),
  setMargins: statement(function* (...[tenant, id, margins]) {
    const text = 'UPDATE suites SET margins = @margins::jsonb WHERE id = @id AND tenant = @tenant';
    return (yield* run(text, { tenant, id, margins: JSON.stringify(margins) })) === 1;
  }),
  remove: write(function* (tenant, id) {
    yield* run('DELETE FROM suite_cases WHERE suite_id = (SELECT id FROM suites WHERE id = @id AND tenant = @tenant)', {
      tenant,
      id,
    });
    if ((yield* run('DELETE FROM suites WHERE id = @id AND tenant = @tenant', { tenant, id })) === 0) return false;
    // By its cases it could be told what of it is forgotten: without them nothing is left that quotes anybody.
    yield* forgetInRuns({ tenant, suites: [id] }, ({ result }) => result && { ...result, differences: [] });
    return true;
  }),
  assess: write(function* (id, assessments) {
    const rows = assessments.map(({ item, by, verdict }) => ({ run_id: id, item, assessor: by, verdict }));
    yield* insert(
      'suite_assessments',
      rows,
      'ON CONFLICT (run_id, item, assessor) DO UPDATE SET verdict = excluded.verdict',
    );
  }),
  assessments: read((id) => all<Assessment>(SELECT_ASSESSMENTS, { id })),
  runs: read((...[tenant, suiteId, page]) => newestFirst(RUNS_OF_SUITE, page, { tenant, suiteId })),
});

const INSERT_SUITE = `
  INSERT INTO suites (id, tenant, name, origin, masked, margins, created_at)
  VALUES (@id, @tenant, @name, @origin, @masked, @margins::jsonb, @createdAt) ON CONFLICT (tenant, name) DO NOTHING`;

const LOCK_STANDING = 'SELECT id FROM lanes WHERE id IN :lanes AND erasure IS NULL ORDER BY id FOR NO KEY UPDATE';

const SELECT_FORGOTTEN =
  'SELECT id FROM memories WHERE lane IN FEW (SELECT number FROM lanes WHERE id IN :lanes;) AND forgotten_at IS NOT NULL';

const SELECT_SUITES = 'SELECT * FROM suites WHERE tenant = @tenant';

const SELECT_CASES =
  'SELECT * FROM suite_cases WHERE suite_id = @suiteId AND place > @after ORDER BY place LIMIT @limit';

const SELECT_ASSESSMENTS =
  'SELECT item, assessor AS by, verdict FROM suite_assessments WHERE run_id = @id ORDER BY item, assessor';

const SUITES: Listing<SuiteRow, Suite> = {
  select: 'SELECT * FROM suites',
  by: ['created_at', 'id'],
  asked: { tenant: 'tenant = @tenant' },
  make: (row) => suiteFrom(row),
};

type SuiteRow = ColumnsOf<Suite, 'margins'>;

const suiteColumns = (suite: Suite) => ({
  ...suite,
  masked: suite.masked ? 1 : 0,
  margins: JSON.stringify(suite.margins),
});

const suiteFrom = (row: SuiteRow): Suite => ({
  id: row.id,
  tenant: row.tenant,
  name: row.name,
  origin: row.origin,
  masked: row.masked === 1,
  margins: JSON.parse(row.margins),
  createdAt: row.created_at,
});

interface CaseRow extends ColumnsOf<Omit<SuiteCase, 'owner'>, 'content'> {
  readonly owner_kind: OwnerKind;
  readonly owner_id: string;
}

const caseFrom = (row: CaseRow): SuiteCase => ({
  id: row.id,
  suiteId: row.suite_id,
  place: row.place,
  owner: { kind: row.owner_kind, id: row.owner_id },
  lane: row.lane,
  content: JSON.parse(row.content),
});
