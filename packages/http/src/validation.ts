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
export const validator: FastifySchemaCompiler<core.$ZodType> =
  ({ schema, httpPart }) =>
  (data: unknown) => {
    const place = PLACES[httpPart ?? 'body'] ?? 'the request';
    if (httpPart === 'body' && (data === null || data === undefined)) return { error: emptyBody() };
    // Nothing else of a request can be nested.
    if (httpPart === 'body' && isDeeper(data, DEPTH_MAX)) return { error: tooDeep(place) };
    const result = core.safeParse(schema, data);
    return result.success ? { value: result.data } : { error: invalid(place, mistakes(result.error.issues, data)) };
  };

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
  return problem('invalid_request', `${place} is nested deeper than ${DEPTH_MAX} levels; flatten it`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) if (isDeeper(value[key as keyof typeof value], levels - 1)) return true;
  return false;
}
