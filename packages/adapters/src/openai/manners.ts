import { type Complaint, complainsAbout, isAboutRoom, isFailedAnswer } from './failure.ts';

/** What each part of a request may be, best first. A server that refuses one is asked for the next. */
const CHOICES = {
  /** How an answer's form is asked for. */
  format: ['json_schema', 'json_object', 'text'],
  temperature: [true, false],
  /** false: instructions go into the user's message, as templates without a system role want it. */
  system: [true, false],
  /** By which name the length of an answer is limited. */
  limit: ['max_completion_tokens', 'max_tokens', 'none'],
  /** Whether an answer is sent while it is written: with its tokens at the end, without, or not at all. */
  stream: ['counted', 'plain', 'none'],
} as const;

type Part = keyof typeof CHOICES;

/** What a server is known to take: plain data, which may be saved and loaded. It starts with everything and only ever shrinks. */
export type Manners = { readonly [part in Part]: (typeof CHOICES)[part][number] } & {
  /** The longest answer that may be asked for, in tokens. Missing or null: no maximum is known. */
  readonly outputMax?: number | null;
};

export const FULL_MANNERS: Manners = {
  format: 'json_schema',
  temperature: true,
  system: true,
  limit: 'max_completion_tokens',
  stream: 'counted',
  outputMax: null,
};

/** What is known of one model of one server. */
export interface KnownManners<M = Manners> {
  now(): M;
  /** It takes no more than this. */
  learn(manners: M): void;
}

/** Known for the life of the process: a server is asked once for what it does not take. */
export const knownManners = (before: Manners = FULL_MANNERS): KnownManners => shrinking(before, combine);

/** Manners that only ever become fewer. `least` is what both of two take. */
export function shrinking<M>(before: M, least: (a: M, b: M) => M): KnownManners<M> {
  let manners = before;
  return {
    now: () => manners,
    learn: (less) => {
      manners = least(manners, less);
    },
  };
}

const ABOUT_FORMAT =
  /response.?format|json.?schema|json.?object|json.?mode|structured.?output|guided|grammar|output_config|response.?schema|mime.?type|additional.?properties|proto field is not/iu;
const ABOUT_TEMPERATURE = /temperature/iu;
const ABOUT_SYSTEM = /system.{0,12}role.{0,20}not supported|only user and assistant roles|roles must alternate/iu;

const ABOUT_LIMIT = /max[_ ]?(?:completion|output|new)?[_ ]?tokens|number of output tokens/iu;

const ABOUT_STREAM = /\bstream(?:s|ing|ed)?\b/iu;
const ABOUT_COUNTING = /stream_options|include_usage/iu;
/** A stream can fail for other reasons than that it was asked for. */
const REFUSES =
  /unsupported|(?:not|n't|cannot) (?:be )?(?:currently )?(?:used|combine|support|permit|allow|implement|available)|incompatible|unrecogni[sz]ed|unknown (?:field|param|arg|name|key)|\bunexpected\b|invalid|disabled/iu;

/** The same manners without what the server complains about; null when that is something else. `limit`: of the answer, as it was asked for. */
export function withoutRefused(manners: Manners, complaint: Complaint, limit: number | null = null): Manners | null {
  if (manners.temperature && complainsAbout(complaint, ABOUT_TEMPERATURE)) return { ...manners, temperature: false };
  if (manners.system && complainsAbout(complaint, ABOUT_SYSTEM)) return { ...manners, system: false };
  if (limit !== null && complainsAbout(complaint, ABOUT_LIMIT) && !isAboutRoom(complaint)) {
    // What is refused at the maximum that was named before is not refused for its size.
    const outputMax = manners.outputMax ? null : maximumIn(complaint, limit);
    return outputMax === null
      ? { ...manners, limit: after(CHOICES.limit, manners.limit) ?? 'none' }
      : { ...manners, outputMax };
  }
  const stream = lesserStream(manners, complaint);
  if (stream !== undefined) return { ...manners, stream };
  return complainsAbout(complaint, ABOUT_FORMAT) && !isFailedAnswer(complaint) ? withLesserFormat(manners) : null;
}

/** Before the form of an answer: some servers have either of both, and say so of both. */
function lesserStream({ stream }: Manners, complaint: Complaint): Manners['stream'] | undefined {
  const isRefused = complaint.param !== '' || REFUSES.test(complaint.text);
  if (stream === 'none' || !isRefused) return undefined;
  if (stream === 'counted' && complainsAbout(complaint, ABOUT_COUNTING)) return 'plain';
  return complainsAbout(complaint, ABOUT_STREAM) || complainsAbout(complaint, ABOUT_COUNTING) ? 'none' : undefined;
}

/** For who wants no streams: what is known of them stays as it is. */
export const unstreamed = (known: KnownManners): KnownManners => ({
  now: () => ({ ...known.now(), stream: 'none' }),
  learn: (less) => known.learn({ ...less, stream: known.now().stream }),
});

/** What may be at fault where a server does not say what it refuses. */
export const withLess = (manners: Manners): Manners | null =>
  manners.stream === 'none' ? withLesserFormat(manners) : { ...manners, stream: 'none' };

export function withLesserFormat(manners: Manners): Manners | null {
  const format = after(CHOICES.format, manners.format);
  return format === undefined ? null : { ...manners, format };
}

const after = <T>(choices: readonly T[], choice: T): T | undefined => choices[choices.indexOf(choice) + 1];

/** What servers say of fields that they do not know; numbers beside it are quoted from the request. */
const ABOUT_NAME = /unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not permitted/iu;

/** A model that writes less than this is of no use, and smaller numbers in a complaint are about something else. */
const OUTPUT_MAX_MIN = 256;

/** The longest answer that a complaint allows, below what was asked for. One less than it names: some name the first that is refused. */
function maximumIn({ text }: Complaint, limit: number): number | null {
  if (ABOUT_NAME.test(text)) return null;
  const numbers = text.replaceAll(/(?<=\d),(?=\d{3})/gu, '').match(/(?<![\w.-])\d+(?![\w-])/gu) ?? [];
  const below = numbers.map(Number).filter((number) => number > OUTPUT_MAX_MIN && number < limit);
  return below.length === 0 ? null : Math.max(...below) - 1;
}

/** The least of both: what two calls learnt at the same time. */
export const combine = (a: Manners, b: Manners): Manners => ({
  format: lesser(CHOICES.format, a.format, b.format),
  temperature: a.temperature && b.temperature,
  system: a.system && b.system,
  limit: lesser(CHOICES.limit, a.limit, b.limit),
  stream: lesser(CHOICES.stream, a.stream, b.stream),
  outputMax: a.outputMax && b.outputMax ? Math.min(a.outputMax, b.outputMax) : (a.outputMax ?? b.outputMax ?? null),
});

const lesser = <T>(choices: readonly T[], a: T, b: T): T => (choices.indexOf(a) > choices.indexOf(b) ? a : b);
