/** Longest value an answer repeats as it was given, in characters of JSON. */
const ECHO_MAX = 60;

/** A given value in a few words: its kind, and itself where it is short. */
export function got(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return echoed(value, `${value.length} characters of text`);
  return `the ${typeof value} ${String(value)}`;
}

function echoed(value: string, otherwise: string): string {
  if (value.length > ECHO_MAX) return otherwise; // written as JSON it is longer still, and may be megabytes
  const json = JSON.stringify(value);
  return json.length > ECHO_MAX ? otherwise : json;
}
