import type { FastifyRequest } from 'fastify';
import { OWNER_KINDS } from './access.ts';
import type { Admit, App, NamedOwners } from './types.ts';

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

type Fields = Readonly<Record<string, unknown>>;
type NamedOwner = NamedOwners['owners'][number];

const fieldsOf = (value: unknown): Fields =>
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
