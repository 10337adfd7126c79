/** What a request was about: an owner, or a thing of ours by its id. */
export interface Subject {
  readonly kind: string;
  readonly id: string;
}

/** Who asked for what, and what came of it. No texts, no addresses, no secrets. */
export interface AuditEntry {
  readonly tenant: string;
  /** The id of a key; operator: the static key; loopback: none was needed; nobody: none that is known. */
  readonly by: string;
  /** From a page that somebody had signed in to. */
  readonly session: boolean;
  /** Method and template of the route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  readonly subject: Subject | null;
  readonly status: number;
  /** Of the problem that was answered. */
  readonly code: string | null;
  readonly requestId: string;
  readonly tookMs: number;
}

/** Where entries go. */
export interface AuditSink {
  /** all: reads of memories, too. */
  readonly what: 'changes' | 'all';
  /** Takes it and returns at once; never throws. */
  record(entry: AuditEntry): void;
}
