import { isoOf } from '../text/dates.ts';
import type { Failure, Millis } from '../words.ts';

/** A failure as tenants may read it: what happened, and nothing of where. The log has the message as it was. */
export const failureOf = ({ code, message }: Pick<Failure, 'code' | 'message'>, at: Millis): Failure => ({
  code,
  message: withoutPlaces(message),
  at,
});

/**
 * A text without addresses, hosts, names of databases and paths of the installation. Messages come from drivers, servers and
 * the system, in words that nobody here chooses: what looks like a place is taken for one.
 */
export const withoutPlaces = (text: string): string =>
  PLACES.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), text);

const ADDRESS = '[address]';
const PATH = '[path]';

const PLACES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'`<>(){},;]+/giu, ADDRESS],
  // What the system says it looked up or connected to: getaddrinfo ENOTFOUND llm.example.
  [/\b(getaddrinfo|connect|querySrv|bind|listen) ([A-Z][A-Z_]+) [^\s,;)]+/gu, `$1 $2 ${ADDRESS}`],
  [/\b(database|user|role|host|host name) "[^"]*"/giu, '$1 "…"'],
  [/\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d{1,5})?/giu, ADDRESS],
  [/(?<![\w:])(?:[0-9a-f]{1,4}:){0,7}:(?:[0-9a-f]{1,4}:?)+/giu, ADDRESS],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?:\/[\w.-]+)?/gu, ADDRESS],
  [/\b[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*:\d{2,5}\b(?:\/[\w.-]+)?/giu, ADDRESS],
  [/\b[a-z]:\\[^\s"'`<>|,;]+/giu, PATH],
  // Routes of the API are no places.
  [/(?<![\w.:/\]])\/(?!(?:v1|v2|v3|mem0|queues|readyz|healthz)\b)[\w.@+-]+(?:\/[\w.@+-]+)+\/?/gu, PATH],
];

export const isoOrNull = (at: Millis | null): string | null => (at === null ? null : isoOf(at));

export const failureView = (failure: Failure | null) => (failure === null ? null : shown(failure));

export const failuresView = (failures: readonly Failure[]) => failures.map(shown);

/** What was kept before failures were kept without their places is told without them, too. */
const shown = (failure: Failure) => ({ ...failureOf(failure, failure.at), at: isoOf(failure.at) });
