export type { FastifyReply, FastifyRequest } from 'fastify';
export { Counter, Gauge, Histogram, Registry } from 'prom-client';
export {
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
  tooManyRequests,
  translate,
} from './errors.ts';
export { BODY_LIMITS, countMore } from './limits.ts';
export { ownerInFilter } from './owners.ts';
export {
  given,
  group,
  IdParams,
  idempotencyOf,
  KeyHeader,
  listed,
  longPoll,
  momentOf,
  pageOf,
  routesWith,
  waitSignal,
} from './route.ts';
export { closeInOrder, drain, listen, type Service, serve } from './serve.ts';
export { allowPages, consolePolicy } from './sessions.ts';
export { type App, createShell, type HttpLog, type Routes, type ShellOptions } from './shell.ts';
export { checkImages, checkTimes, type ImagesTaken } from './validation.ts';
