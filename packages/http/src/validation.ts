import type { FastifySchemaCompiler } from 'fastify';
import { core } from 'zod';
import { MISTAKES_MAX, stopAtEnough } from './few-mistakes.ts';
import { mistakes } from './mistakes.ts';
import { type InputMistake, type ProblemError, problem } from './problem.ts';

const PLACES: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
};

/** Checks a part of a request against its schema; a mismatch becomes a problem that names every mistake. */
export const validator: FastifySchemaCompiler<core.$ZodType> = ({ schema, httpPart }) => {
  const place = PLACES[httpPart ?? 'body'] ?? 'the request';
  stopAtEnough(schema);
  const ofNothing = httpPart === 'headers' || httpPart === 'querystring' ? known(schema, httpPart) : null;
  return (data: unknown) => {
    const value = ofNothing?.(data) ?? null;
    if (value !== null) return { value };
    if (httpPart === 'body' && (data === null || data === undefined)) return { error: emptyBody() };
    const result = core.safeParse(schema, data, { error: wording });
    return result.success ? { value: result.data } : { error: invalid(place, mistakes(result.error.issues, data)) };
  };
};

/** zod would name each unknown field in one sentence, which nobody reads: twenty of them are named one by one. */
const wording: core.$ZodErrorMap = ({ code }) => (code === 'unrecognized_keys' ? 'unknown fields' : undefined);

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
  const others = Math.min(errors.length, MISTAKES_MAX) - 1;
  const least = errors.length > MISTAKES_MAX ? 'at least ' : '';
  const more = others > 0 ? ` (and ${least}${others} more, see errors)` : '';
  const detail = `${place} is not valid: ${where}${first?.message ?? 'it does not match the schema'}${more}`;
  return problem('invalid_request', detail, { errors: errors.slice(0, MISTAKES_MAX) });
}

function emptyBody(): ProblemError {
  return problem('invalid_request', 'expected a JSON object as the body, got none; send one as application/json');
}
