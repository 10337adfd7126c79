import { ExternalId } from '@slowwave/contracts';
import type { FastifyRequest } from 'fastify';
import { OWNER_KINDS } from '../bounds.ts';
import type { Subject } from './entry.ts';

/** For routes that make something: that is what the entry is about. */
export function concerns(request: FastifyRequest, subject: Subject): void {
  request.subject = subject;
}

/** Whom or what a request was about, as far as its route tells: the owner it names, or the thing its path names. */
export function subjectOf(request: FastifyRequest): Subject | null {
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
