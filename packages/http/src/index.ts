export type { FastifyReply, FastifyRequest } from 'fastify';
export { Counter, Gauge, Histogram, Registry } from 'prom-client';
export {
  type Bounds,
  type CheckedKey,
  idIn,
  isForOneApp,
  isKeyless,
  isOperator,
  type KeyCheck,
  mayKnow,
  needScope,
  operatorsOnly,
  ownApp,
  type Principal,
  principalOf,
  refuseForOneApp,
  requestTenant,
  requireJustCome,
  USER_HEADER,
} from './access.ts';
export { type AuditSink, concerns } from './audit.ts';
export { BODY_LIMITS } from './body.ts';
export { type CellGuard, type MovedTo, ownerInFilter } from './cells.ts';
export {
  notFound,
  PARAM_MAX,
  PROBLEM_TYPE,
  ProblemError,
  problem,
  problemBody,
  readToTheEnd,
  refuseUnreadable,
  report,
  sendProblem,
  translate,
} from './errors.ts';
export { allowPages, consolePolicy } from './headers.ts';
export { longPoll, type Polled, waitSignal } from './long-poll.ts';
export { countMore } from './rate-limit.ts';
export {
  given,
  group,
  IdParams,
  idempotencyOf,
  KeyHeader,
  listed,
  momentOf,
  pageOf,
  routesWith,
} from './route.ts';
export { closeInOrder, drain, isLoopback, type ListenOptions, listen, type Service, serve } from './serve.ts';
export { createShell } from './shell.ts';
export type { App, HttpLog, Routes, ShellOptions } from './types.ts';
export { checkImages, checkTimes, type ImagesTaken } from './validation.ts';
