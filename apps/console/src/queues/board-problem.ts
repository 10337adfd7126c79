import { type ProblemError, problemBody } from '@slowwave/http';

/** A problem with the fields the board's page reads beside the usual ones, so that it shows what went wrong. */
export const boardProblem = (error: ProblemError) => ({
  ...problemBody(error, '/queues'),
  error: { key: error.statusCode < 500 ? 'ERRORS.FORBIDDEN' : 'ERRORS.INTERNAL_SERVER_ERROR' },
  message: error.message,
});
