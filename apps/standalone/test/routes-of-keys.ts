/** any: every key, also one for a single user or app. */
type Needed = 'any' | 'ingest' | 'search' | 'manage' | 'admin' | 'operator';
type App = 'ingest' | 'search' | 'console';

/** They ask by POST, or prolong a session: the audit log has no entry of them. */
export const CHANGING_NOTHING = [
  'POST /v1/search',
  'POST /v1/context',
  'POST /v1/recall',
  'POST /v1/graph/query',
  'POST /v1/session/renew',
];

/** What every route needs of a key. */
export const NEEDED: Readonly<Record<string, Needed>> = {
  'console GET /v1/session': 'any',
  'console POST /v1/session': 'any',
  'console POST /v1/session/renew': 'any',
  'ingest POST /v1/batches': 'ingest',
  'ingest GET /v1/batches': 'ingest',
  'ingest GET /v1/batches/{id}': 'ingest',
  'ingest POST /v1/flush': 'ingest',
  'search POST /v1/search': 'search',
  'search POST /v1/context': 'search',
  'search POST /v1/recall': 'search',
  'search GET /v1/memories': 'search',
  'search GET /v1/memories/{id}': 'search',
  'search GET /v1/memories/{id}/history': 'search',
  'search GET /v1/memories/{id}/sources': 'search',
  'search GET /v1/memories/{id}/receipts': 'search',
  'search GET /v1/messages': 'search',
  'search GET /v1/receipts/{id}': 'search',
  'search POST /v1/receipts/{id}/outcome': 'search',
  'search GET /v1/users': 'search',
  'search GET /v1/ids': 'search',
  'search GET /v1/ids/memories': 'search',
  'search GET /v1/stats': 'search',
  'search GET /v1/graph': 'search',
  'search POST /v1/graph/query': 'search',
  'search GET /v1/graph/proposals': 'search',
  'search GET /v1/entities': 'search',
  'search GET /v1/entities/{id}': 'search',
  'search GET /v1/entities/{id}/history': 'search',
  'search GET /v1/relations': 'search',
  'search GET /v1/relations/{id}': 'search',
  'search GET /v1/relations/{id}/history': 'search',
  'console GET /v1/runs': 'search',
  'console GET /v1/runs/{id}/state': 'search',
  'console GET /v1/runs/{id}/state/history': 'search',
  'console PUT /v1/runs/{id}/state': 'ingest',
  'console PATCH /v1/runs/{id}/state': 'ingest',
  'console POST /v1/runs/{id}/end': 'ingest',
  'console GET /v1/drift': 'manage',
  'console GET /v1/overview': 'manage',
  'console GET /v1/usage': 'manage',
  'console POST /v1/usage/forecast': 'manage',
  'console POST /v1/memories': 'manage',
  'console PATCH /v1/memories/{id}': 'manage',
  'console DELETE /v1/memories/{id}': 'manage',
  'console DELETE /v1/memories': 'manage',
  'console DELETE /v1/ids/memories': 'manage',
  'console POST /v1/memories/{id}/feedback': 'manage',
  'console POST /v1/memories/{id}/restore': 'manage',
  'console POST /v1/relations': 'manage',
  'console PATCH /v1/relations/{id}': 'manage',
  'console DELETE /v1/relations/{id}': 'manage',
  'console PATCH /v1/entities/{id}': 'manage',
  'console POST /v1/entities/{id}/merge': 'manage',
  'console POST /v1/entities/{id}/split': 'manage',
  'console GET /v1/consolidations': 'manage',
  'console GET /v1/consolidations/{id}': 'manage',
  'console GET /v1/consolidations/{id}/prompts': 'manage',
  'console POST /v1/consolidations/{id}/undo': 'manage',
  'console GET /v1/consolidations/{id}/graph': 'manage',
  'console POST /v1/consolidations/{id}/graph': 'manage',
  'console POST /v1/consolidations/preview': 'manage',
  'console GET /v1/nights': 'manage',
  'console GET /v1/nights/{id}': 'manage',
  'console POST /v1/nights/{id}': 'manage',
  'console GET /v1/reviews': 'manage',
  'console POST /v1/reviews/{id}': 'manage',
  'console GET /v1/parked': 'admin',
  'console GET /v1/undos': 'manage',
  'console POST /v1/undos/{id}/redo': 'manage',
  'console DELETE /v1/users/{id}': 'manage',
  'console DELETE /v1/agents/{id}': 'manage',
  'console DELETE /v1/runs/{id}': 'manage',
  'console GET /v1/users/{id}/export': 'manage',
  'console GET /v1/users/{id}/profile': 'search',
  'console PUT /v1/users/{id}/profile/{slot}': 'manage',
  'console DELETE /v1/users/{id}/profile/{slot}/{memory}': 'manage',
  'console POST /v1/users/{id}/links': 'manage',
  'console DELETE /v1/users/{id}/links': 'manage',
  'console GET /v1/users/{id}/pause': 'manage',
  'console PUT /v1/users/{id}/pause': 'manage',
  'console DELETE /v1/users/{id}/pause': 'manage',
  'console POST /v1/users/{id}/rollback': 'manage',
  'console GET /v1/users/{id}/without-nights': 'manage',
  'console GET /v1/erasures': 'manage',
  'console GET /v1/erasures/{id}': 'manage',
  'console POST /v1/retention/preview': 'manage',
  'console GET /v1/settings': 'manage',
  'console PUT /v1/settings': 'manage',
  'console POST /v1/webhooks': 'manage',
  'console GET /v1/webhooks': 'manage',
  'console GET /v1/webhooks/{id}': 'manage',
  'console PATCH /v1/webhooks/{id}': 'manage',
  'console DELETE /v1/webhooks/{id}': 'manage',
  'console GET /v1/webhooks/{id}/deliveries': 'manage',
  'console POST /v1/webhooks/{id}/deliveries/replay': 'manage',
  'console POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay': 'manage',
  'console POST /v1/replays': 'admin',
  'console GET /v1/replays': 'admin',
  'console GET /v1/replays/{id}': 'admin',
  'console DELETE /v1/replays/{id}': 'admin',
  'console POST /v1/suites': 'admin',
  'console GET /v1/suites': 'admin',
  'console GET /v1/suites/{name}': 'admin',
  'console PUT /v1/suites/{name}/margins': 'admin',
  'console DELETE /v1/suites/{name}': 'admin',
  'console GET /v1/suites/{name}/export': 'admin',
  'console POST /v1/suites/{name}/runs': 'admin',
  'console GET /v1/suites/{name}/runs': 'admin',
  'console GET /v1/suites/{name}/runs/{id}': 'admin',
  'console GET /v1/suites/{name}/runs/{id}/sample': 'admin',
  'console POST /v1/suites/{name}/runs/{id}/assessments': 'admin',
  'console GET /v1/holds': 'admin',
  'console POST /v1/holds/{id}/release': 'admin',
  'console POST /v1/canaries': 'admin',
  'console GET /v1/canaries': 'admin',
  'console GET /v1/canaries/{id}': 'admin',
  'console POST /v1/canaries/{id}/stop': 'admin',
  'console POST /v1/canaries/{id}/promote': 'admin',
  'console POST /v1/canaries/{id}/undo': 'admin',
  'console POST /v1/keys': 'admin',
  'console GET /v1/keys': 'admin',
  'console DELETE /v1/keys/{id}': 'admin',
  'console POST /v1/keys/{id}/rotate': 'admin',
  'console GET /v1/audit': 'admin',
  'console GET /v1/doctor': 'operator',
  'console GET /v1/models': 'operator',
  'console GET /v1/index/move': 'operator',
  'console POST /v1/index/move': 'operator',
  'console PATCH /v1/index/move': 'operator',
  'console GET /v1/bundle': 'operator',
  'console GET /v1/bundle/owners': 'operator',
  'console GET /v1/bundle/lines': 'operator',
  'console GET /v1/bundle/erasures': 'operator',
  'console POST /v1/bundle/erasures': 'operator',
  'console PUT /v1/bundle/settings': 'operator',
  'console POST /v1/bundle/imports': 'operator',
  'console POST /v1/bundle/imports/{id}/lines': 'operator',
  'console POST /v1/bundle/imports/{id}/finish': 'operator',
  'console DELETE /v1/bundle/imports/{id}': 'operator',
  'console GET /v1/cold': 'operator',
  'console POST /v1/cold/cool': 'operator',
  'console POST /v1/cold/wake': 'operator',
  'console POST /v1/cold/sweep': 'operator',
  'console GET /v1/tenants/{id}/ceilings': 'operator',
  'console PUT /v1/tenants/{id}/ceilings': 'operator',
  'console DELETE /v1/tenants/{id}/ceilings': 'operator',
};

/** What else opens to the scope subject: what people may do with their own memories. */
export const SUBJECTS: ReadonlySet<string> = new Set([
  'search POST /v1/search',
  'search GET /v1/memories',
  'search GET /v1/memories/{id}',
  'search GET /v1/memories/{id}/history',
  'search GET /v1/memories/{id}/sources',
  'console PATCH /v1/memories/{id}',
  'console DELETE /v1/memories/{id}',
  'console POST /v1/memories/{id}/restore',
  'console GET /v1/users/{id}/export',
  'console GET /v1/users/{id}/profile',
  'console PUT /v1/users/{id}/profile/{slot}',
  'console DELETE /v1/users/{id}/profile/{slot}/{memory}',
  'console GET /v1/users/{id}/pause',
  'console PUT /v1/users/{id}/pause',
  'console DELETE /v1/users/{id}/pause',
  'console DELETE /v1/users/{id}',
]);

/** A request to a route that finds or changes nothing. */
export function sampled(route: string): { app: App; line: string; body: unknown } {
  const [app, method, path = ''] = route.split(' ');
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  return { app: app as App, line: `${method} ${path.replaceAll(/\{\w+\}/g, 'none')}`, body };
}

interface Attempts {
  /** What stands in paths, one after the other. */
  readonly ids: readonly string[];
  readonly users: readonly string[];
  /** What stands in every body besides. */
  readonly more: object;
}

/** Every route, about each of these things and as each of these users. */
export const attempts = ({ ids, users, more }: Attempts): ReturnType<typeof sampled>[] =>
  Object.keys(NEEDED).flatMap((route) => {
    const { app, line, body } = sampled(route);
    const lines = line.includes('none') ? ids.map((id) => line.replaceAll('none', id)) : [line];
    return lines.flatMap((at) =>
      users.map((user_id) => {
        const asked = line.startsWith('GET') ? `${at}?user_id=${user_id}` : at;
        return { app, line: asked, body: body === undefined ? undefined : { ...more, user_id } };
      }),
    );
  });
