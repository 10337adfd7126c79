/** How what was left out for the time limit is told. */
export const lateNote = (what: string): string => `${what} was not done within timeout_ms and is left out`;
