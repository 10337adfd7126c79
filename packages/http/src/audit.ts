import { ExternalId } from '@slowwave/contracts';
import type { FastifyRequest } from 'fastify';
import { isKeyless, keyIn, OPERATOR_TENANT, OWNER_KINDS } from './access.ts';
import type { App } from './shell.ts';

/** Records who did what after the response is sent: nobody waits for it. */
export function registerAudit(app: App, sink: AuditSink): void {
  const templates = new Map<string, string>();
  const isNew = onceAMinute();
  app.addHook('onResponse', (request, reply, done) => {
    if (isRecorded(request, sink.what)) {
      const { method, problemCode: code } = request;
      const { tenant, by } = whoIn(request);
      const action = `${method} ${templateOf(templates, request.routeOptions.url ?? '')}${besidesRoute(request)}`;
      // Without a key, a sender could use ever new ids and fill the disk.
      const subject = request.principal === null ? null : subjectOf(request);
      const about = code === 'too_many_requests' ? '' : (subject?.id ?? '');
      if (!isRefusal(code) || isNew(JSON.stringify([by, action, code, about]))) {
        const came = { status: reply.statusCode, code, requestId: request.id, tookMs: reply.elapsedTime };
        sink.record({ tenant, by, session: hasSession(request), action, subject, ...came });
      }
    }
    done();
  });
}

/** A request that only asked what a change would do is told apart from one that did it. */
const besidesRoute = ({ body, query }: FastifyRequest): string =>
  [body, query].some((asked) => String(fieldOf(asked, 'dry_run')) === 'true') ? '?dry_run=true' : '';

/** As in the OpenAPI description: {id}, not :id. */
function templateOf(known: Map<string, string>, url: string): string {
  const found = known.get(url);
  if (found !== undefined) return found;
  const template = url.replaceAll(/:(\w+)/g, '{$1}');
  known.set(url, template);
  return template;
}

/** A key that is no longer valid is named, because its sender had the secret. */
function whoIn(request: FastifyRequest): { readonly tenant: string; readonly by: string } {
  const { principal, refusedKey } = request;
  if (principal === null) {
    return refusedKey === null
      ? { tenant: OPERATOR_TENANT, by: 'nobody' }
      : { tenant: refusedKey.tenant, by: refusedKey.id };
  }
  return { tenant: principal.tenant, by: principal.keyId ?? (isKeyless(request) ? 'loopback' : 'operator') };
}

/** Somebody in a browser: known, although no key was sent. */
const hasSession = (request: FastifyRequest): boolean =>
  request.principal !== null && !isKeyless(request) && keyIn(request.headers) === null;

/** Codes with which the shell refuses a request before its route runs. */
const REFUSALS: ReadonlySet<string> = new Set([
  'unauthorized',
  'link_opened',
  'forbidden',
  'scope_missing',
  'key_bound',
  'sign_in_again',
  'too_many_requests',
]);

const isRefusal = (code: string | null): boolean => code !== null && REFUSALS.has(code);

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Whether a request is recorded: changes, reads by admins, and refusals. Routes for any key only forward to others, which
 * are recorded themselves.
 */
function isRecorded({ routeOptions, method, problemCode, is404 }: FastifyRequest, what: AuditSink['what']) {
  const { config, url } = routeOptions;
  const { scope = 'operator', open = false, audited } = config;
  // Whoever has gone is not to be named here: where the request belongs, it is recorded.
  if (is404 || url === undefined || problemCode === 'moved') return false;
  if (audited === true) return true;
  if (open) return false;
  if (isRefusal(problemCode)) return true;
  if (audited === false) return false;
  if (scope === 'any') return false;
  const reads = READS.has(method);
  // Pages and metrics are polled again and again.
  if (!url.startsWith('/v1/')) return !reads;
  if (what === 'all') return true;
  return scope !== 'search' && (!reads || scope === 'admin' || scope === 'operator');
}

/** Sets the subject of the audit entry, for routes that create something. */
export function concerns(request: FastifyRequest, subject: Subject): void {
  request.subject = subject;
}

/** The subject of a request: the owner it names, or the object in its path. */
function subjectOf(request: FastifyRequest): Subject | null {
  const { subject, params, body, query, routeOptions } = request;
  if (subject !== null) return subject;
  const { by } = routeOptions.config.bounds ?? {};
  if (by === undefined || by === 'found') return thingOf(fieldOf(params, 'id'));
  if (by === 'body' || by === 'query') return ownerIn(by === 'body' ? body : query);
  return ownerOf(by, fieldOf(params, 'id'));
}

/** The first given is the owner. */
function ownerIn(named: unknown): Subject | null {
  for (const kind of OWNER_KINDS) {
    const id = fieldOf(named, `${kind}_id`);
    if (id !== undefined) return ownerOf(kind, id);
  }
  return null;
}

/** A refused request may contain anything. */
const ownerOf = (kind: string, id: unknown): Subject | null =>
  ExternalId.safeParse(id).success ? { kind, id: id as string } : null;

/** The prefix of our ids is their kind. Anything else in a path is a caller's text. */
const OURS = /^([a-z]{3})_[0-9a-z]{8,40}$/;

const KINDS: Readonly<Record<string, string>> = {
  bat: 'batch',
  con: 'consolidation',
  ent: 'entity',
  ers: 'erasure',
  key: 'key',
  lnk: 'link',
  mem: 'memory',
  rcp: 'receipt',
  rev: 'review',
  rpl: 'replay',
  sta: 'relation',
  und: 'undo',
  whk: 'webhook',
};

function thingOf(id: unknown): Subject | null {
  if (typeof id !== 'string') return null;
  const kind = KINDS[OURS.exec(id)?.[1] ?? ''];
  return kind === undefined ? null : { kind, id };
}

const fieldOf = (of: unknown, name: string): unknown =>
  typeof of === 'object' && of !== null ? (of as Readonly<Record<string, unknown>>)[name] : undefined;

const MINUTE_MS = 60_000;
/** Different refusals that are remembered; about 2 MB. With more in a minute, some are recorded again. */
const KEPT_MAX = 10_000;

/** Whether something is new within a minute, so that repeated refusals do not fill the disk. */
export function onceAMinute(now: () => number = performance.now.bind(performance)): (what: string) => boolean {
  let since = now();
  const seen = new Set<string>();
  return (what) => {
    const at = now();
    if (at - since >= MINUTE_MS || seen.size >= KEPT_MAX) {
      seen.clear();
      since = at;
    }
    if (seen.has(what)) return false;
    seen.add(what);
    return true;
  };
}

/** What a request was about: an owner, or an object by its id. */
export interface Subject {
  readonly kind: string;
  readonly id: string;
}

/** Who requested what, with which outcome. No texts, addresses or secrets. */
export interface AuditEntry {
  readonly tenant: string;
  /** The id of a key; operator: the static key; loopback: none was needed; nobody: none, or an unknown one. */
  readonly by: string;
  /** Sent from a page, with a browser session. */
  readonly session: boolean;
  /** Method and template of the route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  readonly subject: Subject | null;
  readonly status: number;
  /** The code of the problem in the response. */
  readonly code: string | null;
  readonly requestId: string;
  readonly tookMs: number;
}

/** Where entries go. */
export interface AuditSink {
  /** all: reads of memories, too. */
  readonly what: 'changes' | 'all';
  /** Returns at once; never throws. */
  record(entry: AuditEntry): void;
}
