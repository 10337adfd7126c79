// Made by packages/sdk/codegen from the API's own description; ./scripts/sdk-types makes it anew.

export type AuditEntry = {
  readonly id: string;
  /** When the request came. */
  readonly at: string;
  readonly tenant: string;
  /** The id of a key; operator: the static key; loopback: none was needed; offline: the command line, on the ledger itself; nobody: no key, or none that is known. */
  readonly by: string;
  /** From a page that somebody had signed in to. */
  readonly session: boolean;
  /** Method and route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  /** Whom or what it was about: user, agent, run, memory, batch, key, …. Where the owner was erased: the erasure. null: the tenant as a whole, or nothing there is. */
  readonly subject: {
    readonly kind: string;
    readonly id: string;
  } | null;
  /** done: a status below 400; refused: 401, 403 or 429; failed: any other. */
  readonly outcome: 'done' | 'refused' | 'failed';
  readonly status: number;
  /** Of the problem that was answered. */
  readonly code: string | null;
  /** As in the header x-request-id. null: forgotten with an erased owner. */
  readonly request_id: string | null;
};

export type AuditList = {
  readonly results: readonly AuditEntry[];
  readonly next_cursor: string | null;
};

export type Batch = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly state: 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone';
  readonly stage: 'waiting' | 'extract' | 'decide' | 'apply' | 'project' | 'done';
  readonly attempts: number;
  readonly error: Failure | null;
  /** The last tries that failed, oldest first, those before a replay included. */
  readonly failures: readonly Failure[];
  readonly consolidation_id: string | null;
  readonly messages: number;
  readonly priority: 'live' | 'backfill';
  readonly events: readonly BatchEvent[];
  readonly timings: {
    readonly accepted_at: string;
    readonly claimed_at: string | null;
    readonly applied_at: string | null;
    readonly searchable_at: string | null;
  };
  readonly usage: Usage | null;
};

export type BatchAccepted = {
  readonly batch_id: string;
  readonly state: 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone';
  readonly status_url: string;
};

export type BatchEvent = {
  readonly id: string;
  readonly event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE' | 'UNDO';
  readonly memory_id: string;
  readonly memory: string;
  readonly previous: string | null;
};

export type BatchList = {
  readonly results: readonly BatchSummary[];
  readonly next_cursor: string | null;
};

export type BatchSummary = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly state: 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone';
  readonly stage: 'waiting' | 'extract' | 'decide' | 'apply' | 'project' | 'done';
  readonly attempts: number;
  readonly error: Failure | null;
  readonly consolidation_id: string | null;
  readonly messages: number;
  readonly priority: 'live' | 'backfill';
  readonly timings: {
    readonly accepted_at: string;
    readonly claimed_at: string | null;
    readonly applied_at: string | null;
    readonly searchable_at: string | null;
  };
};

export type Ceilings = {
  readonly tenant: string;
  readonly tokens_per_day: number | null;
  readonly cost_per_day: number | null;
  /** Set for this tenant; false: what holds for all. */
  readonly own: boolean;
};

export type ChangedRelation = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly id: string;
  readonly source: {
    readonly id: string;
    readonly name: string;
  };
  /** General and timeless, like works_at. */
  readonly relationship: string;
  readonly destination: {
    readonly id: string;
    readonly name: string;
  };
  /** How it reads: "Ana works at Acme". */
  readonly text: string;
  readonly valid_from: string;
  /** When it ended; null: it holds. */
  readonly invalid_at: string | null;
  /** Memories that came from the same messages. */
  readonly memory_ids: readonly string[];
  readonly said_at: string;
  /** How often it was said again. */
  readonly confirmations: number;
  /** The words that say it; null where somebody wrote it without any. */
  readonly quote: string | null;
  readonly message_ids: readonly string[];
  /** The id it had before: what is said anew has a new one. */
  readonly replaces: string | null;
};

export type Citation = CitedMemory | CitedMessage;

export type CitedMemory = {
  readonly id: string;
  readonly memory: string;
  readonly version: number;
  readonly valid_from: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly kind: 'memory';
  /** The messages it came from. */
  readonly message_ids: readonly string[];
};

export type CitedMessage = {
  readonly message_id: string;
  readonly batch_id: string;
  /** The id the caller gave the message. */
  readonly id: string | null;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly name: string | null;
  readonly content: string;
  readonly said_at: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  readonly kind: 'message';
};

export type Consolidation = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly state: 'thinking' | 'planned' | 'waiting' | 'applied' | 'split' | 'parked' | 'undone';
  readonly batch_ids: readonly string[];
  readonly attempts: number;
  readonly error: Failure | null;
  readonly created_at: string;
  readonly applied_at: string | null;
  /** When retention removed its plan and its answers. */
  readonly removed_at: string | null;
  /** What was read, thought and decided; null until a plan is stored. */
  readonly plan: unknown | null;
  readonly answers: readonly {
    readonly step: string;
    readonly model: string;
    readonly output: string;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly at: string;
  }[];
};

export type ConsolidationList = {
  readonly results: readonly ConsolidationSummary[];
  readonly next_cursor: string | null;
};

export type ConsolidationSummary = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly state: 'thinking' | 'planned' | 'waiting' | 'applied' | 'split' | 'parked' | 'undone';
  readonly batch_ids: readonly string[];
  readonly attempts: number;
  readonly error: Failure | null;
  readonly created_at: string;
  readonly applied_at: string | null;
  /** When retention removed its plan and its answers. */
  readonly removed_at: string | null;
};

export type ContextResult = {
  /** Of the format text. Empty where there is nothing to tell. */
  readonly text?: string | undefined;
  /** Of the format anthropic. Empty where no memory, profile or summary is told. */
  readonly system?: string | undefined;
  /** Of the formats openai and anthropic: what goes before the turns of the caller. */
  readonly messages?: readonly ContextTurn[] | undefined;
  readonly tokens: number;
  readonly sections: {
    readonly profile?: ContextSection | undefined;
    readonly summary?: ContextSection | undefined;
    readonly memories?: ContextSection | undefined;
    readonly relations?: ContextSection | undefined;
    readonly pending?: ContextSection | undefined;
  };
  readonly citations: readonly ({
    /** As the block marks it: m1, m2, … */
    readonly ref: string;
    readonly section: 'profile' | 'memories';
    readonly memory_id: string;
    readonly version: number;
    readonly said_at: string;
    readonly valid_from: string;
  })[];
  readonly memory_ids: readonly string[];
  readonly pending: readonly ({
    readonly message_id: string;
    readonly batch_id: string;
    /** The id the caller gave the message. */
    readonly id: string | null;
    readonly role: 'user' | 'assistant' | 'system' | 'tool';
    readonly name: string | null;
    readonly content: string;
    readonly said_at: string;
    /** Only its beginning is told. */
    readonly cut: boolean;
  })[];
  /** Older pending messages are left out. */
  readonly pending_trimmed: boolean;
  readonly took_ms: number;
  /** What is missing, and why. */
  readonly degraded?: readonly string[] | undefined;
};

export type ContextSection = {
  readonly shown: number;
  /** For want of room, or because it is told already. */
  readonly left_out: number;
};

export type ContextTurn = {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
};

export type Deleted = {
  readonly deleted: number;
};

export type Delivery = {
  readonly id: string;
  readonly event_id: string;
  readonly type: 'batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted';
  readonly state: 'waiting' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly next_attempt_at: string | null;
  readonly created_at: string;
  readonly ended_at: string | null;
  /** HTTP status of the last answer. */
  readonly last_status: number | null;
  readonly last_error: string | null;
  /** What is sent, but for the delivery_id. */
  readonly body: Readonly<Record<string, unknown>>;
};

export type DeliveryList = {
  readonly results: readonly Delivery[];
  readonly next_cursor: string | null;
};

export type Dependent = {
  /** write: an explicit one; its id is that of its event. */
  readonly kind: 'consolidation' | 'write';
  readonly id: string;
  readonly memory_ids: readonly string[];
};

export type Entity = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly id: string;
  /** As it was first called. */
  readonly name: string;
  /** What an entity is; what is none of the others is a thing. */
  readonly kind: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing';
  /** The owner's own entity: I, the user. */
  readonly self: boolean;
  /** Its other names, those of entities that were merged into it among them. */
  readonly aliases: readonly string[];
  /** The entity it is the same as; null: it stands for itself. */
  readonly merged_into: string | null;
  readonly created_at: string;
};

export type EntityList = {
  readonly results: readonly Entity[];
  readonly next_cursor: string | null;
};

export type EntityNeighbourhood = {
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
  /** There is more: ask for a larger limit, or page through GET /v1/relations. */
  readonly truncated: boolean;
  readonly entity: Entity;
};

export type Erasure = {
  readonly id: string;
  /** requested: stored, nothing of the owner is consolidated or written any more; erasing: rows go; compacting: they are gone, and files are rewritten; erased: over. */
  readonly state: 'requested' | 'erasing' | 'compacting' | 'erased';
  /** What was erased so far, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** What could not be overwritten at once, where, and until when. */
  readonly remains: readonly string[];
  readonly requested_at: string;
  readonly erased_at: string | null;
};

export type ErasureAccepted = {
  readonly erasure_id: string;
  readonly state: 'requested' | 'erasing' | 'compacting' | 'erased';
  readonly status_url: string;
};

export type Examination = {
  readonly at: string;
  readonly depth: 'quick' | 'usual' | 'full';
  /** No promise is broken; there may be warnings. */
  readonly healthy: boolean;
  readonly checks: readonly {
    readonly check: string;
    readonly looked: number;
    readonly findings: number;
  }[];
  readonly findings: readonly ({
    readonly check: string;
    readonly severity: 'error' | 'warning';
    readonly what: string;
    readonly count: number;
    readonly examples: readonly string[];
    readonly remedy: string;
  })[];
};

export type ExportLine = {
  readonly type: 'user' | 'batch' | 'message' | 'memory' | 'event' | 'consolidation' | 'review' | 'summary' | 'entity' | 'relation' | 'statement' | 'end';
};

export type Failure = {
  readonly code: string;
  readonly message: string;
  readonly at: string;
};

/** What memories must be like: fields with a value, a list of values, "*" or operators (eq, ne, in, nin, gt, gte, lt, lte, contains, icontains), joined by AND, OR and NOT. It narrows the scope and never widens it. See docs/filters.md. */
export type Filters = Readonly<Record<string, unknown>>;

export type Flush = {
  /** Batches of this owner that were waiting and are due now. */
  readonly pending: number;
};

/** Which memories are forgotten by themselves; pinned ones never. It is a deletion, and can be taken back. */
export type Forgetting = {
  /** Memories that were not changed for so long. */
  readonly max_age_days?: number | null | undefined;
  /** Memories that were neither changed nor said again for so long. */
  readonly unconfirmed_days?: number | null | undefined;
  /** Of each user, agent or run; the least confirmed go first, of those the oldest. */
  readonly max_memories?: number | null | undefined;
};

export type Graph = {
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
  /** There is more: ask for a larger limit, or page through GET /v1/relations. */
  readonly truncated: boolean;
};

export type GraphMatch = {
  /** Of match: what each variable stands for, by its name without "?". Of path: from and to. */
  readonly entities: Readonly<Record<string, Entity>>;
  /** Of match: one for each pattern. Of path: in the order of the way. */
  readonly relations: readonly Relation[];
};

export type GraphMatches = {
  readonly results: readonly GraphMatch[];
  readonly next_cursor: string | null;
  /** The question reaches more relations than one answer looks at; there may be more matches. Say more. */
  readonly truncated: boolean;
};

export type History = {
  readonly results: readonly HistoryEvent[];
  readonly next_cursor: string | null;
};

export type HistoryEvent = {
  readonly id: string;
  readonly memory_id: string;
  readonly event: 'ADD' | 'UPDATE' | 'DELETE' | 'NONE' | 'UNDO';
  readonly version: number;
  readonly previous: string | null;
  readonly memory: string | null;
  readonly reason: string;
  readonly actor: string;
  readonly consolidation_id: string | null;
  /** Of UNDO: the earlier events, by version, that no longer count. */
  readonly retracts: readonly number[];
  /** Of UNDO: what it is part of; see /v1/undos. */
  readonly undo_id: string | null;
  readonly said_at: string;
  readonly created_at: string;
};

export type ImagePart = {
  readonly type: 'image_url';
  readonly image_url: {
    /** A public address, or a data URL. */
    readonly url: string;
    readonly detail?: 'auto' | 'low' | 'high' | undefined;
  };
};

export type Key = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly scopes: readonly ('ingest' | 'search' | 'manage' | 'admin')[];
  readonly user_id: string | null;
  readonly app_id: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** Some time within an hour of the last use. */
  readonly last_used_at: string | null;
  /** Until when the secret before the last rotation is still taken. */
  readonly previous_until: string | null;
};

export type KeyList = {
  readonly results: readonly Key[];
  readonly next_cursor: string | null;
};

export type KeyWithSecret = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly scopes: readonly ('ingest' | 'search' | 'manage' | 'admin')[];
  readonly user_id: string | null;
  readonly app_id: string | null;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  /** Some time within an hour of the last use. */
  readonly last_used_at: string | null;
  /** Until when the secret before the last rotation is still taken. */
  readonly previous_until: string | null;
  /** Told this once and never again. */
  readonly secret: string;
};

export type Live = {
  readonly status: 'ok';
  readonly runs_on: Readonly<Record<string, string>>;
};

export type Memory = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly memory: string;
  readonly version: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly categories: readonly string[];
  readonly immutable: boolean;
  /** No policy forgets it. Not told by searches. */
  readonly pinned?: boolean | undefined;
  readonly said_at: string;
  readonly valid_from: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly expires_at: string | null;
  readonly confirmations: number;
  readonly created_at: string;
  readonly updated_at: string;
};

export type MemoryList = {
  readonly results: readonly Memory[];
  readonly next_cursor: string | null;
};

export type Message = {
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly content: string | readonly (TextPart | ImagePart)[];
  /** Of the speaker. */
  readonly name?: string | undefined;
  /** When it was said; otherwise when it was accepted. With the speaker’s offset (+09:00) their own day is known. */
  readonly timestamp?: string | undefined;
  /** Unique for the ids of the batch: a message that comes again is not new. */
  readonly id?: string | undefined;
};

export type MessageHit = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly message_id: string;
  readonly batch_id: string;
  /** The id the caller gave the message. */
  readonly id: string | null;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly name: string | null;
  readonly content: string;
  readonly said_at: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  readonly score: number;
  readonly scores?: Scores | undefined;
};

export type PatchEntity = {
  /** A further name; its first one stays. */
  readonly alias: string;
};

export type PatchMemory = {
  readonly memory?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The one that fits best. */
  readonly categories?: readonly string[] | undefined;
  readonly immutable?: boolean | undefined;
  readonly pinned?: boolean | undefined;
  readonly expires_at?: string | null | undefined;
  /** Only change it if this is still the version that was said last; of a change to come: that of its history. */
  readonly version?: number | undefined;
};

export type PatchRelation = {
  /** An entity by id, by name (made if there is none), or {"self": true}: the owner. */
  readonly source?: {
    readonly id?: string | undefined;
    /** One of its names, in any case. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** Of one that is made by its name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  } | undefined;
  readonly relationship?: string | undefined;
  /** An entity by id, by name (made if there is none), or {"self": true}: the owner. */
  readonly destination?: {
    readonly id?: string | undefined;
    /** One of its names, in any case. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** Of one that is made by its name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  } | undefined;
  readonly valid_from?: string | undefined;
  /** When it ended; null: it holds after all. */
  readonly invalid_at?: string | null | undefined;
  /** Why; kept with the statement. */
  readonly reason?: string | undefined;
};

export type PatchWebhook = {
  /** https, on the public internet, unless the operator lists its host in SLOWWAVE_ALLOW_PRIVATE_URLS. */
  readonly url?: string | undefined;
  /** What it is told of. */
  readonly events?: readonly ('batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted')[] | undefined;
  /** What people call it. */
  readonly name?: string | undefined;
  /** true also ends a pause and forgets the failures before. */
  readonly active?: boolean | undefined;
  /** Replaces the secret; the one before signs as well for 24 hours. */
  readonly secret?: string | undefined;
  /** Makes a new secret; the one before signs as well for 24 hours. */
  readonly rotate_secret?: true | undefined;
  readonly user_id?: string | null | undefined;
  readonly app_id?: string | null | undefined;
};

/** Any JSON value */
export type Plan = unknown;

export type PostBatch = {
  readonly messages: readonly Message[];
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly infer?: boolean | undefined;
  readonly mode?: 'decide' | 'add_only' | undefined;
  readonly instructions?: string | undefined;
  readonly includes?: string | undefined;
  readonly excludes?: string | undefined;
  readonly memory_type?: 'procedural' | undefined;
  /** When messages without a timestamp of their own were said. */
  readonly timestamp?: string | undefined;
  /** Of the speakers, like Asia/Tokyo: “yesterday” is resolved by their day. Not needed where timestamps have an offset (+09:00). Left out: as the settings of the tenant say, else UTC. */
  readonly timezone?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly flush?: boolean | undefined;
  /** backfill for old conversations that are brought in: they are consolidated when no live batch is due, in order with what the same owner says meanwhile. */
  readonly priority?: 'live' | 'backfill' | undefined;
  /** Whether relations between people, places and things are kept of it, beside its memories. Left out: as the settings of the tenant say. What is stored word for word (infer: false) and procedures have none. */
  readonly graph?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
};

export type PostContext = {
  /** What the next answer is about. Without it, the last messages of the user say. */
  readonly query?: string | undefined;
  /** The last turns, which the caller has in its prompt anyway: they are not told again. */
  readonly messages?: readonly Message[] | undefined;
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly filters?: Filters | undefined;
  /** Counted as o200k_base does. */
  readonly max_tokens?: number | undefined;
  /** Memories that are looked at for the block. */
  readonly top_k?: number | undefined;
  readonly threshold?: number | undefined;
  readonly mode?: 'hybrid' | 'vector' | 'keyword' | undefined;
  /** What held then. Summary and pending messages are of now and left out. */
  readonly as_of?: string | undefined;
  readonly format?: 'text' | 'openai' | 'anthropic' | undefined;
  /** Unless some are named, all but relations. */
  readonly sections?: readonly ('profile' | 'summary' | 'memories' | 'relations' | 'pending')[] | undefined;
  /** What is late is left out and told in degraded. */
  readonly timeout_ms?: number | undefined;
};

export type PostFlush = {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
};

export type PostGraphQuery = {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  /** Relations that fit all of these together; a variable stands for the same entity everywhere. */
  readonly match?: readonly ({
    /** A variable like "?who", or an entity: {"name"}, {"id"} or {"self": true}. Left out: any. */
    readonly source?: string | {
      readonly id?: string | undefined;
      /** One of its names, in any case. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    } | undefined;
    /** Left out: any. */
    readonly relationship?: string | undefined;
    /** A variable like "?who", or an entity: {"name"}, {"id"} or {"self": true}. Left out: any. */
    readonly destination?: string | {
      readonly id?: string | undefined;
      /** One of its names, in any case. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    } | undefined;
  })[] | undefined;
  /** Ways from one entity to another, shortest first. */
  readonly path?: {
    readonly from: {
      readonly id?: string | undefined;
      /** One of its names, in any case. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    };
    readonly to: {
      readonly id?: string | undefined;
      /** One of its names, in any case. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    };
    /** Relations in a row, in either direction. */
    readonly max_hops?: number | undefined;
  } | undefined;
  /** What held then, instead of what holds now. */
  readonly as_of?: string | undefined;
  /** true: also what is over. Not with as_of. */
  readonly ended?: boolean | undefined;
  readonly limit?: number | undefined;
  /** next_cursor of the page before; left out: the first page. */
  readonly cursor?: string | undefined;
};

export type PostKey = {
  /** What people call it. */
  readonly name: string;
  /** What it may be used for; admin stands for all of them. */
  readonly scopes: readonly ('ingest' | 'search' | 'manage' | 'admin')[];
  /** Another tenant than the key's own; for admins of the tenant default only. */
  readonly tenant?: string | undefined;
  /** The one user it may be used for. */
  readonly user_id?: string | undefined;
  /** The one app it may be used for. */
  readonly app_id?: string | undefined;
  readonly expires_at?: string | undefined;
};

export type PostMemory = {
  readonly memory: string;
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The one that fits best. */
  readonly categories?: readonly string[] | undefined;
  readonly immutable?: boolean | undefined;
  /** No policy of forgetting touches it. */
  readonly pinned?: boolean | undefined;
  readonly valid_from?: string | undefined;
  readonly expires_at?: string | undefined;
};

export type PostMerge = {
  /** The entity that stays. */
  readonly into: string;
  /** Why; kept with the statement. */
  readonly reason?: string | undefined;
};

export type PostPreview = {
  readonly messages: readonly Message[];
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly infer?: boolean | undefined;
  readonly mode?: 'decide' | 'add_only' | undefined;
  readonly instructions?: string | undefined;
  readonly includes?: string | undefined;
  readonly excludes?: string | undefined;
  readonly memory_type?: 'procedural' | undefined;
  /** When messages without a timestamp of their own were said. */
  readonly timestamp?: string | undefined;
  /** Of the speakers, like Asia/Tokyo: “yesterday” is resolved by their day. Not needed where timestamps have an offset (+09:00). Left out: as the settings of the tenant say, else UTC. */
  readonly timezone?: string | undefined;
  readonly expires_at?: string | undefined;
};

export type PostRecall = {
  /** The question. */
  readonly query: string;
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly filters?: Filters | undefined;
  /** Answered by what held then. */
  readonly as_of?: string | undefined;
  /** Memories and messages of each search. */
  readonly top_k?: number | undefined;
  /** Calls of the model, at most. */
  readonly max_steps?: number | undefined;
  /** What these calls read and write together, about. */
  readonly max_tokens?: number | undefined;
  /** Then the answer is what was found until then, and degraded says so. */
  readonly timeout_ms?: number | undefined;
};

export type PostRedo = {
  /** Only tell what would change. */
  readonly dry_run?: boolean | undefined;
};

export type PostRelation = {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  /** An entity by id, by name (made if there is none), or {"self": true}: the owner. */
  readonly source: {
    readonly id?: string | undefined;
    /** One of its names, in any case. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** Of one that is made by its name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  };
  readonly relationship: string;
  /** An entity by id, by name (made if there is none), or {"self": true}: the owner. */
  readonly destination: {
    readonly id?: string | undefined;
    /** One of its names, in any case. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** Of one that is made by its name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  };
  /** From when on it holds; left out: from now on. */
  readonly valid_from?: string | undefined;
  /** It held until then. */
  readonly invalid_at?: string | undefined;
  /** Its source has one such destination at a time: what held before ends. Left out: as its relationship is. */
  readonly single?: boolean | undefined;
  /** The words that say it. */
  readonly quote?: string | undefined;
};

export type PostReplay = {
  readonly filter: {
    readonly batch_ids?: readonly string[] | undefined;
    /** parked unless a what-if is asked for, which takes consolidated and empty ones unless told otherwise. */
    readonly state?: 'parked' | 'consolidated' | 'empty' | 'undone' | undefined;
    readonly user_id?: string | undefined;
    /** Of the error the batches show. */
    readonly error_code?: string | undefined;
    /** Accepted at or after. */
    readonly since?: string | undefined;
    /** Accepted before. */
    readonly until?: string | undefined;
  };
  /** Into a shadow space, even without a change. */
  readonly shadow?: boolean | undefined;
  /** Another chat model at the same place. */
  readonly model?: string | undefined;
  /** In place of what the batches asked for. */
  readonly mode?: 'decide' | 'add_only' | undefined;
  /** Whether relations are read, in place of what batches and settings ask for. */
  readonly graph?: boolean | undefined;
  /** This and the next five in place of the settings. */
  readonly instructions?: string | undefined;
  readonly includes?: string | undefined;
  readonly excludes?: string | undefined;
  readonly decide_instructions?: string | undefined;
  readonly prompts?: {
    readonly extract?: string | undefined;
    readonly decide?: string | undefined;
  } | undefined;
  readonly recall_per_fact?: number | undefined;
  /** From where on a memory is a neighbour worth a decision. */
  readonly near?: {
    readonly vector?: number | undefined;
    readonly keyword?: number | undefined;
    readonly overlap?: number | undefined;
  } | undefined;
  /** Only says how many and which batches match. */
  readonly dry_run?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
};

export type PostRestore = {
  /** A version of the memory, or of an event in its history. */
  readonly version: number;
};

export type PostRetentionPreview = {
  readonly retention?: Retention | undefined;
  readonly forgetting?: Forgetting | undefined;
};

export type PostReview = {
  readonly decision: 'approve' | 'reject';
};

export type PostRollback = {
  /** Everything recorded later is undone. */
  readonly to: string;
  /** Only tell what would change. */
  readonly dry_run?: boolean | undefined;
};

export type PostSearch = {
  readonly query: string;
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly filters?: Filters | undefined;
  readonly top_k?: number | undefined;
  readonly threshold?: number | undefined;
  readonly mode?: 'hybrid' | 'vector' | 'keyword' | undefined;
  /** What held then, instead of what holds now. */
  readonly as_of?: string | undefined;
  /** false: every version of each memory, former and deleted ones too; with as_of, those begun by then. */
  readonly latest_only?: boolean | undefined;
  /** What comes with the results. "relations": those of the graph that the query is about. */
  readonly include?: readonly ('sources' | 'scores' | 'history' | 'messages' | 'relations')[] | undefined;
  /** Messages before each source; with include: ["sources"]. */
  readonly before?: number | undefined;
  /** Messages after each source; with include: ["sources"]. */
  readonly after?: number | undefined;
  /** The best are put in order once more: by a reranker, or by the chat model. true: by what there is. */
  readonly rerank?: boolean | 'endpoint' | 'model' | undefined;
  /** What is not there by then is left out, and degraded says so. */
  readonly timeout_ms?: number | undefined;
};

export type PostSplit = Readonly<Record<string, unknown>>;

export type PostUndo = {
  /** Undo what came later and depends on it as well. */
  readonly cascade?: boolean | undefined;
  /** Only tell what would change. */
  readonly dry_run?: boolean | undefined;
};

export type PostWebhook = {
  /** https, on the public internet, unless the operator lists its host in SLOWWAVE_ALLOW_PRIVATE_URLS. */
  readonly url: string;
  /** What it is told of. */
  readonly events: readonly ('batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted')[];
  /** What people call it. */
  readonly name?: string | undefined;
  /** While it is not, nothing new is noted for it and nothing is sent. */
  readonly active?: boolean | undefined;
  /** Signs what is sent; made if missing. */
  readonly secret?: string | undefined;
  /** Only what belongs to this user. */
  readonly user_id?: string | undefined;
  /** Only what belongs to this app. */
  readonly app_id?: string | undefined;
};

export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly instance?: string | undefined;
  readonly errors?: readonly {
    readonly path: string;
    readonly message: string;
  }[] | undefined;
  /** Of has_dependents: what would have to be undone as well. */
  readonly dependents?: readonly Dependent[] | undefined;
};

export type ProposalList = {
  readonly results: readonly {
    readonly source: Entity;
    readonly destination: Entity;
    /** 0 to 1. */
    readonly likeness: number;
  }[];
  readonly next_cursor: string | null;
};

export type PutCeilings = {
  /** Tokens of chat models. null: no limit. */
  readonly tokens_per_day?: number | null | undefined;
  /** In the currency of the prices of the tenant default, else of the list prices; models without a price add nothing. */
  readonly cost_per_day?: number | null | undefined;
};

export type PutSettings = {
  /** What to remember, beside the product’s own rules. */
  readonly instructions?: string | null | undefined;
  /** Remember only this. */
  readonly includes?: string | null | undefined;
  /** Never remember this. */
  readonly excludes?: string | null | undefined;
  /** How new facts change known memories, beside the product’s own rules. */
  readonly decide_instructions?: string | null | undefined;
  /** Own categories in place of the product’s. */
  readonly categories?: readonly string[] | null | undefined;
  /** Whole prompts in place of the product’s. The form of the answer stays the product’s. */
  readonly prompts?: {
    /** Must contain {{categories}}. */
    readonly extract?: string | null | undefined;
    readonly decide?: string | null | undefined;
  } | undefined;
  /** Operations of these kinds wait for a person, see /v1/reviews. */
  readonly review?: readonly ('ADD' | 'UPDATE' | 'DELETE')[] | undefined;
  /** When waiting batches are consolidated, where it differs from the service’s configuration. */
  readonly due?: {
    readonly tokens?: number | undefined;
    readonly idle_ms?: number | undefined;
    readonly max_age_ms?: number | undefined;
  } | undefined;
  /** Price per million tokens by model, in any one currency: what plans cost. */
  readonly prices?: Readonly<Record<string, {
    readonly prompt: number;
    readonly completion: number;
  }>> | undefined;
  /** What models may use per day (UTC). Above it batches wait for the next day; nothing is dropped. */
  readonly budgets?: {
    readonly tokens_per_day?: number | null | undefined;
    /** In the currency of the prices; models without a price add nothing. */
    readonly cost_per_day?: number | null | undefined;
    /** For each user, agent or run alone. */
    readonly user_tokens_per_day?: number | null | undefined;
    readonly user_cost_per_day?: number | null | undefined;
  } | undefined;
  readonly retention?: Retention | undefined;
  readonly forgetting?: Forgetting | undefined;
  /** Before anything is stored: mask puts “[email]” and the like in the place of personal data, drop stores nothing of a message that holds any, and refuses such a memory. Names of speakers, metadata and instructions are masked under both. Counts within a second. */
  readonly personal_data?: 'off' | 'mask' | 'drop' | undefined;
  /** Of speakers whose batches and timestamps do not say it, like Europe/Oslo; null: UTC. */
  readonly timezone?: string | null | undefined;
  /** Relations between people, places and things are kept of all batches that do not say otherwise. */
  readonly graph?: boolean | undefined;
};

export type Ready = {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, {
    readonly ok: boolean;
    readonly message?: string | undefined;
  }>>;
};

export type RecallLook = {
  /** 0: the first search, for the question itself. */
  readonly step: number;
  /** What was searched for. */
  readonly query: string | null;
  /** The memory or message around which the conversation was read. */
  readonly around: string | null;
  /** Ids of memories and messages. */
  readonly found: readonly string[];
};

export type RecallResult = {
  /** null: what is remembered does not answer the question. */
  readonly answer: string | null;
  /** What the answer rests on; all of it was read. */
  readonly citations: readonly Citation[];
  /** What was searched for and read, in order. */
  readonly trail: readonly RecallLook[];
  readonly usage: Usage;
  readonly took_ms: number;
  /** What is to be known about this answer. */
  readonly remarks?: readonly string[] | undefined;
  /** Why the answer is less than what was asked for. */
  readonly degraded?: readonly string[] | undefined;
};

export type Relation = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly id: string;
  readonly source: {
    readonly id: string;
    readonly name: string;
  };
  /** General and timeless, like works_at. */
  readonly relationship: string;
  readonly destination: {
    readonly id: string;
    readonly name: string;
  };
  /** How it reads: "Ana works at Acme". */
  readonly text: string;
  readonly valid_from: string;
  /** When it ended; null: it holds. */
  readonly invalid_at: string | null;
  /** Memories that came from the same messages. */
  readonly memory_ids: readonly string[];
  readonly said_at: string;
  /** How often it was said again. */
  readonly confirmations: number;
  /** The words that say it; null where somebody wrote it without any. */
  readonly quote: string | null;
  readonly message_ids: readonly string[];
};

export type RelationHit = {
  readonly id: string;
  readonly source: {
    readonly id: string;
    readonly name: string;
  };
  /** General and timeless, like works_at. */
  readonly relationship: string;
  readonly destination: {
    readonly id: string;
    readonly name: string;
  };
  /** How it reads: "Ana works at Acme". */
  readonly text: string;
  readonly valid_from: string;
  /** When it ended; null: it holds. */
  readonly invalid_at: string | null;
  /** Memories that came from the same messages. */
  readonly memory_ids: readonly string[];
  /** 0 to 1. Orders the relations of one query. */
  readonly score: number;
};

export type RelationList = {
  readonly results: readonly Relation[];
  readonly next_cursor: string | null;
};

export type Replay = {
  readonly id: string;
  readonly kind: 'live' | 'what_if';
  readonly state: 'preparing' | 'running' | 'done' | 'failed' | 'discarding' | 'discarded';
  /** Any JSON value */
  readonly filter: unknown;
  /** What a what-if does otherwise. */
  readonly changes: unknown;
  /** Batches that matched when it was asked for. */
  readonly matched: number;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** When the shadow space of a what-if goes by itself. */
  readonly expires_at: string | null;
  /** Why it failed. */
  readonly error: Failure | null;
  /** Batches that wait again, or have since been consolidated or parked again. */
  readonly replayed: number;
  readonly waiting: number;
  /** Those without facts included. */
  readonly consolidated: number;
  /** Parked again. */
  readonly parked: number;
  /** What batches of it wait for, or failed of last. */
  readonly waiting_for: Failure | null;
  /** Of a what-if that is done: what would be different. */
  readonly result: WhatIfResult | null;
};

export type ReplayDifference = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  /** As it is called in life. */
  readonly memory_id: string | null;
  /** What holds in life; null: nothing. */
  readonly life: string | null;
  /** What holds in the shadow space; null: nothing. */
  readonly what_if: string | null;
};

export type ReplayList = {
  readonly results: readonly ReplaySummary[];
  readonly next_cursor: string | null;
};

export type ReplayRehearsal = {
  readonly dry_run: true;
  readonly matched: number;
  /** The oldest of them. */
  readonly sample: readonly ({
    readonly user_id: string | null;
    readonly agent_id: string | null;
    readonly run_id: string | null;
    readonly app_id: string | null;
    readonly id: string;
    readonly state: 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone';
    readonly error: Failure | null;
    readonly accepted_at: string;
  })[];
};

export type ReplayRelationDifference = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  /** By its name, like the destination. */
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  /** null: there is no such relation. */
  readonly life: {
    readonly valid_from: string;
    /** null: it holds. */
    readonly invalid_at: string | null;
  } | null;
  /** null: there is no such relation. */
  readonly what_if: {
    readonly valid_from: string;
    /** null: it holds. */
    readonly invalid_at: string | null;
  } | null;
};

export type ReplayRelations = {
  readonly same: number;
  readonly added: number;
  /** Those that began or ended otherwise. */
  readonly changed: number;
  readonly gone: number;
  readonly differences: readonly ReplayRelationDifference[];
};

export type ReplaySide = {
  readonly operations: {
    readonly ADD: number;
    readonly UPDATE: number;
    readonly DELETE: number;
    readonly NONE: number;
  };
  readonly consolidations: number;
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Studies included. null: a model that was asked has no price. */
  readonly cost: number | null;
  /** Those for the graph. */
  readonly studies: {
    readonly applied: number;
    /** What they would have learned is missing. */
    readonly parked: number;
    /** Only in life: those that were not made yet. */
    readonly waiting: number;
    /** null: a model that was asked has no price. */
    readonly cost: number | null;
  };
};

export type ReplaySummary = {
  readonly id: string;
  readonly kind: 'live' | 'what_if';
  readonly state: 'preparing' | 'running' | 'done' | 'failed' | 'discarding' | 'discarded';
  /** Any JSON value */
  readonly filter: unknown;
  /** What a what-if does otherwise. */
  readonly changes: unknown;
  /** Batches that matched when it was asked for. */
  readonly matched: number;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** When the shadow space of a what-if goes by itself. */
  readonly expires_at: string | null;
  /** Why it failed. */
  readonly error: Failure | null;
};

export type ReplayedDeliveries = {
  readonly replayed: number;
};

/** How long what was said and thought is kept, and what memories said before. What holds stays. */
export type Retention = {
  /** The content of messages, once they are consolidated. */
  readonly messages_days?: number | null | undefined;
  /** Plans, and the raw answers of models. */
  readonly plans_days?: number | null | undefined;
  /** Former versions of memories and the events that tell of them, since they stopped holding. */
  readonly history_days?: number | null | undefined;
};

export type RetentionPreview = {
  /** Batches whose messages would lose their content. */
  readonly batches: number;
  /** Consolidations that would lose their plan and the answers of models. */
  readonly consolidations: number;
  /** Memories whose former versions and their events would lose their text. */
  readonly histories: number;
  /** Memories that would be forgotten, by the reason. */
  readonly memories: {
    readonly age: number;
    readonly unconfirmed: number;
    readonly budget: number;
  };
};

export type Review = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly state: 'pending' | 'approved' | 'rejected' | 'stale';
  readonly event: 'ADD' | 'UPDATE' | 'DELETE';
  /** null: approving it makes a new memory. */
  readonly memory_id: string | null;
  readonly before: string | null;
  readonly after: string | null;
  readonly reason: string;
  readonly fact: {
    readonly id: string;
    readonly text: string;
    readonly quote: string | null;
    readonly source_ids: readonly string[];
  };
  /** Its plan tells all that was read and thought. */
  readonly consolidation_id: string;
  readonly said_at: string;
  readonly valid_from: string;
  /** Why it is stale: what it would change is gone, or must not change any more. */
  readonly note: string | null;
  readonly created_at: string;
  readonly settled_at: string | null;
};

export type ReviewList = {
  readonly results: readonly Review[];
  readonly next_cursor: string | null;
};

export type RotateKey = {
  /** Another tenant than the key's own; for admins of the tenant default only. */
  readonly tenant?: string | undefined;
  /** How long the present secret is still taken. */
  readonly grace_seconds?: number | undefined;
};

export type Scores = {
  /** Cosine, -1 to 1; null where the leg did not bring it. */
  readonly vector: number | null;
  /** BM25, from 0 on; null where the leg did not bring it. */
  readonly keyword: number | null;
  /** How well it fits beside the first one, 0 to 1. */
  readonly relative: number;
};

export type SearchHit = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly memory: string;
  readonly version: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly categories: readonly string[];
  readonly immutable: boolean;
  /** No policy forgets it. Not told by searches. */
  readonly pinned?: boolean | undefined;
  readonly said_at: string;
  readonly valid_from: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly expires_at: string | null;
  readonly confirmations: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** 0 to 1: how sure it is that this answers. */
  readonly score: number;
  /** With latest_only: false: whether it is what the memory says today. */
  readonly latest?: boolean | undefined;
  /** With rerank: what the order follows. */
  readonly rerank_score?: number | undefined;
  readonly scores?: Scores | undefined;
  readonly sources?: readonly Source[] | undefined;
  /** The newest events of the memory, oldest first. */
  readonly history?: readonly HistoryEvent[] | undefined;
};

export type SearchResult = {
  readonly results: readonly SearchHit[];
  /** With include: ["relations"]: best first, at most top_k. */
  readonly relations?: readonly RelationHit[] | undefined;
  /** With include: ["messages"]: what was said, best first. */
  readonly messages?: readonly MessageHit[] | undefined;
  readonly took_ms: number;
  /** Why the answer may be incomplete. */
  readonly degraded?: readonly string[] | undefined;
};

export type Settings = {
  readonly instructions: string | null;
  readonly includes: string | null;
  readonly excludes: string | null;
  readonly decide_instructions: string | null;
  readonly categories: readonly string[] | null;
  readonly prompts: {
    readonly extract: string | null;
    readonly decide: string | null;
  };
  readonly review: readonly ('ADD' | 'UPDATE' | 'DELETE')[];
  readonly due: {
    readonly tokens?: number | undefined;
    readonly idle_ms?: number | undefined;
    readonly max_age_ms?: number | undefined;
  };
  readonly prices: Readonly<Record<string, {
    readonly prompt: number;
    readonly completion: number;
  }>>;
  readonly budgets: {
    readonly tokens_per_day: number | null;
    readonly cost_per_day: number | null;
    readonly user_tokens_per_day: number | null;
    readonly user_cost_per_day: number | null;
  };
  readonly retention: {
    readonly messages_days: number | null;
    readonly plans_days: number | null;
    readonly history_days: number | null;
  };
  readonly forgetting: {
    readonly max_age_days: number | null;
    readonly unconfirmed_days: number | null;
    readonly max_memories: number | null;
  };
  readonly personal_data: 'off' | 'mask' | 'drop';
  readonly timezone: string | null;
  readonly graph: boolean;
};

export type Source = {
  readonly message_id: string;
  readonly batch_id: string;
  /** The id the caller gave the message. */
  readonly id: string | null;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly name: string | null;
  readonly content: string;
  readonly said_at: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  /** false for a neighbour asked for with before or after. */
  readonly is_source: boolean;
};

export type SourceList = {
  readonly results: readonly Source[];
  readonly next_cursor: string | null;
};

export type Statement = {
  readonly id: string;
  readonly kind: 'holds' | 'ended' | 'denied' | 'same' | 'apart' | 'named';
  /** false: it was undone. */
  readonly counts: boolean;
  readonly source: string;
  readonly relationship: string | null;
  readonly destination: string | null;
  /** Of named: how the entity is also called. */
  readonly name: string | null;
  /** Of holds: from when on. */
  readonly valid_from: string | null;
  /** Of holds told of the past, and of ended: until when. */
  readonly until: string | null;
  readonly reason: string | null;
  readonly quote: string | null;
  readonly actor: 'api' | 'study';
  readonly consolidation_id: string | null;
  readonly message_ids: readonly string[];
  readonly memory_ids: readonly string[];
  readonly said_at: string;
  readonly recorded_at: string;
};

export type StatementList = {
  readonly results: readonly Statement[];
  readonly next_cursor: string | null;
};

export type Stats = {
  readonly batches: {
    readonly accepted: number;
    readonly pending: number;
    readonly consolidating: number;
    readonly consolidated: number;
    readonly empty: number;
    readonly parked: number;
    readonly undone: number;
    readonly erased: number;
    readonly gap: number;
  };
  readonly memories: {
    readonly live: number;
    readonly versions: number;
  };
  readonly owners: number;
  readonly outbox: number;
  readonly usage: {
    readonly calls: number;
    readonly failed_calls: number;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
  };
};

export type Study = {
  readonly consolidation_id: string;
  readonly state: 'pending' | 'applied' | 'parked';
  readonly attempts: number;
  readonly error: Failure | null;
  readonly requested_at: string;
  readonly applied_at: string | null;
  /** null until it is applied. */
  readonly plan: {
    /** Those it made. */
    readonly entities: readonly {
      readonly id: string;
      readonly name: string;
      readonly kind: string;
    }[];
    /** What it added to the graph: relations follow from it. */
    readonly statements: readonly ({
      readonly id: string;
      readonly kind: 'holds' | 'ended' | 'denied' | 'same' | 'apart' | 'named';
      readonly source: string;
      readonly relationship: string | null;
      readonly destination: string | null;
      readonly name: string | null;
      readonly said_at: string;
      readonly quote: string | null;
      readonly message_ids: readonly string[];
    })[];
    /** Entities that may be one, for a person to look at. */
    readonly proposals: readonly {
      readonly source: string;
      readonly destination: string;
      readonly likeness: number;
    }[];
    /** What the model asked for that was refused or repaired, and why. */
    readonly remarks: readonly {
      readonly asked: string;
      readonly did: string;
    }[];
    readonly prompts: readonly {
      readonly name: string;
      readonly version: string;
      readonly hash: string;
    }[];
    /** Any JSON value */
    readonly usage: unknown;
  } | null;
};

export type TextPart = {
  readonly type: 'text';
  readonly text: string;
};

export type Undo = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly id: string;
  readonly kind: 'undo' | 'rollback' | 'redo';
  /** Of a rollback: the time it led back to. */
  readonly to: string | null;
  /** What it took back. */
  readonly consolidation_ids: readonly string[];
  /** Earlier undos it took back. */
  readonly undo_ids: readonly string[];
  /** How many memories have an event of it. */
  readonly memories: number;
  readonly created_at: string;
};

export type UndoList = {
  readonly results: readonly Undo[];
  readonly next_cursor: string | null;
};

export type UndoReport = {
  /** null: nothing was changed, because of dry_run or because there was nothing to. */
  readonly undo: Undo | null;
  /** The first 1,000 memories that hold something else now; null: nothing holds. */
  readonly memories: readonly ({
    readonly id: string;
    readonly before: string | null;
    readonly after: string | null;
  })[];
  /** How many memories that are in all. */
  readonly changed: number;
  /** Consolidations that are undone by it, their batches with them. */
  readonly undone: readonly string[];
  /** Consolidations that count again. */
  readonly redone: readonly string[];
  /** What was undone with it, newest first. */
  readonly dependents: readonly Dependent[];
};

export type Usage = {
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
};

export type User = {
  readonly kind: 'user' | 'agent' | 'run';
  readonly id: string;
  readonly memories: number;
  readonly pending: number;
  readonly created_at: string;
  readonly updated_at: string;
};

export type UserList = {
  readonly results: readonly User[];
  readonly next_cursor: string | null;
};

export type Webhook = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly ('batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted')[];
  readonly user_id: string | null;
  readonly app_id: string | null;
  readonly active: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  /** Attempts that failed since one succeeded. */
  readonly failures: number;
  readonly failing_since: string | null;
  readonly last_error: string | null;
  /** When it was paused, after it had failed for three days. */
  readonly paused_at: string | null;
  /** Until when the secret before the last change signs as well. */
  readonly previous_secret_until: string | null;
};

export type WebhookList = {
  readonly results: readonly Webhook[];
  readonly next_cursor: string | null;
};

export type WebhookWithSecret = {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly ('batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted')[];
  readonly user_id: string | null;
  readonly app_id: string | null;
  readonly active: boolean;
  readonly created_at: string;
  readonly updated_at: string;
  /** Attempts that failed since one succeeded. */
  readonly failures: number;
  readonly failing_since: string | null;
  readonly last_error: string | null;
  /** When it was paused, after it had failed for three days. */
  readonly paused_at: string | null;
  /** Until when the secret before the last change signs as well. */
  readonly previous_secret_until: string | null;
  /** Told when it is made or replaced, and never again. */
  readonly secret?: string | undefined;
};

export type WhatIfResult = {
  readonly batches: {
    readonly consolidated: number;
    readonly empty: number;
    readonly parked: number;
  };
  readonly memories: {
    readonly same: number;
    readonly added: number;
    readonly changed: number;
    readonly gone: number;
  };
  readonly differences: readonly ReplayDifference[];
  /** How the graph would be. null: no batch was to be studied. */
  readonly relations: ReplayRelations | null;
  readonly life: ReplaySide;
  readonly what_if: ReplaySide;
};

export type WrittenMemory = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly id: string;
  readonly memory: string;
  readonly version: number;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly categories: readonly string[];
  readonly immutable: boolean;
  /** No policy forgets it. Not told by searches. */
  readonly pinned?: boolean | undefined;
  readonly said_at: string;
  readonly valid_from: string;
  /** Minutes that the speaker’s clock was ahead of UTC, where known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly expires_at: string | null;
  readonly confirmations: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Only where it is found by its words and not by its meaning: the embedding model refuses the text for good, or did not answer within 2 s; then it is embedded later. */
  readonly searchable?: 'words' | undefined;
};

/** Every operation of the API: what it takes, and what it answers when all went well. */
export interface Operations {
  /** Post messages to remember. */
  'POST /v1/batches': {
    query?: { wait?: number | undefined; };
    body: PostBatch;
    answer: BatchAccepted | Batch;
  };
  /** Batches, newest first. */
  'GET /v1/batches': {
    query?: { state?: 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone' | undefined; user_id?: string | undefined; since?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: BatchList;
  };
  /** What became of a batch. */
  'GET /v1/batches/{id}': {
    params: { id: string; };
    query?: { wait?: number | undefined; };
    answer: Batch;
  };
  /** Make an owner's waiting batches due now. */
  'POST /v1/flush': {
    body: PostFlush;
    answer: Flush;
  };
  /** Find memories by meaning and words. */
  'POST /v1/search': {
    body: PostSearch;
    answer: SearchResult;
  };
  /** What is known of an owner, ready for a prompt. */
  'POST /v1/context': {
    body: PostContext;
    answer: ContextResult;
  };
  /** Have a question answered from memories, with citations. */
  'POST /v1/recall': {
    body: PostRecall;
    answer: RecallResult;
  };
  /** An owner's memories, newest first. */
  'GET /v1/memories': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; app_id?: string | undefined; filters?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: MemoryList;
  };
  /** Write a memory as it is. */
  'POST /v1/memories': {
    body: PostMemory;
    answer: WrittenMemory;
  };
  /** Delete all memories of an owner. */
  'DELETE /v1/memories': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; app_id?: string | undefined; };
    answer: Deleted;
  };
  /** One memory. */
  'GET /v1/memories/{id}': {
    params: { id: string; };
    answer: Memory;
  };
  /** Change a memory. */
  'PATCH /v1/memories/{id}': {
    params: { id: string; };
    body: PatchMemory;
    answer: WrittenMemory;
  };
  /** Delete a memory. */
  'DELETE /v1/memories/{id}': {
    params: { id: string; };
    answer: Deleted;
  };
  /** The life of a memory, oldest event first. */
  'GET /v1/memories/{id}/history': {
    params: { id: string; };
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: History;
  };
  /** The messages a memory came from, with their neighbours on request. */
  'GET /v1/memories/{id}/sources': {
    params: { id: string; };
    query?: { before?: number | undefined; after?: number | undefined; };
    answer: SourceList;
  };
  /** The users, agents and runs that own memories or have batches waiting. */
  'GET /v1/users': {
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: UserList;
  };
  /** Counts, and whether they add up. */
  'GET /v1/stats': {
    answer: Stats;
  };
  /** An owner's graph, as JSON, Graphviz, Mermaid or a picture. */
  'GET /v1/graph': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; as_of?: string | undefined; ended?: 'true' | 'false' | undefined; format?: 'json' | 'dot' | 'mermaid' | 'svg' | undefined; limit?: number | undefined; };
    answer: Graph;
  };
  /** Relations that fit patterns, or ways between two entities. */
  'POST /v1/graph/query': {
    body: PostGraphQuery;
    answer: GraphMatches;
  };
  /** Entities that may be one, for a person to decide. */
  'GET /v1/graph/proposals': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; };
    answer: ProposalList;
  };
  /** The entities of an owner's graph, by name. */
  'GET /v1/entities': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; like?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: EntityList;
  };
  /** An entity and what is around it. */
  'GET /v1/entities/{id}': {
    params: { id: string; };
    query?: { as_of?: string | undefined; ended?: 'true' | 'false' | undefined; depth?: number | undefined; format?: 'json' | 'dot' | 'mermaid' | 'svg' | undefined; limit?: number | undefined; };
    answer: EntityNeighbourhood;
  };
  /** Say how an entity is also called. */
  'PATCH /v1/entities/{id}': {
    params: { id: string; };
    body: PatchEntity;
    answer: Entity;
  };
  /** What was said of an entity. */
  'GET /v1/entities/{id}/history': {
    params: { id: string; };
    answer: StatementList;
  };
  /** The relations of an owner's graph, those that began first come first. */
  'GET /v1/relations': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; as_of?: string | undefined; ended?: 'true' | 'false' | undefined; relationship?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: RelationList;
  };
  /** Say a relation. */
  'POST /v1/relations': {
    body: PostRelation;
    answer: Relation;
  };
  /** One relation. */
  'GET /v1/relations/{id}': {
    params: { id: string; };
    answer: Relation;
  };
  /** Change or end a relation. */
  'PATCH /v1/relations/{id}': {
    params: { id: string; };
    body: PatchRelation;
    answer: ChangedRelation;
  };
  /** Deny a relation. */
  'DELETE /v1/relations/{id}': {
    params: { id: string; };
    answer: Deleted;
  };
  /** What was said of a relation. */
  'GET /v1/relations/{id}/history': {
    params: { id: string; };
    answer: StatementList;
  };
  /** Bring a version of a memory back. */
  'POST /v1/memories/{id}/restore': {
    params: { id: string; };
    body: PostRestore;
    answer: WrittenMemory;
  };
  /** Consolidations, newest first. */
  'GET /v1/consolidations': {
    query?: { state?: 'thinking' | 'planned' | 'waiting' | 'applied' | 'split' | 'parked' | 'undone' | undefined; user_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: ConsolidationList;
  };
  /** What a consolidation read, thought, decided and changed, and its cost. */
  'GET /v1/consolidations/{id}': {
    params: { id: string; };
    answer: Consolidation;
  };
  /** What the graph learned from a consolidation. */
  'GET /v1/consolidations/{id}/graph': {
    params: { id: string; };
    answer: Study;
  };
  /** Have the graph learn from a consolidation. */
  'POST /v1/consolidations/{id}/graph': {
    params: { id: string; };
    answer: Study;
  };
  /** What a batch would do if it were consolidated now. */
  'POST /v1/consolidations/preview': {
    body: PostPreview;
    answer: Plan;
  };
  /** Undo a consolidation. */
  'POST /v1/consolidations/{id}/undo': {
    params: { id: string; };
    body: PostUndo;
    answer: UndoReport;
  };
  /** Roll a user back to a time. */
  'POST /v1/users/{id}/rollback': {
    params: { id: string; };
    body: PostRollback;
    answer: UndoReport;
  };
  /** Take an undo or a rollback back. */
  'POST /v1/undos/{id}/redo': {
    params: { id: string; };
    body: PostRedo;
    answer: UndoReport;
  };
  /** Undos, rollbacks and redos, newest first. */
  'GET /v1/undos': {
    query?: { user_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: UndoList;
  };
  /** Operations that wait, or waited, for a person, newest first. */
  'GET /v1/reviews': {
    query?: { state?: 'pending' | 'approved' | 'rejected' | 'stale' | undefined; user_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: ReviewList;
  };
  /** Approve or reject an operation that waits. */
  'POST /v1/reviews/{id}': {
    params: { id: string; };
    body: PostReview;
    answer: Review;
  };
  /** Erase a user. */
  'DELETE /v1/users/{id}': {
    params: { id: string; };
    answer: ErasureAccepted;
  };
  /** Erase an agent. */
  'DELETE /v1/agents/{id}': {
    params: { id: string; };
    answer: ErasureAccepted;
  };
  /** Erase a run. */
  'DELETE /v1/runs/{id}': {
    params: { id: string; };
    answer: ErasureAccepted;
  };
  /** How far an erasure is. */
  'GET /v1/erasures/{id}': {
    params: { id: string; };
    answer: Erasure;
  };
  /** Everything there is of a user. */
  'GET /v1/users/{id}/export': {
    params: { id: string; };
    answer: unknown;
  };
  /** What retention and forgetting would take now. */
  'POST /v1/retention/preview': {
    body: PostRetentionPreview;
    answer: RetentionPreview;
  };
  /** What is remembered, how it is decided, and what waits for a person. */
  'GET /v1/settings': {
    answer: Settings;
  };
  /** Replace all settings. */
  'PUT /v1/settings': {
    body: PutSettings;
    answer: Settings;
  };
  /** Be told of what happens to batches and memories. */
  'POST /v1/webhooks': {
    body: PostWebhook;
    answer: WebhookWithSecret;
  };
  /** Webhooks, newest first. */
  'GET /v1/webhooks': {
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: WebhookList;
  };
  /** A webhook. */
  'GET /v1/webhooks/{id}': {
    params: { id: string; };
    answer: Webhook;
  };
  /** Change, pause or resume a webhook, or replace its secret. */
  'PATCH /v1/webhooks/{id}': {
    params: { id: string; };
    body: PatchWebhook;
    answer: WebhookWithSecret;
  };
  /** Remove a webhook. */
  'DELETE /v1/webhooks/{id}': {
    params: { id: string; };
    answer: Webhook;
  };
  /** What a webhook was and is to be sent, newest first. */
  'GET /v1/webhooks/{id}/deliveries': {
    params: { id: string; };
    query?: { state?: 'waiting' | 'delivered' | 'failed' | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: DeliveryList;
  };
  /** Send everything again that failed for good. */
  'POST /v1/webhooks/{id}/deliveries/replay': {
    params: { id: string; };
    answer: ReplayedDeliveries;
  };
  /** Send one again. */
  'POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay': {
    params: { id: string; delivery_id: string; };
    answer: ReplayedDeliveries;
  };
  /** Say that an entity is the same as another. */
  'POST /v1/entities/{id}/merge': {
    params: { id: string; };
    body: PostMerge;
    answer: Entity;
  };
  /** Say that an entity stands for itself. */
  'POST /v1/entities/{id}/split': {
    params: { id: string; };
    body: PostSplit;
    answer: Entity;
  };
  /** Try parked batches again, or past ones otherwise. */
  'POST /v1/replays': {
    body: PostReplay;
    answer: ReplayRehearsal | Replay;
  };
  /** Replays, newest first. */
  'GET /v1/replays': {
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: ReplayList;
  };
  /** How far a replay is, and what a what-if found. */
  'GET /v1/replays/{id}': {
    params: { id: string; };
    query?: { format?: 'json' | 'text' | undefined; };
    answer: Replay;
  };
  /** Discard a what-if. */
  'DELETE /v1/replays/{id}': {
    params: { id: string; };
    answer: Replay;
  };
  /** Make a key. */
  'POST /v1/keys': {
    body: PostKey;
    answer: KeyWithSecret;
  };
  /** Keys, newest first, ended ones included. */
  'GET /v1/keys': {
    query?: { tenant?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: KeyList;
  };
  /** Revoke a key. */
  'DELETE /v1/keys/{id}': {
    params: { id: string; };
    query?: { tenant?: string | undefined; };
    answer: Key;
  };
  /** Give a key a new secret. */
  'POST /v1/keys/{id}/rotate': {
    params: { id: string; };
    body: RotateKey;
    answer: KeyWithSecret;
  };
  /** Who did what, newest first. */
  'GET /v1/audit': {
    query?: { tenant?: string | undefined; by?: string | undefined; subject?: string | undefined; action?: string | undefined; outcome?: 'done' | 'refused' | 'failed' | undefined; since?: string | undefined; until?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: AuditList;
  };
  /** Whether every promise holds, and what to run where one does not. */
  'GET /v1/doctor': {
    query?: { depth?: 'quick' | 'usual' | undefined; };
    answer: Examination;
  };
  /** What a day of a tenant may use at most. */
  'GET /v1/tenants/{id}/ceilings': {
    params: { id: string; };
    answer: Ceilings;
  };
  /** Set what a day of a tenant may use at most. */
  'PUT /v1/tenants/{id}/ceilings': {
    params: { id: string; };
    body: PutCeilings;
    answer: Ceilings;
  };
  /** Have what holds for all tenants count for this one again. */
  'DELETE /v1/tenants/{id}/ceilings': {
    params: { id: string; };
    answer: Ceilings;
  };
}
