import { ExternalId } from '@slowwave/contracts';
import type { FastifyRequest } from 'fastify';
import { keyIn, LOOPBACK, OPERATOR_TENANT, OWNER_KINDS } from './access.ts';
import type { App } from './types.ts';

/** Tells the sink who did what, once it is answered: nobody waits for it. */
export function registerAudit(app: App, sink: AuditSink): void {
  const templates = new Map<string, string>();
  const isNew = onceAMinute();
  app.addHook('onResponse', (request, reply, done) => {
    if (isRecorded(request, sink.what)) {
      const { method, problemCode: code } = request;
      const { tenant, by } = whoIn(request);
      const action = `${method} ${templateOf(templates, request.routeOptions.url ?? '')}`;
      // Who has no key could name ever others, and fill a disk with them.
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

/** As the description of the API writes it: {id}, not :id. */
function templateOf(known: Map<string, string>, url: string): string {
  const found = known.get(url);
  if (found !== undefined) return found;
  const template = url.replaceAll(/:(\w+)/g, '{$1}');
  known.set(url, template);
  return template;
}

/** A key that has ended is named, as who sends it had its secret. */
function whoIn({ principal, refusedKey }: FastifyRequest): { readonly tenant: string; readonly by: string } {
  if (principal === null) {
    return refusedKey === null
      ? { tenant: OPERATOR_TENANT, by: 'nobody' }
      : { tenant: refusedKey.tenant, by: refusedKey.id };
  }
  return { tenant: principal.tenant, by: principal.keyId ?? (principal === LOOPBACK ? 'loopback' : 'operator') };
}

/** Pages are opened by sessions where no key is sent. */
const hasSession = ({ principal, headers, routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.page === true && principal !== null && principal !== LOOPBACK && keyIn(headers) === null;

/** What the shell refuses, before a route has looked at anything. */
const REFUSALS: ReadonlySet<string> = new Set([
  'unauthorized',
  'forbidden',
  'scope_missing',
  'key_bound',
  'too_many_requests',
]);

const isRefusal = (code: string | null): boolean => code !== null && REFUSALS.has(code);

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Whether the answered request leaves an entry: what changes something, what admins read, and whatever was refused.
 * Routes for any key only pass on to others, which leave entries of their own.
 */
function isRecorded({ routeOptions, method, problemCode, is404 }: FastifyRequest, what: AuditSink['what']) {
  const { config, url } = routeOptions;
  const { scope = 'operator', open = false, audited } = config;
  if (is404 || url === undefined) return false;
  if (audited !== undefined) return audited;
  if (open) return false;
  if (isRefusal(problemCode)) return true;
  if (scope === 'any') return false;
  const reads = READS.has(method);
  // Pages ask for themselves again and again, and so does who collects metrics.
  if (!url.startsWith('/v1/')) return !reads;
  if (what === 'all') return true;
  return scope !== 'search' && (!reads || scope === 'admin' || scope === 'operator');
}

/** For routes that make something: that is what the entry is about. */
export function concerns(request: FastifyRequest, subject: Subject): void {
  request.subject = subject;
}

/** Whom or what a request was about, as far as its route tells: the owner it names, or the thing its path names. */
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

/** What was refused may hold anything. */
const ownerOf = (kind: string, id: unknown): Subject | null =>
  ExternalId.safeParse(id).success ? { kind, id: id as string } : null;

/** Our ids say what they name. Anything else in a path is a caller's text. */
const OURS = /^([a-z]{3})_[0-9a-z]{8,40}$/;

const KINDS: Readonly<Record<string, string>> = {
  bat: 'batch',
  con: 'consolidation',
  ent: 'entity',
  ers: 'erasure',
  key: 'key',
  mem: 'memory',
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
/** Different refusals that are kept in mind; about 2 MB. With more in a minute some are told of again. */
const KEPT_MAX = 10_000;

/** Tells what is new within a minute: who is refused and goes on trying does not fill a disk. */
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

/** What a request was about: an owner, or a thing of ours by its id. */
export interface Subject {
  readonly kind: string;
  readonly id: string;
}

/** Who asked for what, and what came of it. No texts, no addresses, no secrets. */
export interface AuditEntry {
  readonly tenant: string;
  /** The id of a key; operator: the static key; loopback: none was needed; nobody: none that is known. */
  readonly by: string;
  /** From a page that somebody had signed in to. */
  readonly session: boolean;
  /** Method and template of the route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  readonly subject: Subject | null;
  readonly status: number;
  /** Of the problem that was answered. */
  readonly code: string | null;
  readonly requestId: string;
  readonly tookMs: number;
}

/** Where entries go. */
export interface AuditSink {
  /** all: reads of memories, too. */
  readonly what: 'changes' | 'all';
  /** Takes it and returns at once; never throws. */
  record(entry: AuditEntry): void;
}
