import { problem } from '@slowwave/http';

export const emptyQuery = () =>
  problem('invalid_request', 'a query needs text, got none; GET /v1/memories lists memories without a query', {
    errors: [{ path: 'query', message: 'expected text, got none' }],
  });
