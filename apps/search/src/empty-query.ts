import { problem } from '@slowwave/http';

export const emptyQuery = () =>
  problem(
    'invalid_request',
    'expected text in query, got none; use GET /v1/memories to list memories without a query',
    {
      errors: [{ path: 'query', message: 'expected text, got none' }],
    },
  );
