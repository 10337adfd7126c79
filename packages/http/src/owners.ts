import type { FastifyRequest } from 'fastify';
import { isOperator, OWNER_KINDS, type OwnerKind } from './access.ts';
import { moved, PROBLEM_TYPE, type ProblemError, problem, problemBody } from './errors.ts';
import type { App } from './shell.ts';

/** Where an owner is that moved to another cell. null: only the directory knows. */
interface MovedTo {
  readonly cell: string | null;
  readonly epoch: number;
}

export interface NamedOwner {
  readonly kind: OwnerKind;
  readonly id: string;
}

/** What a cell knows of owners that moved away from it. */
export interface CellGuard {
  /** Whether this cell is given up for lost: others have its owners, or will. */
  isLost(): Promise<boolean>;
  /** null: the owner is here, or nowhere. */
  ofOwner(tenant: string, owner: NamedOwner): Promise<MovedTo | null>;
  /** Where the owner of a thing may be that is not here, by what its id says of the owner; null: nobody moved of whom it could be. */
  ofId(tenant: string, id: string): Promise<MovedTo | null>;
}

/**
 * Whoever asks for an owner that moved to another cell is told so, and not that nothing is remembered. What reads is looked at once more when
 * it is answered: the owner may have moved meanwhile. What was written was written before.
 */
export function registerCellGuard(app: App, guard: CellGuard): void {
  app.addHook('preHandler', async (request) => {
    if (!mayAskTheLost(request) && (await guard.isLost())) throw lost();
    const refusal = await refusalFor(request, guard);
    if (refusal !== null) throw refusal;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    if (!(isText(payload) && isRead(request) && reply.statusCode < 300)) return payload;
    const refusal = await refusalFor(request, guard);
    if (refusal === null) return payload;
    request.problemCode = refusal.code;
    reply.code(refusal.statusCode).type(PROBLEM_TYPE).removeHeader('content-length');
    return JSON.stringify(problemBody(refusal, request.url.split('?', 1)[0] ?? request.url));
  });
}

const lost = (): ProblemError =>
  problem(
    'cell_lost',
    'this cell was given up as lost and serves no owners; send the request to a router. Operators can still read and export its data',
  );

/** Health, what cells are asked, and operators who read: to export what is here is the only way to have it back. */
function mayAskTheLost({ method, principal, routeOptions, url }: FastifyRequest): boolean {
  if (url.startsWith('/v1/cell')) return true;
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && (principal === null ? routeOptions.config.open === true : isOperator(principal));
}

/** Keys, links and webhooks of an owner are its tenant's, and figures are those of every cell: they do not move with it. */
const OF_TENANT = /^\/v1\/(?:keys|webhooks|usage|audit|session)(?:\/|$)|\/links$/;

async function refusalFor(request: FastifyRequest, guard: CellGuard): Promise<ProblemError | null> {
  const { principal } = request;
  if (OF_TENANT.test(request.routeOptions.url ?? '')) return null;
  const owner = principal === null ? null : ownerNamedBy(request);
  if (principal === null || owner === null) return null;
  const at = await guard.ofOwner(principal.tenant, owner);
  return at === null ? null : moved(`${owner.kind} ${JSON.stringify(owner.id)} moved to another cell`, at);
}

/** The same for what was not found: by the ids in its path. */
export async function movedThing(request: FastifyRequest, guard: CellGuard): Promise<ProblemError | null> {
  const { principal, params } = request;
  if (principal === null || typeof params !== 'object' || params === null) return null;
  for (const id of Object.values(params)) {
    const at = typeof id === 'string' ? await guard.ofId(principal.tenant, id) : null;
    if (at !== null)
      return moved(`the object with the id ${JSON.stringify(id)} may have moved to another cell with its owner`, at);
  }
  return null;
}

const isText = (payload: unknown): boolean => typeof payload === 'string' || Buffer.isBuffer(payload);

/** What a POST with the scope search does is asking. */
const isRead = ({ method, routeOptions }: FastifyRequest): boolean =>
  method === 'GET' || method === 'HEAD' || routeOptions.config.scope === 'search';

/** The owner that a request names: the first of user, agent and run, in its path, query or body, else whom the key is for. */
function ownerNamedBy({ routeOptions, params, query, body, principal }: FastifyRequest): NamedOwner | null {
  const ofPath = OWNER_KINDS.find((kind) => routeOptions.url?.startsWith(`/v1/${kind}s/:id`) === true);
  const inPath = ofPath === undefined ? undefined : textOf(params, 'id');
  const ofRun = OF_TASK.test(routeOptions.url ?? '') ? firstOwnerIn(query) : null;
  if (ofRun !== null) return ofRun;
  if (ofPath !== undefined && inPath !== undefined) return { kind: ofPath, id: inPath };
  const named = firstOwnerIn(query) ?? firstOwnerIn(body) ?? ownerInFilter(filtersOf(body));
  const bound = principal?.userId ?? null;
  return named ?? (bound === null ? null : { kind: 'user', id: bound });
}

/** What a run works on belongs to the user or agent that it is for, if one is named. */
const OF_TASK = /^\/v1\/runs\/:id\/./;

function firstOwnerIn(asked: unknown): NamedOwner | null {
  for (const kind of OWNER_KINDS) {
    const id = textOf(asked, `${kind}_id`);
    if (id !== undefined) return { kind, id };
  }
  return null;
}

/** Filters of mem0's grammar combine others, and say whom they are about at any depth. */
const FILTER_DEPTH = 16;

/** The first owner that a filter names, in itself or in what it combines. */
export function ownerInFilter(filter: unknown, depth = FILTER_DEPTH): NamedOwner | null {
  const here = firstOwnerIn(filter);
  if (here !== null || depth === 0 || typeof filter !== 'object' || filter === null) return here;
  const { AND, OR } = filter as { readonly AND?: unknown; readonly OR?: unknown };
  for (const clause of [AND, OR].flatMap((clauses) => (Array.isArray(clauses) ? clauses : []))) {
    const found = ownerInFilter(clause, depth - 1);
    if (found !== null) return found;
  }
  return null;
}

const filtersOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null ? (body as { readonly filters?: unknown }).filters : undefined;

function textOf(asked: unknown, name: string): string | undefined {
  if (typeof asked !== 'object' || asked === null) return undefined;
  const value = (asked as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : undefined;
}

/** What a request names of owners that may sleep. */
interface NamedOwners {
  readonly tenant: string;
  readonly owners: readonly NamedOwner[];
  readonly ids: readonly string[];
  /** It only reads, and may be answered from where its owner sleeps. */
  readonly reads: boolean;
}

/** Resolves with what carries out the rest of the request. */
export type Admit = (named: NamedOwners) => Promise<(work: () => void) => void>;

/** Before a request is handled, and after it is known to be allowed: whom it names sleeps no more, or is read where it does. */
export function registerAdmission(app: App, admit: Admit): void {
  app.addHook('preHandler', (request, _reply, done) => {
    const named = namedBy(request);
    if (named === null) return done();
    admit(named).then((carryOut) => carryOut(done), done);
  });
}

/** null: nobody, or it does not matter whether they sleep. */
function namedBy(request: FastifyRequest): NamedOwners | null {
  const { asleep } = request.routeOptions.config;
  if (request.is404 || request.principal === null || asleep === 'stay') return null;
  const { tenant, userId } = request.principal;
  const body = fieldsOf(request.body);
  const [query, params] = [fieldsOf(request.query), fieldsOf(request.params)];
  const owners = [
    ...ownerIn(body),
    ...ownerIn(query),
    ...ownerOfPath(request.routeOptions.url ?? '', params),
    ...(userId === null ? [] : [{ kind: 'user' as const, id: userId }]),
  ];
  const ids = owners.length > 0 ? [] : [body, query, params].flatMap(idsIn);
  if (owners.length === 0 && ids.length === 0) return null;
  return { tenant: tenantOf(query, body) ?? tenant, owners: distinct(owners), ids, reads: asleep === 'read' };
}

/** A body, its query or its parameters, or an answer, as far as it is looked into. */
export type Fields = Readonly<Record<string, unknown>>;

export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const isId = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The first of user, agent and run is the owner. Routes for operators name it by its kind and id. */
function ownerIn(fields: Fields): NamedOwner[] {
  for (const kind of OWNER_KINDS) {
    const id = fields[`${kind}_id`];
    if (isId(id)) return [{ kind, id }];
  }
  const kind = OWNER_KINDS.find((one) => one === fields.kind);
  return kind !== undefined && isId(fields.id) ? [{ kind, id: fields.id }] : [];
}

function ownerOfPath(url: string, { id }: Fields): NamedOwner[] {
  const kind = OWNER_KINDS.find((one) => url.startsWith(`/v1/${one}s/:id`));
  return kind === undefined || !isId(id) ? [] : [{ kind, id }];
}

/** Of operators, whose routes may be about another tenant. */
const tenantOf = (...fields: readonly Fields[]): string | null => fields.map(({ tenant }) => tenant).find(isId) ?? null;

/** Ids of things that belong to an owner: their kind, then 26 digits. */
const OWNED = /^(?:bat|msg|con|mem|evt|rev|und|ent|sta|rcp)_[0-9a-hjkmnp-tv-z]{26}$/;
const IDS_MAX = 100;

const idsIn = (fields: Fields): string[] =>
  Object.values(fields)
    .flat()
    .filter((value): value is string => typeof value === 'string' && OWNED.test(value))
    .slice(0, IDS_MAX);

const distinct = (owners: readonly NamedOwner[]): NamedOwner[] => [
  ...new Map(owners.map((owner) => [`${owner.kind} ${owner.id}`, owner])).values(),
];
