/** Where our own API has one memory. */
export const memoryPath = (id: string): string => `/v1/memories/${encodeURIComponent(id)}`;
