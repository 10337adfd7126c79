import { z } from 'zod';

/** What a route answers that draws as well. */
export const inFormats = <T extends z.ZodType>(json: T) => ({
  description: 'The graph in the requested format.',
  content: {
    'application/json': { schema: json },
    'text/vnd.graphviz': { schema: z.string() },
    'text/vnd.mermaid': { schema: z.string() },
    'image/svg+xml': { schema: z.string() },
  },
});
