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
/** Spaces, and what else may stand between two parts. */
const SPACE_MAX = 0x20;

/** Brackets and braces differ by one bit. */
const opens = (code: number): boolean => (code | 0x20) === 0x7b;
const closes = (code: number): boolean => (code | 0x20) === 0x7d;
/** The few bytes that something is to be done about, so that all others are passed over fast. */
const TELLING = Uint8Array.from({ length: 256 }, (_, code) =>
  Number(code === QUOTE || code === COMMA || opens(code) || closes(code)),
);

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

/** One look at each byte: all that matters here is ASCII. What is no JSON at all is left to the parser, which says so. */
function refusalOf(body: Buffer): ProblemError | null {
  if (!mayBeRefused(body)) return null;
  let depth = 0;
  let values = 0;
  for (let i = 0; i < body.length && depth <= DEPTH_MAX && values <= VALUES_MAX; i += 1) {
    const code = body[i] ?? 0;
    if (TELLING[code] === 0) continue;
    if (code === QUOTE) i = endOfText(body, i);
    else if (code === COMMA) values += 1;
    else if (closes(code)) depth -= 1;
    else {
      depth += 1;
      values += firstIn(body, i + 1);
    }
  }
  if (depth > DEPTH_MAX) return tooDeep();
  return values > VALUES_MAX ? tooMany() : null;
}

/** 1 where something stands in what opens here: it is counted there, all others with the comma before them. */
function firstIn(body: Buffer, from: number): number {
  let at = from;
  while (at < body.length && (body[at] ?? 0) <= SPACE_MAX) at += 1;
  return at === body.length || closes(body[at] ?? 0) ? 0 : 1;
}

/** Bytes of a text that are looked at before its end is sought: most texts are shorter. */
const LOOKED_AT = 64;

/** Where the text ends that begins here. */
function endOfText(body: Buffer, start: number): number {
  let i = start + 1;
  while (i < body.length) {
    for (const end = Math.min(i + LOOKED_AT, body.length); i < end; i += 1) {
      const code = body[i] ?? 0;
      if (code === QUOTE) return i;
      if (code === BACKSLASH) i += 1;
    }
    const quote = body.indexOf(QUOTE, i);
    if (quote === -1) return body.length;
    if (!isEscaped(body, quote, i)) return quote;
    i = quote + 1;
  }
  return i;
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
