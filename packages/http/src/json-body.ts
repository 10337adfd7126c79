import { errorCodes } from 'fastify';
import { type ProblemError, problem } from './problem.ts';
import type { App } from './types.ts';

/** Deepest nesting of a JSON body; deeper ones would exhaust the stack of whatever reads them later. */
const DEPTH_MAX = 64;
/** Fields and items of a JSON body, all together: several times those of a batch of 2,000 messages. */
const VALUES_MAX = 100_000;

/**
 * JSON is the only body there is. It is weighed before it is parsed: objects of very many fields take longer than anything
 * else of their size, here and in all that looks at them later. An empty one is left to the route's schema, which says what
 * it expects.
 */
export function readOnlyJson(app: App): void {
  const parseWithCare = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const refusal = refusalOf(body);
    if (refusal !== null) return done(refusal, undefined);
    if (body.length === 0) return done(null, undefined);
    if (needsCare(body)) return void parseWithCare(request, body.toString(), done);
    try {
      done(null, JSON.parse(body.toString()));
    } catch {
      done(new errorCodes.FST_ERR_CTP_INVALID_JSON_BODY(), undefined);
    }
  });
}

/** Names that reach the prototype of an object. */
const CAREFUL = ['__proto__', 'constructor'];
/** The first byte of a byte order mark. */
const MARK = 0xef;

/**
 * Whether something could reach a prototype: where neither name stands and none can be written with escapes, nothing does,
 * which is found out in a moment.
 */
const needsCare = (body: Buffer): boolean =>
  body[0] === MARK || body.includes(BACKSLASH) || CAREFUL.some((name) => body.includes(name));

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
/** Spaces, and what else may stand between two parts. */
const SPACE_MAX = 0x20;

/** So many bytes or fewer are sought one by one: each that is found takes longer than a look at a hundred bytes. */
const SOUGHT_MAX = 500;

/** Most large bodies have too few commas and brackets, wherever they are, to be looked at more closely. */
function mayBeRefused(body: Buffer): boolean {
  const opening = countUpTo(DEPTH_MAX, body, BRACKET) + countUpTo(DEPTH_MAX, body, BRACE);
  return opening > DEPTH_MAX || countUpTo(SOUGHT_MAX, body, COMMA) > SOUGHT_MAX;
}

function countUpTo(most: number, body: Buffer, sought: number): number {
  let count = 0;
  for (let at = body.indexOf(sought); at !== -1 && count <= most; at = body.indexOf(sought, at + 1)) count += 1;
  return count;
}

function refusalOf(body: Buffer): ProblemError | null {
  if (!mayBeRefused(body)) return null;
  const { depth, values } = weighed(body);
  if (depth > DEPTH_MAX) return tooDeep();
  return values > VALUES_MAX ? tooMany() : null;
}

/** Bytes that are weighed before it is asked whether it is too much already: asking at each would take as long again. */
const STRETCH = 4_096;

/** As much of a body as shows that it is too much. What is no JSON at all is left to the parser, which says so. */
function weighed(body: Buffer): Weight {
  const weight: Weight = { at: 0, depth: 0, values: 0 };
  while (weight.at < body.length && weight.depth <= DEPTH_MAX && weight.values <= VALUES_MAX) weigh(body, weight);
  return weight;
}

interface Weight {
  at: number;
  depth: number;
  values: number;
}

/** One look at each byte of a stretch: all that matters here is ASCII. */
function weigh(body: Buffer, weight: Weight): void {
  const end = Math.min(body.length, weight.at + STRETCH);
  let { at, depth, values } = weight;
  while (at < end && depth <= DEPTH_MAX) {
    const code = body[at] ?? 0;
    at += 1;
    if (code === QUOTE) at = behindText(body, at);
    else if (code === COMMA) values += 1;
    else if (code >= BRACKET) {
      // Brackets and braces differ by one bit.
      const brace = code | 0x20;
      if (brace === BRACE) {
        depth += 1;
        values += firstIn(body, at);
      } else if (brace === BRACE_END) depth -= 1;
    }
  }
  Object.assign(weight, { at, depth, values });
}

/** 1 where something stands in what opens here: it is counted there, all others with the comma before them. */
function firstIn(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && (body[at] ?? 0) <= SPACE_MAX) at += 1;
  return at === body.length || ((body[at] ?? 0) | 0x20) === BRACE_END ? 0 : 1;
}

/** Bytes of a text that are looked at before its end is sought: most texts are shorter. */
const LOOKED_AT = 64;

/** Behind the text whose first character stands there. */
function behindText(body: Buffer, first: number): number {
  let at = first;
  for (;;) {
    for (const near = Math.min(at + LOOKED_AT, body.length); at < near; at += 1) {
      const code = body[at] ?? 0;
      if (code === QUOTE) return at + 1;
      if (code === BACKSLASH) at += 1;
    }
    const quote = body.indexOf(QUOTE, at);
    if (quote === -1) return body.length;
    if (!isEscaped(body, quote, at)) return quote + 1;
    at = quote + 1;
  }
}

/** Whether an odd number of backslashes stands before it; where `from` is, none before it counts. */
function isEscaped(body: Buffer, at: number, from: number): boolean {
  let first = at;
  while (first > from && body[first - 1] === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
}

const tooDeep = (): ProblemError =>
  problem('invalid_request', `expected the body to be nested at most ${DEPTH_MAX} levels deep, got more; flatten it`);

const tooMany = (): ProblemError =>
  problem(
    'invalid_request',
    `expected the body to have at most ${VALUES_MAX} fields and items, got more; send it in smaller parts`,
  );
