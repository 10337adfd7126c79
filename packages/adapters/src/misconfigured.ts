/** Nobody's input is at fault, and only a person can mend it: all work waits, and looks again this often. */
export const MISCONFIGURED = {
  code: 'model_misconfigured',
  retryable: true,
  countsAsTry: false,
  retryAfterMs: 30_000,
} as const;
