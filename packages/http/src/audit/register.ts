import type { FastifyRequest } from 'fastify';
import { LOOPBACK, OPERATOR_TENANT } from '../principal.ts';
import { keyIn } from '../sent-key.ts';
import type { App } from '../types.ts';
import type { AuditSink } from './entry.ts';
import { onceAMinute } from './once-a-minute.ts';
import { subjectOf } from './subject.ts';
import { isRecorded, isRefusal } from './worth.ts';

/** Tells the sink who did what, once it is answered: nobody waits for it. */
export function registerAudit(app: App, sink: AuditSink): void {
  const templates = new Map<string, string>();
  const isNew = onceAMinute();
  app.addHook('onResponse', (request, reply, done) => {
    if (isRecorded(request, sink.what)) {
      const { method, problemCode: code } = request;
      const { tenant, by } = whoIn(request);
      const action = `${method} ${templateOf(templates, request.routeOptions.url ?? '')}`;
      // Who has no key could name ever others, and fill a disk with them.
      const subject = request.principal === null ? null : subjectOf(request);
      const about = code === 'too_many_requests' ? '' : (subject?.id ?? '');
      if (!isRefusal(code) || isNew(JSON.stringify([by, action, code, about]))) {
        const came = { status: reply.statusCode, code, requestId: request.id, tookMs: reply.elapsedTime };
        sink.record({ tenant, by, session: hasSession(request), action, subject, ...came });
      }
    }
    done();
  });
}

/** As the description of the API writes it: {id}, not :id. */
function templateOf(known: Map<string, string>, url: string): string {
  const found = known.get(url);
  if (found !== undefined) return found;
  const template = url.replaceAll(/:(\w+)/g, '{$1}');
  known.set(url, template);
  return template;
}

/** A key that has ended is named, as who sends it had its secret. */
function whoIn({ principal, refusedKey }: FastifyRequest): { readonly tenant: string; readonly by: string } {
  if (principal === null) {
    return refusedKey === null
      ? { tenant: OPERATOR_TENANT, by: 'nobody' }
      : { tenant: refusedKey.tenant, by: refusedKey.id };
  }
  return { tenant: principal.tenant, by: principal.keyId ?? (principal === LOOPBACK ? 'loopback' : 'operator') };
}

/** Pages are opened by sessions where no key is sent. */
const hasSession = ({ principal, headers, routeOptions }: FastifyRequest): boolean =>
  routeOptions.config.page === true && principal !== null && principal !== LOOPBACK && keyIn(headers) === null;
