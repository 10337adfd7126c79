export type { FastifyReply, FastifyRequest } from 'fastify';
export { Counter, Gauge, Histogram, Registry } from 'prom-client';
export type { AuditSink } from './audit/entry.ts';
export { concerns } from './audit/subject.ts';
export { BODY_LIMITS } from './body-limits.ts';
export { type Bounds, refuseForOneApp } from './bounds.ts';
export { PROBLEM_TYPE, readToTheEnd, report, sendProblem } from './errors.ts';
export { allowPages } from './headers.ts';
export { idempotencyOf, KeyHeader } from './idempotency.ts';
export { checkImages, type ImagesTaken } from './images.ts';
export { type ListenOptions, listen } from './listen.ts';
export { longPoll, type Polled, waitSignal } from './long-poll.ts';
export { isLoopback } from './loopback.ts';
export { listed, pageOf } from './page.ts';
export { IdParams } from './params.ts';
export {
  type CheckedKey,
  isForOneApp,
  isKeyless,
  isOperator,
  type KeyCheck,
  mayKnow,
  principalOf,
  requestTenant,
} from './principal.ts';
export { notFound, ProblemError, problem, problemBody } from './problem.ts';
export { countMore } from './rate-limit.ts';
export { needScope } from './scopes.ts';
export { closeInOrder, drain, type Service, serve } from './serve.ts';
export { createShell } from './shell.ts';
export { checkTimes } from './times.ts';
export { translate } from './translate.ts';
export type { App, HttpLog, Routes, ShellOptions } from './types.ts';
