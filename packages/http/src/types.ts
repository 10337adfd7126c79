import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { FastifyPluginAsyncZod, ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Registry } from 'prom-client';
import type { Bounds, KeyCheck, Principal, RefusedKey, RouteScope } from './access.ts';
import type { AuditSink, Subject } from './audit.ts';
import type { CellGuard } from './cells.ts';

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

/** Structured log lines; never bodies. */
export interface HttpLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** How requests are authenticated. */
export interface AuthOptions {
  /** The static key of the operator; null: none. */
  readonly apiKey: string | null;
  /** The keys of the ledger; null: keys are not used. */
  readonly keys: KeyCheck | null;
}

/** In ms. */
export interface Arrival {
  readonly headersMs: number;
  /** With its headers. */
  readonly requestMs: number;
  /** How often slow requests are looked for. */
  readonly checkedMs: number;
}

export interface ShellOptions {
  /** The app's name in metrics and in the OpenAPI description. */
  readonly name: string;
  readonly auth: AuthOptions;
  readonly log: HttpLog;
  /** What the app runs on, e.g. { ledger: 'sqlite' }; shown at /healthz. */
  readonly runsOn: Readonly<Record<string, string>>;
  /**
   * Throws if a restart of the process may help, such as when a connection stays silent. /healthz fails meanwhile.
   */
  readonly alive?: () => Promise<void>;
  /** One check per dependency; it throws if the dependency does not respond. */
  readonly ready: Readonly<Record<string, () => Promise<void>>>;
  /** What /readyz says besides: what does not work although requests are served. Anyone may read it. */
  readonly warnings?: () => Promise<readonly string[]>;
  /** Requests per second that each key may send to this process; null: unlimited. */
  readonly keyRate: number | null;
  /** Where audit entries go; null or omitted: nowhere. */
  readonly audit?: AuditSink | null;
  /** What it knows of owners that moved to another cell; null or omitted: it is no cell. */
  readonly cell?: CellGuard | null;
  /** Carries out what answers a request, once it has arrived as a whole; omitted: nothing is around it. */
  readonly around?: (work: () => void) => void;
  /** Sees to it that the owners whom a request names can be read or changed; null or omitted: they always can. */
  readonly admit?: Admit | null;
  /** What people see who open the server in a browser; omitted: the documentation. */
  readonly home?: Routes;
  /** How long a request may take to arrive; omitted: the default. */
  readonly arrival?: Arrival;
  /** Where request metrics are kept; callers add their own to the same registry. */
  readonly metrics: Registry;
}

/** What a request names of owners that may sleep. */
export interface NamedOwners {
  readonly tenant: string;
  readonly owners: readonly { readonly kind: 'user' | 'agent' | 'run'; readonly id: string }[];
  readonly ids: readonly string[];
  /** It only reads, and may be answered from where its owner sleeps. */
  readonly reads: boolean;
}

/** Resolves with what carries out the rest of the request. */
export type Admit = (named: NamedOwners) => Promise<(work: () => void) => void>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Needs no key. */
    open?: boolean;
    /** A page for people, which a session can open. */
    page?: boolean;
    /** The scope that it needs. Default: operator. */
    scope?: RouteScope;
    /** Whether the scope subject opens it, too. */
    subject?: boolean;
    /** How it limits a key for one user or app. */
    bounds?: Bounds;
    /** true: always recorded in the audit log; false: never. */
    audited?: boolean;
    /** What it does about owners that sleep. read: it is answered from where they do; stay: they sleep on. Default: they wake. */
    asleep?: 'read' | 'stay';
  }
  interface FastifyInstance {
    /** Aborts when the service begins to stop. */
    readonly stopping: AbortSignal;
    /** From now on /readyz reports that the service is stopping; requests are still served. */
    withdraw(): void;
    readonly withdrawn: AbortSignal;
  }
  interface FastifyRequest {
    /** Who sent it; null: the route needs no key. */
    principal: Principal | null;
    /** A key that is no longer valid but was sent. */
    refusedKey: RefusedKey | null;
    /** The code of the problem in the response. */
    problemCode: string | null;
    /** What it is about, if its route has set it. */
    subject: Subject | null;
  }
}
