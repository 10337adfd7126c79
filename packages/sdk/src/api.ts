// Made by packages/sdk/codegen from the API's own description; ./scripts/sdk-types makes it anew.

export type AuditEntry = {
  readonly id: string;
  /** When the request was received. */
  readonly at: string;
  readonly tenant: string;
  /** A key id. operator: the static API key. loopback: a local request that needed no key. offline: the command line, working directly on the ledger. nobody: no key, or an unknown one. */
  readonly by: string;
  /** true: sent from a browser session after signing in. */
  readonly session: boolean;
  /** Method and route, e.g. DELETE /v1/memories/{id}. */
  readonly action: string;
  /** What was affected: a user, agent, run, memory, batch, key, …. If the owner has been erased, this is the erasure. null: the whole tenant, or something that does not exist. */
  readonly subject: {
    readonly kind: string;
    readonly id: string;
  } | null;
  /** done: a status below 400; refused: 401, 403 or 429; failed: any other. */
  readonly outcome: 'done' | 'refused' | 'failed';
  readonly status: number;
  /** The code of the problem that was returned. */
  readonly code: string | null;
  /** The value of the x-request-id header. null: removed when the owner was erased. */
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
  /** The most recent failed attempts, oldest first, including those before a replay. */
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
  /** true: set for this tenant. false: the limits for all tenants apply. */
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
  /** A general, tenseless name, like works_at. */
  readonly relationship: string;
  readonly destination: {
    readonly id: string;
    readonly name: string;
  };
  /** The relation as text: "Ana works at Acme". */
  readonly text: string;
  readonly valid_from: string;
  /** When it ended; null: it has not ended. */
  readonly invalid_at: string | null;
  /** Memories extracted from the same messages. */
  readonly memory_ids: readonly string[];
  readonly said_at: string;
  /** How often it was repeated. */
  readonly confirmations: number;
  /** The quote that states it; null if it was written by API without one. */
  readonly quote: string | null;
  readonly message_ids: readonly string[];
  /** The previous id: a restated relation gets a new id. */
  readonly replaces: string | null;
};

export type Citation = CitedMemory | CitedMessage;

export type CitedMemory = {
  readonly id: string;
  readonly memory: string;
  readonly version: number;
  readonly valid_from: string;
  /** The speaker’s UTC offset in minutes, if known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly kind: 'memory';
  /** The messages it was extracted from. */
  readonly message_ids: readonly string[];
};

export type CitedMessage = {
  readonly message_id: string;
  readonly batch_id: string;
  /** The message id set by the caller. */
  readonly id: string | null;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly name: string | null;
  readonly content: string;
  /** Why there is no content: it was removed by retention, or held personal data that is not stored. */
  readonly withheld?: 'retention' | 'personal_data' | undefined;
  readonly said_at: string;
  /** The speaker’s UTC offset in minutes, if known. */
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
  /** When retention removed its plan and model answers. */
  readonly removed_at: string | null;
  /** What was read, extracted and decided; null until a plan is stored. */
  readonly plan: unknown | null;
  readonly answers: readonly ({
    readonly step: string;
    readonly model: string;
    readonly output: string;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly at: string;
    /** The undone consolidation of the same batches that was asked the same question, and has paid for it. */
    readonly reused_from: string | null;
  })[];
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
  /** When retention removed its plan and model answers. */
  readonly removed_at: string | null;
};

export type ContextResult = {
  /** Only with format text. Empty if nothing is known. */
  readonly text?: string | undefined;
  /** Only with format anthropic. Empty if there is no memory, profile or summary to include. */
  readonly system?: string | undefined;
  /** Only with formats openai and anthropic: the messages to put before your own turns. */
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
    /** The citation mark used in the block: m1, m2, … */
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
    /** The message id set by the caller. */
    readonly id: string | null;
    readonly role: 'user' | 'assistant' | 'system' | 'tool';
    readonly name: string | null;
    readonly content: string;
    readonly said_at: string;
    /** true: only the beginning is included. */
    readonly cut: boolean;
  })[];
  /** true: older pending messages were omitted. */
  readonly pending_trimmed: boolean;
  readonly took_ms: number;
  /** What is missing from the answer, and why. */
  readonly degraded?: readonly string[] | undefined;
};

export type ContextSection = {
  readonly shown: number;
  /** Omitted because it did not fit or is already included elsewhere. */
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
  /** The HTTP status of the last response. */
  readonly last_status: number | null;
  readonly last_error: string | null;
  /** The body that is sent, without the delivery_id. */
  readonly body: Readonly<Record<string, unknown>>;
};

export type DeliveryList = {
  readonly results: readonly Delivery[];
  readonly next_cursor: string | null;
};

export type Dependent = {
  /** write: an explicit write; its id is the id of its event. */
  readonly kind: 'consolidation' | 'write';
  readonly id: string;
  readonly memory_ids: readonly string[];
};

export type Entity = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly id: string;
  /** The first name it was mentioned by. */
  readonly name: string;
  /** The type of an entity; thing if none of the others applies. */
  readonly kind: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing';
  /** true: the entity of the owner (“I”). */
  readonly self: boolean;
  /** Other names, including those of entities merged into it. */
  readonly aliases: readonly string[];
  /** The entity it was merged into; null: not merged. */
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
  /** true: there is more; increase limit, or page through GET /v1/relations. */
  readonly truncated: boolean;
  readonly entity: Entity;
};

export type Erasure = {
  readonly id: string;
  /** requested: accepted; nothing of the owner is consolidated or written any more. erasing: rows are being deleted. compacting: rows are deleted and files are being rewritten. erased: complete. */
  readonly state: 'requested' | 'erasing' | 'compacting' | 'erased';
  /** How much has been erased so far, by kind. */
  readonly counts: Readonly<Record<string, number>>;
  /** Data that could not be overwritten immediately: where it is, and until when. */
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
  /** true: all checks passed, possibly with warnings. */
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

/** Conditions that memories must match: fields with a value, a list of values, "*" or operators (eq, ne, in, nin, gt, gte, lt, lte, contains, icontains), combined with AND, OR and NOT. Filters narrow the scope and never widen it. agent_id, run_id and app_id match every id under which a memory was said or confirmed. See docs/filters.md. */
export type Filters = Readonly<Record<string, unknown>>;

export type Flush = {
  /** The number of waiting batches of this owner that are due now. */
  readonly pending: number;
};

/** Which memories are forgotten automatically; pinned ones never are. Forgetting is a deletion and can be undone. */
export type Forgetting = {
  /** Forget memories that have not changed for this long. */
  readonly max_age_days?: number | null | undefined;
  /** Forget memories that have neither changed nor been confirmed for this long. */
  readonly unconfirmed_days?: number | null | undefined;
  /** The maximum per user, agent or run. The least confirmed are forgotten first, then the oldest. */
  readonly max_memories?: number | null | undefined;
};

export type Graph = {
  readonly entities: readonly Entity[];
  readonly relations: readonly Relation[];
  /** true: there is more; increase limit, or page through GET /v1/relations. */
  readonly truncated: boolean;
};

export type GraphMatch = {
  /** With match: the entity each variable stands for, by its name without "?". With path: from and to. */
  readonly entities: Readonly<Record<string, Entity>>;
  /** With match: one for each pattern. With path: in the order of the path. */
  readonly relations: readonly Relation[];
};

export type GraphMatches = {
  readonly results: readonly GraphMatch[];
  readonly next_cursor: string | null;
  /** true: the query reaches more relations than were examined, so there may be more matches. Make it more specific. */
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
  /** Only for UNDO: the versions of the earlier events that no longer count. */
  readonly retracts: readonly number[];
  /** Only for UNDO: the undo it belongs to, see /v1/undos. */
  readonly undo_id: string | null;
  readonly said_at: string;
  readonly created_at: string;
};

export type ImagePart = {
  readonly type: 'image_url';
  readonly image_url: {
    /** A public URL or a data URL. */
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
  /** When it was last used, accurate to one hour. */
  readonly last_used_at: string | null;
  /** Until when the secret from before the last rotation is valid. */
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
  /** When it was last used, accurate to one hour. */
  readonly last_used_at: string | null;
  /** Until when the secret from before the last rotation is valid. */
  readonly previous_until: string | null;
  /** Returned only once; it cannot be retrieved later. */
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
  /** true: forgetting policies never delete it. Not included in search results. */
  readonly pinned?: boolean | undefined;
  readonly said_at: string;
  readonly valid_from: string;
  /** The speaker’s UTC offset in minutes, if known. */
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
  /** The name of the speaker. */
  readonly name?: string | undefined;
  /** When it was said. Defaults to the time the batch was accepted. Include the speaker’s UTC offset (+09:00) so that dates resolve in their time zone. */
  readonly timestamp?: string | undefined;
  /** Must be unique for the owner. A message sent again with the same id is not processed twice. */
  readonly id?: string | undefined;
};

export type MessageHit = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  readonly app_id: string | null;
  readonly message_id: string;
  readonly batch_id: string;
  /** The message id set by the caller. */
  readonly id: string | null;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly name: string | null;
  readonly content: string;
  /** Why there is no content: it was removed by retention, or held personal data that is not stored. */
  readonly withheld?: 'retention' | 'personal_data' | undefined;
  readonly said_at: string;
  /** The speaker’s UTC offset in minutes, if known. */
  readonly utc_offset?: number | undefined;
  readonly score: number;
  readonly scores?: Scores | undefined;
};

export type PatchEntity = {
  /** An additional name; the original name stays. */
  readonly alias: string;
};

export type PatchMemory = {
  readonly memory?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** The best matching category. */
  readonly categories?: readonly string[] | undefined;
  readonly immutable?: boolean | undefined;
  readonly pinned?: boolean | undefined;
  readonly expires_at?: string | null | undefined;
  /** Only change the memory if this is still its latest version. For a change that takes effect later, use the version in its history. */
  readonly version?: number | undefined;
};

export type PatchRelation = {
  /** An entity by id, by name (created if it does not exist), or {"self": true} for the owner. */
  readonly source?: {
    readonly id?: string | undefined;
    /** One of its names, case-insensitive. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** The kind of an entity that is created by name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  } | undefined;
  readonly relationship?: string | undefined;
  /** An entity by id, by name (created if it does not exist), or {"self": true} for the owner. */
  readonly destination?: {
    readonly id?: string | undefined;
    /** One of its names, case-insensitive. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** The kind of an entity that is created by name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  } | undefined;
  readonly valid_from?: string | undefined;
  /** When it ended. null: it has not ended. */
  readonly invalid_at?: string | null | undefined;
  /** Why; stored with the statement. */
  readonly reason?: string | undefined;
};

export type PatchWebhook = {
  /** A public https URL, unless the operator lists its host in SLOWWAVE_ALLOW_PRIVATE_URLS. */
  readonly url?: string | undefined;
  /** The events to deliver. */
  readonly events?: readonly ('batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted')[] | undefined;
  /** A display name. */
  readonly name?: string | undefined;
  /** true also ends a pause and resets the failure count. */
  readonly active?: boolean | undefined;
  /** Replaces the secret. Deliveries are also signed with the previous one for 24 hours. */
  readonly secret?: string | undefined;
  /** true: generate a new secret. Deliveries are also signed with the previous one for 24 hours. */
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
  /** decide: extract facts and add, update or delete memories. add_only: extract facts and only add them. verbatim: store each message as a memory, without a model. procedural: record what an agent did. */
  readonly mode?: 'decide' | 'add_only' | 'verbatim' | 'procedural' | undefined;
  readonly instructions?: string | undefined;
  readonly includes?: string | undefined;
  readonly excludes?: string | undefined;
  /** When messages without their own timestamp were said. */
  readonly timestamp?: string | undefined;
  /** The time zone of the speakers, like Asia/Tokyo; “yesterday” is resolved in it. Not needed if timestamps have an offset (+09:00). Defaults to the tenant’s setting, or UTC. */
  readonly timezone?: string | undefined;
  readonly expires_at?: string | undefined;
  readonly flush?: boolean | undefined;
  /** backfill: for importing old conversations. They are consolidated when no live batch is due, in order with new messages of the same owner. */
  readonly priority?: 'live' | 'backfill' | undefined;
  /** Whether to extract relations between people, places and things as well as memories. Defaults to the tenant’s setting. The modes verbatim and procedural have no relations. */
  readonly graph?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
};

export type PostContext = {
  /** What the next answer is about. Defaults to the last user messages in messages. */
  readonly query?: string | undefined;
  /** The latest turns, which are already in your prompt: the context does not repeat them. */
  readonly messages?: readonly Message[] | undefined;
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly filters?: Filters | undefined;
  /** The token budget of the block, counted with o200k_base. */
  readonly max_tokens?: number | undefined;
  /** How many memories to consider for the block. */
  readonly top_k?: number | undefined;
  readonly threshold?: number | undefined;
  readonly mode?: 'hybrid' | 'vector' | 'keyword' | undefined;
  /** Return what was true at this time. Summary and pending messages only exist for the present and are omitted. */
  readonly as_of?: string | undefined;
  readonly format?: 'text' | 'openai' | 'anthropic' | undefined;
  /** Defaults to all sections except relations. */
  readonly sections?: readonly ('profile' | 'summary' | 'memories' | 'relations' | 'pending')[] | undefined;
  /** Sections that are not ready in time are omitted and listed in degraded. */
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
  /** Patterns that relations must match together; a variable stands for the same entity in all of them. */
  readonly match?: readonly ({
    /** A variable like "?who", or an entity: {"name"}, {"id"} or {"self": true}. Omit it to match any entity. */
    readonly source?: string | {
      readonly id?: string | undefined;
      /** One of its names, case-insensitive. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    } | undefined;
    /** Omit it to match any relationship. */
    readonly relationship?: string | undefined;
    /** A variable like "?who", or an entity: {"name"}, {"id"} or {"self": true}. Omit it to match any entity. */
    readonly destination?: string | {
      readonly id?: string | undefined;
      /** One of its names, case-insensitive. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    } | undefined;
  })[] | undefined;
  /** Finds paths from one entity to another, shortest first. */
  readonly path?: {
    readonly from: {
      readonly id?: string | undefined;
      /** One of its names, case-insensitive. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    };
    readonly to: {
      readonly id?: string | undefined;
      /** One of its names, case-insensitive. */
      readonly name?: string | undefined;
      /** The owner. */
      readonly self?: true | undefined;
    };
    /** The maximum length of a path in relations, followed in either direction. */
    readonly max_hops?: number | undefined;
  } | undefined;
  /** Return what was true at this time instead of now. */
  readonly as_of?: string | undefined;
  /** true: also include relations that have ended. Cannot be combined with as_of. */
  readonly ended?: boolean | undefined;
  readonly limit?: number | undefined;
  /** next_cursor of the previous page. Omit it for the first page. */
  readonly cursor?: string | undefined;
};

export type PostKey = {
  /** A display name. */
  readonly name: string;
  /** What the key may do; admin includes all other scopes. */
  readonly scopes: readonly ('ingest' | 'search' | 'manage' | 'admin')[];
  /** A tenant other than that of the key. Only for admins of the tenant default. */
  readonly tenant?: string | undefined;
  /** Binds the key to this user. */
  readonly user_id?: string | undefined;
  /** Binds the key to this app: it sees what was said in the app, and nothing that was only said in others. */
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
  /** The best matching category. */
  readonly categories?: readonly string[] | undefined;
  readonly immutable?: boolean | undefined;
  /** true: forgetting policies never delete it. */
  readonly pinned?: boolean | undefined;
  readonly valid_from?: string | undefined;
  readonly expires_at?: string | undefined;
};

export type PostMerge = {
  /** The entity to keep. */
  readonly into: string;
  /** Why; stored with the statement. */
  readonly reason?: string | undefined;
};

export type PostPreview = {
  readonly messages: readonly Message[];
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  /** decide: extract facts and add, update or delete memories. add_only: extract facts and only add them. verbatim: store each message as a memory, without a model. procedural: record what an agent did. */
  readonly mode?: 'decide' | 'add_only' | 'verbatim' | 'procedural' | undefined;
  readonly instructions?: string | undefined;
  readonly includes?: string | undefined;
  readonly excludes?: string | undefined;
  /** When messages without their own timestamp were said. */
  readonly timestamp?: string | undefined;
  /** The time zone of the speakers, like Asia/Tokyo; “yesterday” is resolved in it. Not needed if timestamps have an offset (+09:00). Defaults to the tenant’s setting, or UTC. */
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
  /** Answer from what was true at this time. */
  readonly as_of?: string | undefined;
  /** How many memories and messages each search returns. */
  readonly top_k?: number | undefined;
  /** The maximum number of model calls. */
  readonly max_steps?: number | undefined;
  /** The approximate token budget of all these calls together. */
  readonly max_tokens?: number | undefined;
  /** After this time the answer is what has been found so far, and degraded says so. */
  readonly timeout_ms?: number | undefined;
};

export type PostRedo = {
  /** true: only report what would change. */
  readonly dry_run?: boolean | undefined;
};

export type PostRelation = {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  /** An entity by id, by name (created if it does not exist), or {"self": true} for the owner. */
  readonly source: {
    readonly id?: string | undefined;
    /** One of its names, case-insensitive. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** The kind of an entity that is created by name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  };
  readonly relationship: string;
  /** An entity by id, by name (created if it does not exist), or {"self": true} for the owner. */
  readonly destination: {
    readonly id?: string | undefined;
    /** One of its names, case-insensitive. */
    readonly name?: string | undefined;
    /** The owner. */
    readonly self?: true | undefined;
    /** The kind of an entity that is created by name. */
    readonly kind?: 'person' | 'animal' | 'organisation' | 'place' | 'product' | 'work' | 'event' | 'activity' | 'concept' | 'thing' | undefined;
  };
  /** When it became true. Defaults to now. */
  readonly valid_from?: string | undefined;
  /** When it stopped being true. */
  readonly invalid_at?: string | undefined;
  /** true: the source has only one such destination at a time, so the previous relation ends. The default depends on the relationship. */
  readonly single?: boolean | undefined;
  /** A quote that states it. */
  readonly quote?: string | undefined;
};

export type PostReplay = {
  readonly filter: {
    readonly batch_ids?: readonly string[] | undefined;
    /** Defaults to parked; for a what-if, to consolidated and empty. Live, only parked and undone are allowed. */
    readonly state?: 'parked' | 'consolidated' | 'empty' | 'undone' | undefined;
    readonly user_id?: string | undefined;
    /** Only batches with this error code. */
    readonly error_code?: string | undefined;
    /** Only batches accepted at or after this time. */
    readonly since?: string | undefined;
    /** Only batches accepted before this time. */
    readonly until?: string | undefined;
  };
  /** true: replay into a shadow space even if nothing is changed. */
  readonly shadow?: boolean | undefined;
  /** Another chat model on the same model server. */
  readonly model?: string | undefined;
  /** Overrides the mode of the batches. */
  readonly mode?: 'decide' | 'add_only' | undefined;
  /** Whether to extract relations; overrides batches and settings. */
  readonly graph?: boolean | undefined;
  /** Like the next five fields, overrides the settings. */
  readonly instructions?: string | undefined;
  readonly includes?: string | undefined;
  readonly excludes?: string | undefined;
  readonly decide_instructions?: string | undefined;
  readonly prompts?: {
    readonly extract?: string | undefined;
    readonly decide?: string | undefined;
  } | undefined;
  readonly recall_per_fact?: number | undefined;
  /** The similarity from which a known memory is compared with a new fact. */
  readonly near?: {
    readonly vector?: number | undefined;
    readonly keyword?: number | undefined;
    readonly overlap?: number | undefined;
  } | undefined;
  /** true: only report how many and which batches match. */
  readonly dry_run?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
};

export type PostRestore = {
  /** A version of the memory or of an event in its history. */
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
  /** true: only report what would change. */
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
  /** Return what was true at this time instead of now. */
  readonly as_of?: string | undefined;
  /** false: return every version of each memory, including former and deleted ones; with as_of, those that started by then. */
  readonly latest_only?: boolean | undefined;
  /** What to return with the results. "relations": graph relations that match the query. */
  readonly include?: readonly ('sources' | 'scores' | 'history' | 'messages' | 'relations')[] | undefined;
  /** How many messages to include before each source. Needs include: ["sources"]. */
  readonly before?: number | undefined;
  /** How many messages to include after each source. Needs include: ["sources"]. */
  readonly after?: number | undefined;
  /** Reranks the best results with a rerank endpoint or the chat model. true: whichever is configured. */
  readonly rerank?: boolean | 'endpoint' | 'model' | undefined;
  /** Whatever is not ready in time is omitted and listed in degraded. */
  readonly timeout_ms?: number | undefined;
};

export type PostSplit = Readonly<Record<string, unknown>>;

export type PostUndo = {
  /** true: also undo later changes that depend on it. */
  readonly cascade?: boolean | undefined;
  /** true: only report what would change. */
  readonly dry_run?: boolean | undefined;
};

export type PostWebhook = {
  /** A public https URL, unless the operator lists its host in SLOWWAVE_ALLOW_PRIVATE_URLS. */
  readonly url: string;
  /** The events to deliver. */
  readonly events: readonly ('batch.consolidated' | 'batch.parked' | 'memory.added' | 'memory.updated' | 'memory.deleted')[];
  /** A display name. */
  readonly name?: string | undefined;
  /** false: no events are recorded or sent. */
  readonly active?: boolean | undefined;
  /** The secret that deliveries are signed with. Generated if omitted. */
  readonly secret?: string | undefined;
  /** Only events of this user. */
  readonly user_id?: string | undefined;
  /** Only events of this app. */
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
  /** Only with has_dependents: what would have to be undone as well. */
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
  /** Chat model tokens. null: no limit. */
  readonly tokens_per_day?: number | null | undefined;
  /** In the currency of the prices of the tenant default, or of the list prices if it has none; models without a price count as zero. */
  readonly cost_per_day?: number | null | undefined;
};

export type PutSettings = {
  /** What to remember, in addition to the built-in rules. */
  readonly instructions?: string | null | undefined;
  /** Remember only this. */
  readonly includes?: string | null | undefined;
  /** Never remember this. */
  readonly excludes?: string | null | undefined;
  /** How new facts change known memories, in addition to the built-in rules. */
  readonly decide_instructions?: string | null | undefined;
  /** Replaces the built-in categories. */
  readonly categories?: readonly string[] | null | undefined;
  /** Replaces the built-in prompts. The answer format stays the same. */
  readonly prompts?: {
    /** Must contain {{categories}}. */
    readonly extract?: string | null | undefined;
    readonly decide?: string | null | undefined;
  } | undefined;
  /** Operations that need approval, see /v1/reviews. */
  readonly review?: readonly ('ADD' | 'UPDATE' | 'DELETE')[] | undefined;
  /** When waiting batches are consolidated; overrides the configuration of the service. */
  readonly due?: {
    readonly tokens?: number | undefined;
    readonly idle_ms?: number | undefined;
    readonly max_age_ms?: number | undefined;
  } | undefined;
  /** Price per million tokens by model, all in the same currency. */
  readonly prices?: Readonly<Record<string, {
    readonly prompt: number;
    readonly completion: number;
  }>> | undefined;
  /** Daily limits on model use (UTC). Once reached, batches wait for the next day; nothing is dropped. */
  readonly budgets?: {
    readonly tokens_per_day?: number | null | undefined;
    /** In the currency of the prices; models without a price count as zero. */
    readonly cost_per_day?: number | null | undefined;
    /** Per user, agent or run. */
    readonly user_tokens_per_day?: number | null | undefined;
    readonly user_cost_per_day?: number | null | undefined;
  } | undefined;
  readonly retention?: Retention | undefined;
  readonly forgetting?: Forgetting | undefined;
  /** Applied before anything is stored. mask replaces personal data with placeholders like “[email]”. drop does not store messages that contain personal data, and rejects such memories. Both mask speaker names, metadata and instructions. Takes effect within a second. */
  readonly personal_data?: 'off' | 'mask' | 'drop' | undefined;
  /** The default time zone of speakers, like Europe/Oslo, if neither the batch nor the timestamp has one; null: UTC. */
  readonly timezone?: string | null | undefined;
  /** Whether to extract relations between people, places and things by default; a batch can override it. */
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
  /** 0: the initial search for the question itself. */
  readonly step: number;
  /** What was searched for. */
  readonly query: string | null;
  /** The memory or message whose surrounding conversation was read. */
  readonly around: string | null;
  /** The ids of the memories and messages found. */
  readonly found: readonly string[];
};

export type RecallResult = {
  /** null: the memories do not answer the question. */
  readonly answer: string | null;
  /** The sources of the answer; all of them were read. */
  readonly citations: readonly Citation[];
  /** The searches and reads that were made, in order. */
  readonly trail: readonly RecallLook[];
  readonly usage: Usage;
  readonly took_ms: number;
  /** Notes about this answer. */
  readonly remarks?: readonly string[] | undefined;
  /** Why the answer may be incomplete. */
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
  /** A general, tenseless name, like works_at. */
  readonly relationship: string;
  readonly destination: {
    readonly id: string;
    readonly name: string;
  };
  /** The relation as text: "Ana works at Acme". */
  readonly text: string;
  readonly valid_from: string;
  /** When it ended; null: it has not ended. */
  readonly invalid_at: string | null;
  /** Memories extracted from the same messages. */
  readonly memory_ids: readonly string[];
  readonly said_at: string;
  /** How often it was repeated. */
  readonly confirmations: number;
  /** The quote that states it; null if it was written by API without one. */
  readonly quote: string | null;
  readonly message_ids: readonly string[];
};

export type RelationHit = {
  readonly id: string;
  readonly source: {
    readonly id: string;
    readonly name: string;
  };
  /** A general, tenseless name, like works_at. */
  readonly relationship: string;
  readonly destination: {
    readonly id: string;
    readonly name: string;
  };
  /** The relation as text: "Ana works at Acme". */
  readonly text: string;
  readonly valid_from: string;
  /** When it ended; null: it has not ended. */
  readonly invalid_at: string | null;
  /** Memories extracted from the same messages. */
  readonly memory_ids: readonly string[];
  /** 0 to 1. Only comparable within one query. */
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
  /** What a what-if changes. */
  readonly changes: unknown;
  /** How many batches matched when the replay was requested. */
  readonly matched: number;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** When the shadow space of a what-if is deleted automatically. */
  readonly expires_at: string | null;
  /** Why it failed. */
  readonly error: Failure | null;
  /** Batches put back so far, including those since consolidated, undone or parked again. */
  readonly replayed: number;
  readonly waiting: number;
  /** Includes batches without facts. */
  readonly consolidated: number;
  /** Parked again. */
  readonly parked: number;
  /** What its batches are waiting for, or their latest failure. */
  readonly waiting_for: Failure | null;
  /** Only for a finished what-if: what would be different. */
  readonly result: WhatIfResult | null;
};

export type ReplayDifference = {
  readonly user_id: string | null;
  readonly agent_id: string | null;
  readonly run_id: string | null;
  /** The id of the live memory. */
  readonly memory_id: string | null;
  /** The live text; null: there is none. */
  readonly life: string | null;
  /** The text in the shadow space; null: there is none. */
  readonly what_if: string | null;
};

export type ReplayList = {
  readonly results: readonly ReplaySummary[];
  readonly next_cursor: string | null;
};

export type ReplayRehearsal = {
  readonly dry_run: true;
  readonly matched: number;
  /** The oldest matching batches. */
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
  /** The name of the source entity. */
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
  /** null: the relation does not exist. */
  readonly life: {
    readonly valid_from: string;
    /** null: it has not ended. */
    readonly invalid_at: string | null;
  } | null;
  /** null: the relation does not exist. */
  readonly what_if: {
    readonly valid_from: string;
    /** null: it has not ended. */
    readonly invalid_at: string | null;
  } | null;
};

export type ReplayRelations = {
  readonly same: number;
  readonly added: number;
  /** Relations with a different start or end. */
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
  /** Includes studies. null: a model that was used has no price. */
  readonly cost: number | null;
  /** Studies that update the graph. */
  readonly studies: {
    readonly applied: number;
    /** Parked studies; what they would have learned is missing. */
    readonly parked: number;
    /** Only for live: studies that have not run yet. */
    readonly waiting: number;
    /** null: a model that was used has no price. */
    readonly cost: number | null;
  };
};

export type ReplaySummary = {
  readonly id: string;
  readonly kind: 'live' | 'what_if';
  readonly state: 'preparing' | 'running' | 'done' | 'failed' | 'discarding' | 'discarded';
  /** Any JSON value */
  readonly filter: unknown;
  /** What a what-if changes. */
  readonly changes: unknown;
  /** How many batches matched when the replay was requested. */
  readonly matched: number;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** When the shadow space of a what-if is deleted automatically. */
  readonly expires_at: string | null;
  /** Why it failed. */
  readonly error: Failure | null;
};

export type ReplayedDeliveries = {
  readonly replayed: number;
};

/** How many days to keep messages, plans and former versions of memories; null: for ever. Current memories are kept. */
export type Retention = {
  /** How long to keep message content after consolidation. */
  readonly messages_days?: number | null | undefined;
  /** How long to keep plans and raw model answers. */
  readonly plans_days?: number | null | undefined;
  /** How long to keep former versions of memories and their events after they were replaced. */
  readonly history_days?: number | null | undefined;
};

export type RetentionPreview = {
  /** Batches whose message content would be removed. */
  readonly batches: number;
  /** Consolidations whose plan and model answers would be removed. */
  readonly consolidations: number;
  /** Memories whose former versions and events would lose their text. */
  readonly histories: number;
  /** Memories that would be forgotten, by reason. */
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
  /** null: approving it creates a new memory. */
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
  /** The consolidation that proposed it; its plan shows the reasoning. */
  readonly consolidation_id: string;
  readonly said_at: string;
  readonly valid_from: string;
  /** Why it is stale: the memory it would change is gone or can no longer be changed. */
  readonly note: string | null;
  readonly created_at: string;
  readonly settled_at: string | null;
};

export type ReviewList = {
  readonly results: readonly Review[];
  readonly next_cursor: string | null;
};

export type RotateKey = {
  /** A tenant other than that of the key. Only for admins of the tenant default. */
  readonly tenant?: string | undefined;
  /** How long the current secret stays valid. */
  readonly grace_seconds?: number | undefined;
};

export type Scores = {
  /** Cosine similarity, -1 to 1; null if vector search did not find it. */
  readonly vector: number | null;
  /** BM25 score, 0 or more; null if keyword search did not find it. */
  readonly keyword: number | null;
  /** Relevance compared with the first result, 0 to 1. */
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
  /** true: forgetting policies never delete it. Not included in search results. */
  readonly pinned?: boolean | undefined;
  readonly said_at: string;
  readonly valid_from: string;
  /** The speaker’s UTC offset in minutes, if known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly expires_at: string | null;
  readonly confirmations: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** 0 to 1: confidence that this answers the query. */
  readonly score: number;
  /** Only with latest_only: false. true: this is the current version. */
  readonly latest?: boolean | undefined;
  /** Only with rerank: the score that determines the order. */
  readonly rerank_score?: number | undefined;
  readonly scores?: Scores | undefined;
  readonly sources?: readonly Source[] | undefined;
  /** The newest events of the memory, oldest first. */
  readonly history?: readonly HistoryEvent[] | undefined;
};

export type SearchResult = {
  readonly results: readonly SearchHit[];
  /** Only with include: ["relations"]. Best first, at most top_k. */
  readonly relations?: readonly RelationHit[] | undefined;
  /** Only with include: ["messages"]. Matching messages, best first. */
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
  /** The message id set by the caller. */
  readonly id: string | null;
  readonly role: 'user' | 'assistant' | 'system' | 'tool';
  readonly name: string | null;
  readonly content: string;
  /** Why there is no content: it was removed by retention, or held personal data that is not stored. */
  readonly withheld?: 'retention' | 'personal_data' | undefined;
  readonly said_at: string;
  /** The speaker’s UTC offset in minutes, if known. */
  readonly utc_offset?: number | undefined;
  /** false: a neighbouring message requested with before or after. */
  readonly is_source: boolean;
};

export type SourceList = {
  readonly results: readonly Source[];
  readonly next_cursor: string | null;
};

export type Statement = {
  readonly id: string;
  readonly kind: 'holds' | 'ended' | 'denied' | 'same' | 'apart' | 'named';
  /** false: it was undone and no longer counts. */
  readonly counts: boolean;
  readonly source: string;
  readonly relationship: string | null;
  readonly destination: string | null;
  /** Only for named: the additional name. */
  readonly name: string | null;
  /** Only for holds: when it became true. */
  readonly valid_from: string | null;
  /** Only for ended, and for holds about the past: when it ended. */
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
    /** Entities that the study created. */
    readonly entities: readonly {
      readonly id: string;
      readonly name: string;
      readonly kind: string;
    }[];
    /** Statements added to the graph; relations are derived from them. */
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
    /** Entities that may be the same, for a person to review. */
    readonly proposals: readonly {
      readonly source: string;
      readonly destination: string;
      readonly likeness: number;
    }[];
    /** What the model proposed that was rejected or repaired, and why. */
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
  /** Only for a rollback: the time it rolled back to. */
  readonly to: string | null;
  /** The consolidations it undid. */
  readonly consolidation_ids: readonly string[];
  /** Earlier undos that it reversed. */
  readonly undo_ids: readonly string[];
  /** How many memories it changed. */
  readonly memories: number;
  readonly created_at: string;
};

export type UndoList = {
  readonly results: readonly Undo[];
  readonly next_cursor: string | null;
};

export type UndoReport = {
  /** null: nothing was changed, because of dry_run or because there was nothing to change. */
  readonly undo: Undo | null;
  /** The first 1,000 memories whose text changed; null: no text. */
  readonly memories: readonly ({
    readonly id: string;
    readonly before: string | null;
    readonly after: string | null;
  })[];
  /** The total number of changed memories. */
  readonly changed: number;
  /** Consolidations that were undone, together with their batches. */
  readonly undone: readonly string[];
  /** Consolidations that were redone. */
  readonly redone: readonly string[];
  /** What was undone together with it, newest first. */
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
  /** Failed attempts since the last success. */
  readonly failures: number;
  readonly failing_since: string | null;
  readonly last_error: string | null;
  /** When it was paused after failing for three days. */
  readonly paused_at: string | null;
  /** Until when deliveries are also signed with the previous secret. */
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
  /** Failed attempts since the last success. */
  readonly failures: number;
  readonly failing_since: string | null;
  readonly last_error: string | null;
  /** When it was paused after failing for three days. */
  readonly paused_at: string | null;
  /** Until when deliveries are also signed with the previous secret. */
  readonly previous_secret_until: string | null;
  /** Returned only when it is created or replaced. */
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
  /** How the graph would differ. null: relations were not extracted from any batch. */
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
  /** true: forgetting policies never delete it. Not included in search results. */
  readonly pinned?: boolean | undefined;
  readonly said_at: string;
  readonly valid_from: string;
  /** The speaker’s UTC offset in minutes, if known. */
  readonly utc_offset?: number | undefined;
  readonly invalid_at: string | null;
  readonly expires_at: string | null;
  readonly confirmations: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** Only set while the memory can be found by keywords but not by meaning: the embedding model rejects the text, or did not answer within 2 s (it is then embedded later). */
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
  /** List batches, newest first. */
  'GET /v1/batches': {
    query?: { state?: 'pending' | 'consolidating' | 'consolidated' | 'empty' | 'parked' | 'undone' | undefined; user_id?: string | undefined; since?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: BatchList;
  };
  /** Get the state of a batch. */
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
  /** Search memories by meaning and keywords. */
  'POST /v1/search': {
    body: PostSearch;
    answer: SearchResult;
  };
  /** Get what is known about an owner, formatted for a prompt. */
  'POST /v1/context': {
    body: PostContext;
    answer: ContextResult;
  };
  /** Answer a question from memories, with citations. */
  'POST /v1/recall': {
    body: PostRecall;
    answer: RecallResult;
  };
  /** List an owner's memories, newest first. */
  'GET /v1/memories': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; app_id?: string | undefined; filters?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: MemoryList;
  };
  /** Write a memory verbatim. */
  'POST /v1/memories': {
    body: PostMemory;
    answer: WrittenMemory;
  };
  /** Delete all memories of an owner. */
  'DELETE /v1/memories': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; app_id?: string | undefined; };
    answer: Deleted;
  };
  /** Get a memory. */
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
  /** Get the history of a memory, oldest event first. */
  'GET /v1/memories/{id}/history': {
    params: { id: string; };
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: History;
  };
  /** Get the messages a memory came from, optionally with their neighbours. */
  'GET /v1/memories/{id}/sources': {
    params: { id: string; };
    query?: { before?: number | undefined; after?: number | undefined; };
    answer: SourceList;
  };
  /** List the users, agents and runs that own memories or have waiting batches. */
  'GET /v1/users': {
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: UserList;
  };
  /** Get counts, and check that they add up. */
  'GET /v1/stats': {
    answer: Stats;
  };
  /** Get an owner's graph as JSON, Graphviz, Mermaid or SVG. */
  'GET /v1/graph': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; as_of?: string | undefined; ended?: 'true' | 'false' | undefined; format?: 'json' | 'dot' | 'mermaid' | 'svg' | undefined; limit?: number | undefined; };
    answer: Graph;
  };
  /** Find relations that match patterns, or paths between two entities. */
  'POST /v1/graph/query': {
    body: PostGraphQuery;
    answer: GraphMatches;
  };
  /** List entities that may be the same, for a person to decide. */
  'GET /v1/graph/proposals': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; };
    answer: ProposalList;
  };
  /** List the entities of an owner's graph, by name. */
  'GET /v1/entities': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; like?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: EntityList;
  };
  /** Get an entity and its neighbourhood. */
  'GET /v1/entities/{id}': {
    params: { id: string; };
    query?: { as_of?: string | undefined; ended?: 'true' | 'false' | undefined; depth?: number | undefined; format?: 'json' | 'dot' | 'mermaid' | 'svg' | undefined; limit?: number | undefined; };
    answer: EntityNeighbourhood;
  };
  /** Add an alias to an entity. */
  'PATCH /v1/entities/{id}': {
    params: { id: string; };
    body: PatchEntity;
    answer: Entity;
  };
  /** Get the history of an entity. */
  'GET /v1/entities/{id}/history': {
    params: { id: string; };
    answer: StatementList;
  };
  /** List the relations of an owner's graph, oldest first. */
  'GET /v1/relations': {
    query?: { user_id?: string | undefined; agent_id?: string | undefined; run_id?: string | undefined; as_of?: string | undefined; ended?: 'true' | 'false' | undefined; relationship?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: RelationList;
  };
  /** Write a relation. */
  'POST /v1/relations': {
    body: PostRelation;
    answer: Relation;
  };
  /** Get a relation. */
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
  /** Get the history of a relation. */
  'GET /v1/relations/{id}/history': {
    params: { id: string; };
    answer: StatementList;
  };
  /** Restore a version of a memory. */
  'POST /v1/memories/{id}/restore': {
    params: { id: string; };
    body: PostRestore;
    answer: WrittenMemory;
  };
  /** List consolidations, newest first. */
  'GET /v1/consolidations': {
    query?: { state?: 'thinking' | 'planned' | 'waiting' | 'applied' | 'split' | 'parked' | 'undone' | undefined; user_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: ConsolidationList;
  };
  /** Get a consolidation: what it read, decided and changed, and its cost. */
  'GET /v1/consolidations/{id}': {
    params: { id: string; };
    answer: Consolidation;
  };
  /** Preview what consolidating a batch would do. */
  'POST /v1/consolidations/preview': {
    body: PostPreview;
    answer: Plan;
  };
  /** Get what the graph learned from a consolidation. */
  'GET /v1/consolidations/{id}/graph': {
    params: { id: string; };
    answer: Study;
  };
  /** Update the graph from a consolidation. */
  'POST /v1/consolidations/{id}/graph': {
    params: { id: string; };
    answer: Study;
  };
  /** Undo a consolidation. */
  'POST /v1/consolidations/{id}/undo': {
    params: { id: string; };
    body: PostUndo;
    answer: UndoReport;
  };
  /** Roll a user back to an earlier time. */
  'POST /v1/users/{id}/rollback': {
    params: { id: string; };
    body: PostRollback;
    answer: UndoReport;
  };
  /** Redo what an undo or a rollback undid. */
  'POST /v1/undos/{id}/redo': {
    params: { id: string; };
    body: PostRedo;
    answer: UndoReport;
  };
  /** List undos, rollbacks and redos, newest first. */
  'GET /v1/undos': {
    query?: { user_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: UndoList;
  };
  /** List reviews, pending and decided, newest first. */
  'GET /v1/reviews': {
    query?: { state?: 'pending' | 'approved' | 'rejected' | 'stale' | undefined; user_id?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: ReviewList;
  };
  /** Approve or reject a pending operation. */
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
  /** Get the progress of an erasure. */
  'GET /v1/erasures/{id}': {
    params: { id: string; };
    answer: Erasure;
  };
  /** Export all data of a user. */
  'GET /v1/users/{id}/export': {
    params: { id: string; };
    answer: unknown;
  };
  /** Get a tenant's settings. */
  'GET /v1/settings': {
    answer: Settings;
  };
  /** Replace all settings. */
  'PUT /v1/settings': {
    body: PutSettings;
    answer: Settings;
  };
  /** Preview what retention and forgetting would remove now. */
  'POST /v1/retention/preview': {
    body: PostRetentionPreview;
    answer: RetentionPreview;
  };
  /** Create a webhook for events of batches and memories. */
  'POST /v1/webhooks': {
    body: PostWebhook;
    answer: WebhookWithSecret;
  };
  /** List webhooks, newest first. */
  'GET /v1/webhooks': {
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: WebhookList;
  };
  /** Get a webhook. */
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
  /** Delete a webhook. */
  'DELETE /v1/webhooks/{id}': {
    params: { id: string; };
    answer: Webhook;
  };
  /** List the deliveries of a webhook, newest first. */
  'GET /v1/webhooks/{id}/deliveries': {
    params: { id: string; };
    query?: { state?: 'waiting' | 'delivered' | 'failed' | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: DeliveryList;
  };
  /** Retry all failed deliveries. */
  'POST /v1/webhooks/{id}/deliveries/replay': {
    params: { id: string; };
    answer: ReplayedDeliveries;
  };
  /** Resend a delivery. */
  'POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay': {
    params: { id: string; delivery_id: string; };
    answer: ReplayedDeliveries;
  };
  /** Merge an entity into another. */
  'POST /v1/entities/{id}/merge': {
    params: { id: string; };
    body: PostMerge;
    answer: Entity;
  };
  /** Split an entity from the one it was merged into. */
  'POST /v1/entities/{id}/split': {
    params: { id: string; };
    body: PostSplit;
    answer: Entity;
  };
  /** Replay parked or undone batches, or try past ones with other settings. */
  'POST /v1/replays': {
    body: PostReplay;
    answer: ReplayRehearsal | Replay;
  };
  /** List replays, newest first. */
  'GET /v1/replays': {
    query?: { limit?: number | undefined; cursor?: string | undefined; };
    answer: ReplayList;
  };
  /** Get the progress of a replay and the result of a what-if. */
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
  /** Create a key. */
  'POST /v1/keys': {
    body: PostKey;
    answer: KeyWithSecret;
  };
  /** List keys, newest first, including expired and revoked ones. */
  'GET /v1/keys': {
    query?: { tenant?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: KeyList;
  };
  /** Rotate the secret of a key. */
  'POST /v1/keys/{id}/rotate': {
    params: { id: string; };
    body: RotateKey;
    answer: KeyWithSecret;
  };
  /** Revoke a key. */
  'DELETE /v1/keys/{id}': {
    params: { id: string; };
    query?: { tenant?: string | undefined; };
    answer: Key;
  };
  /** List the audit log, newest first. */
  'GET /v1/audit': {
    query?: { tenant?: string | undefined; by?: string | undefined; subject?: string | undefined; action?: string | undefined; outcome?: 'done' | 'refused' | 'failed' | undefined; since?: string | undefined; until?: string | undefined; limit?: number | undefined; cursor?: string | undefined; };
    answer: AuditList;
  };
  /** Check the installation for problems and how to fix them. */
  'GET /v1/doctor': {
    query?: { depth?: 'quick' | 'usual' | undefined; };
    answer: Examination;
  };
  /** Get a tenant's daily limits. */
  'GET /v1/tenants/{id}/ceilings': {
    params: { id: string; };
    answer: Ceilings;
  };
  /** Set a tenant's daily limits. */
  'PUT /v1/tenants/{id}/ceilings': {
    params: { id: string; };
    body: PutCeilings;
    answer: Ceilings;
  };
  /** Reset a tenant's daily limits to those for all tenants. */
  'DELETE /v1/tenants/{id}/ceilings': {
    params: { id: string; };
    answer: Ceilings;
  };
}
