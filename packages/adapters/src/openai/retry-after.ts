/** How long the server wants us to stay away; null when it does not say. */
export function retryAfterMs(headers: Headers): number | null {
  const exact = headers.get('retry-after-ms');
  if (exact !== null && isNumber(exact)) return wholeMs(Number(exact));
  const value = headers.get('retry-after');
  if (value === null) return null;
  if (isNumber(value)) return wholeMs(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : wholeMs(date - Date.now());
}

function isNumber(value: string): boolean {
  return value.trim() !== '' && Number.isFinite(Number(value));
}

function wholeMs(ms: number): number {
  return Math.max(0, Math.ceil(ms));
}
