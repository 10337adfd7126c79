import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { FastifyPluginAsyncZod, ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Bounds, KeyCheck, Principal, RefusedKey, RouteScope } from './access.ts';
import type { AuditSink, Subject } from './audit.ts';

/** An HTTP app whose routes are typed by their zod schemas. */
export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** A set of routes, to be registered on a shell. */
export type Routes = FastifyPluginAsyncZod;

/** Structured lines about what happens; never bodies. */
export interface HttpLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Who is let in. */
export interface AuthOptions {
  /** The one key of the operator; null: none. */
  readonly apiKey: string | null;
  /** The keys that were given out; null: there are none to be asked for. */
  readonly keys: KeyCheck | null;
}

/** In ms. */
export interface Arrival {
  readonly headersMs: number;
  /** With its headers. */
  readonly requestMs: number;
  /** How often it is looked for those who take longer. */
  readonly checkedMs: number;
}

export interface ShellOptions {
  /** Which app answers: named in metrics and in the description of the API. */
  readonly name: string;
  readonly auth: AuthOptions;
  readonly log: HttpLog;
  /** What the app runs on, e.g. { ledger: 'sqlite' }; shown at /healthz. */
  readonly runsOn: Readonly<Record<string, string>>;
  /**
   * Throws when a new start of the process may mend what is wrong, such as a connection that nobody answers on; left out
   * where nothing is to be asked. /healthz fails meanwhile.
   */
  readonly alive?: () => Promise<void>;
  /** One check per dependency; it throws when the dependency does not answer. */
  readonly ready: Readonly<Record<string, () => Promise<void>>>;
  /** Requests a second that each given key may send to this process; null: as many as it likes. */
  readonly keyRate: number | null;
  /** Who is told of who did what; null, or left out: nobody. */
  readonly audit?: AuditSink | null;
  /** How long a request may take to arrive; left out: as is usual. */
  readonly arrival?: Arrival;
  /** Where request metrics are kept; callers add their own to the same registry. */
  readonly metrics: Registry;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers without a key, even when one is set. */
    open?: boolean;
    /** A page for people, which a browser's session opens. */
    page?: boolean;
    /** What it needs of a key; operators only where it says nothing. */
    scope?: RouteScope;
    /** How it keeps a key for one user or app inside that. */
    bounds?: Bounds;
    /** Leaves an entry in the audit log, whatever else would follow; false: never. */
    audited?: boolean;
  }
  interface FastifyInstance {
    /** Aborts when the service begins to stop. */
    readonly stopping: AbortSignal;
    /** From now on /readyz says that the service is stopping; everything is still answered. */
    withdraw(): void;
    readonly withdrawn: AbortSignal;
  }
  interface FastifyRequest {
    /** Who asks; null where no key is asked for. */
    principal: Principal | null;
    /** A key that has ended, and was sent all the same. */
    refusedKey: RefusedKey | null;
    /** Of the problem it is answered with. */
    problemCode: string | null;
    /** What it is about, where a route has said so. */
    subject: Subject | null;
  }
}
