/** How what was left out for the time limit is told. */
export const lateNote = (what: string): string => `${what} omitted: not done within timeout_ms`;
