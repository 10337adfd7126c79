import type { FastifySchemaCompiler } from 'fastify';
import { core } from 'zod';
import { mistakes } from './mistakes.ts';
import { type InputMistake, type ProblemError, problem } from './problem.ts';

/** Deepest nesting of a JSON body; deeper ones would exhaust the stack of whatever reads them later. */
const DEPTH_MAX = 64;
/** Most mistakes one answer lists. */
const MISTAKES_MAX = 20;

const PLACES: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
};

/** Checks a part of a request against its schema; a mismatch becomes a problem that names every mistake. */
export const validator: FastifySchemaCompiler<core.$ZodType> = ({ schema, httpPart }) => {
  const place = PLACES[httpPart ?? 'body'] ?? 'the request';
  const ofNothing = httpPart === 'headers' || httpPart === 'querystring' ? known(schema, httpPart) : null;
  return (data: unknown) => {
    const value = ofNothing?.(data) ?? null;
    if (value !== null) return { value };
    if (httpPart === 'body' && (data === null || data === undefined)) return { error: emptyBody() };
    // Nothing else of a request can be nested.
    if (httpPart === 'body' && isDeeper(data, DEPTH_MAX)) return { error: tooDeep(place) };
    const result = core.safeParse(schema, data);
    return result.success ? { value: result.data } : { error: invalid(place, mistakes(result.error.issues, data)) };
  };
};

/**
 * What the schema makes of a part that has nothing it asks for, which is most of them: found out once, not with every
 * request. Headers that are not described pass as they are. Null where the schema has to look.
 */
function known(schema: core.$ZodType, part: 'headers' | 'querystring'): ((data: unknown) => object | null) | null {
  if (!(schema instanceof core.$ZodObject)) return null;
  const nothing = core.safeParse(schema, {});
  const names = Object.keys(schema._zod.def.shape);
  if (!nothing.success || (part === 'headers' && !passesOthers(schema))) return null;
  return (data) => {
    if (typeof data !== 'object' || data === null) return null;
    if (part === 'headers') return names.some((name) => name in data) ? null : data;
    for (const _name in data) return null;
    return { ...nothing.data };
  };
}

/** Whether nothing is asked of headers that are not named, and nothing is made of those that are missing. */
function passesOthers(schema: core.$ZodObject): boolean {
  const { catchall, checks = [] } = schema._zod.def;
  const made = core.safeParse(schema, { other: '' });
  const asItWas = made.success && Object.keys(made.data).join() === 'other';
  return catchall?._zod.def.type === 'unknown' && checks.length === 0 && asItWas;
}

function invalid(place: string, errors: readonly InputMistake[]): ProblemError {
  const [first] = errors;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more, see errors)` : '';
  const detail = `${place} is not valid: ${where}${first?.message ?? 'it does not match the schema'}${more}`;
  return problem('invalid_request', detail, { errors: errors.slice(0, MISTAKES_MAX) });
}

function emptyBody(): ProblemError {
  return problem('invalid_request', 'expected a JSON object as the body, got none; send one as application/json');
}

function tooDeep(place: string): ProblemError {
  return problem(
    'invalid_request',
    `expected ${place} to be nested at most ${DEPTH_MAX} levels deep, got more; flatten it`,
  );
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Every body goes through here: most of what is in one is text, and not asked any further.
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  for (const child of children) if (typeof child === 'object' && isDeeper(child, levels - 1)) return true;
  return false;
}
