type Needed = 'ingest' | 'search' | 'manage' | 'admin' | 'operator';
type App = 'ingest' | 'search' | 'console';

/** What every route needs of a key. */
export const NEEDED: Readonly<Record<string, Needed>> = {
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
  'search GET /v1/users': 'search',
  'search GET /v1/stats': 'search',
  'console POST /v1/memories': 'manage',
  'console PATCH /v1/memories/{id}': 'manage',
  'console DELETE /v1/memories/{id}': 'manage',
  'console DELETE /v1/memories': 'manage',
  'console POST /v1/memories/{id}/restore': 'manage',
  'console GET /v1/consolidations': 'manage',
  'console GET /v1/consolidations/{id}': 'manage',
  'console POST /v1/consolidations/{id}/undo': 'manage',
  'console GET /v1/consolidations/{id}/graph': 'manage',
  'console POST /v1/consolidations/{id}/graph': 'manage',
  'console POST /v1/consolidations/preview': 'manage',
  'console GET /v1/reviews': 'manage',
  'console POST /v1/reviews/{id}': 'manage',
  'console GET /v1/undos': 'manage',
  'console POST /v1/undos/{id}/redo': 'manage',
  'console DELETE /v1/users/{id}': 'manage',
  'console GET /v1/users/{id}/export': 'manage',
  'console POST /v1/users/{id}/rollback': 'manage',
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
  'console POST /v1/keys': 'admin',
  'console GET /v1/keys': 'admin',
  'console DELETE /v1/keys/{id}': 'admin',
  'console POST /v1/keys/{id}/rotate': 'admin',
  'console GET /v1/audit': 'admin',
  'console GET /v1/doctor': 'operator',
};

/** A request to a route that finds or changes nothing. */
export function sampled(route: string): { app: App; line: string; body: unknown } {
  const [app, method, path = ''] = route.split(' ');
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  return { app: app as App, line: `${method} ${path.replaceAll(/\{\w+\}/g, 'none')}`, body };
}
