import type { AuditEntry, Key, KeyWithSecret } from '@slowwave/sdk';
import { useState } from 'react';
import { api, may, useWho } from '../../api.ts';
import { DAY_MS, Moment } from '../../ui/figures.tsx';
import { Amount, Confirm, FormDialog, Line, Secret, Select, Several } from '../../ui/forms.tsx';
import { Pages, Table, usePages } from '../../ui/lists.tsx';

const KEYS = ['keys'];
const SCOPES = ['ingest', 'search', 'manage', 'admin', 'subject'] as const;

type Asked =
  | { readonly kind: 'create' }
  | { readonly kind: 'rotate' | 'revoke'; readonly of: Key }
  | { readonly kind: 'secret'; readonly secret: string };

/** Who may come in, and what each may do. */
export function Keys() {
  const [tenant, setTenant] = useState<string | null>(null);
  const [asked, setAsked] = useState<Asked | null>(null);
  const of = { tenant: tenant ?? undefined };
  const list = usePages({
    queryKey: [...KEYS, tenant],
    read: (cursor, signal) => api.send('GET /v1/keys', { query: { ...of, cursor } }, { signal }),
  });
  const close = () => setAsked(null);
  const made = ({ secret }: KeyWithSecret) => setAsked({ kind: 'secret', secret });
  return (
    <>
      <div className="row picked">
        <button type="button" className="main" onClick={() => setAsked({ kind: 'create' })}>
          Create a key
        </button>
        {may(useWho(), 'operator') && <Line name="Tenant" value={tenant} change={setTenant} />}
      </div>
      <Pages of={list} none="There are no keys yet. Create one for each program that uses this server.">
        {(rows) => <KeyTable keys={rows} ask={setAsked} />}
      </Pages>
      {asked?.kind === 'create' && <Create tenant={tenant} close={close} made={made} />}
      {asked?.kind === 'rotate' && <Rotate of={asked.of} close={close} made={made} />}
      {asked?.kind === 'revoke' && <Revoke of={asked.of} close={close} />}
      {asked?.kind === 'secret' && <Secret secret={asked.secret} close={close} />}
    </>
  );
}

const KeyTable = ({ keys, ask }: { readonly keys: readonly Key[]; readonly ask: (asked: Asked) => void }) => (
  <Table
    name="Keys"
    card
    rows={keys}
    keyOf={({ id }) => id}
    columns={[
      ['Name', (key) => <Named of={key} />],
      ['Scopes', ({ scopes }) => scopes.join(', ')],
      ['Bound to', boundTo],
      ['Last used', ({ last_used_at: at }) => (at === null ? 'never' : <Moment iso={at} />)],
      ['State', (key) => <State of={key} />],
      [<span className="heard">Change</span>, (key) => key.revoked_at === null && <Change of={key} ask={ask} />],
    ]}
  />
);

const Named = ({ of: { name, id } }: { readonly of: Key }) => (
  <>
    {name}
    <br />
    <code className="quiet">{id}</code>
  </>
);

const Change = ({ of, ask }: { readonly of: Key; readonly ask: (asked: Asked) => void }) => (
  <div className="row">
    <button type="button" onClick={() => ask({ kind: 'rotate', of })}>
      Rotate
    </button>
    <button type="button" className="danger" onClick={() => ask({ kind: 'revoke', of })}>
      Revoke
    </button>
  </div>
);

const boundTo = ({ user_id: user, app_id: app }: Key): string =>
  [user !== null && `user ${user}`, app !== null && `app ${app}`].filter((text) => text !== false).join(', ');

function State({ of: { revoked_at: revoked, expires_at: expires } }: { readonly of: Key }) {
  if (revoked !== null) return <span className="tag bad">revoked</span>;
  if (expires === null) return <span className="tag good">valid</span>;
  return Date.parse(expires) < Date.now() ? (
    <span className="tag bad">expired</span>
  ) : (
    <>
      <span className="tag good">valid</span> expires <Moment iso={expires} />
    </>
  );
}

interface Window {
  readonly close: () => void;
}

interface Making extends Window {
  readonly made: (key: KeyWithSecret) => void;
}

function Create({ tenant, close, made }: Making & { readonly tenant: string | null }) {
  const [name, setName] = useState<string | null>(null);
  const [scopes, setScopes] = useState<readonly (typeof SCOPES)[number][]>(['ingest', 'search']);
  const [user, setUser] = useState<string | null>(null);
  const [app, setApp] = useState<string | null>(null);
  const [days, setDays] = useState<number | null>(null);
  return (
    <FormDialog
      title="Create a key"
      submit="Create"
      close={close}
      disabled={name === null || scopes.length === 0}
      touches={[KEYS, ['session']]}
      run={() =>
        api.keys.make({
          ...{ name: name ?? '', scopes, tenant: tenant ?? undefined },
          ...{ user_id: user ?? undefined, app_id: app ?? undefined, expires_at: inDays(days) },
        })
      }
      done={made}
    >
      <Line name="Name" value={name} change={setName} />
      <Several
        name="Scopes"
        hint="ingest: post messages. search: read. manage: change memories and settings. admin: everything, including keys. subject: what a person may do with their own memories; requires a user."
        value={scopes}
        options={SCOPES}
        change={setScopes}
      />
      <Line name="Bound to user" value={user} change={setUser} />
      <Line name="Bound to app" value={app} change={setApp} />
      <Amount name="Days until it expires" empty="never" min={1} value={days} change={setDays} />
    </FormDialog>
  );
}

const inDays = (days: number | null): string | undefined =>
  days === null ? undefined : new Date(Date.now() + days * DAY_MS).toISOString();

const GRACES = { 0: 'No time', 3600: 'One hour', 86400: 'One day', 604800: 'One week' } as const;

function Rotate({ of, close, made }: Making & { readonly of: Key }) {
  const [grace, setGrace] = useState<`${keyof typeof GRACES}`>('3600');
  return (
    <FormDialog
      title={`Rotate the secret of “${of.name}”`}
      submit="Rotate"
      close={close}
      touches={[KEYS]}
      run={() => api.keys.rotate(of.id, { grace_seconds: Number(grace), tenant: of.tenant })}
      done={made}
    >
      <Select name="The current secret stays valid for" value={grace} options={GRACES} change={setGrace} />
    </FormDialog>
  );
}

const Revoke = ({ of, close }: Window & { readonly of: Key }) => (
  <Confirm
    title={`Revoke “${of.name}”?`}
    submit="Revoke"
    close={close}
    touches={[KEYS]}
    run={() => api.send('DELETE /v1/keys/{id}', { params: { id: of.id }, query: { tenant: of.tenant } })}
  >
    <p>
      Programs that use it will be refused within 5 seconds. This cannot be undone.{' '}
      {of.last_used_at === null ? (
        'It has never been used.'
      ) : (
        <>
          It was last used <Moment iso={of.last_used_at} />.
        </>
      )}
    </p>
  </Confirm>
);

interface Filter {
  readonly subject: string | null;
  readonly by: string | null;
  readonly outcome: 'any' | AuditEntry['outcome'];
  readonly tenant: string | null;
}

const TONES = { done: 'good', refused: 'wait', failed: 'bad' } as const;
const DRY = '?dry_run=true';

/** Who did what. */
export function Audit() {
  const [filter, setFilter] = useState<Filter>({ subject: null, by: null, outcome: 'any', tenant: null });
  const change = (part: Partial<Filter>) => setFilter({ ...filter, ...part });
  const { subject, by, outcome, tenant } = filter;
  const asked = {
    ...{ subject: subject ?? undefined, by: by ?? undefined, tenant: tenant ?? undefined },
    outcome: outcome === 'any' ? undefined : outcome,
  };
  const list = usePages({
    queryKey: ['audit', asked],
    read: (cursor, signal) => api.send('GET /v1/audit', { query: { ...asked, cursor } }, { signal }),
  });
  return (
    <>
      <div className="row card">
        <Line name="Object" value={subject} change={(id) => change({ subject: id })} />
        <Line name="By" value={by} change={(id) => change({ by: id })} />
        <Select
          name="Outcome"
          value={outcome}
          options={{ any: 'any', done: 'done', refused: 'refused', failed: 'failed' }}
          change={(one) => change({ outcome: one })}
        />
        {may(useWho(), 'operator') && <Line name="Tenant" value={tenant} change={(id) => change({ tenant: id })} />}
      </div>
      <Pages of={list} none="No entries match the filter.">
        {(rows) => <AuditTable entries={rows} />}
      </Pages>
    </>
  );
}

const AuditTable = ({ entries }: { readonly entries: readonly AuditEntry[] }) => (
  <Table
    name="Audit log"
    card
    rows={entries}
    keyOf={({ id }) => id}
    columns={[
      ['When', ({ at }) => <Moment iso={at} />],
      ['By', (entry) => <By entry={entry} />],
      ['Request', (entry) => <Request entry={entry} />],
      [
        'Object',
        ({ subject }) =>
          subject !== null && (
            <>
              <span className="quiet">{subject.kind}</span> {subject.id}
            </>
          ),
      ],
      ['Outcome', (entry) => <Outcome entry={entry} />],
    ]}
  />
);

interface Of {
  readonly entry: AuditEntry;
}

const By = ({ entry: { by, session } }: Of) => (
  <>
    <code>{by}</code> {session && <span className="quiet">(browser)</span>}
  </>
);

const Request = ({ entry: { action } }: Of) => (
  <>
    <code>{action.replace(DRY, '')}</code> {action.endsWith(DRY) && <span className="tag">dry run</span>}
  </>
);

const Outcome = ({ entry: { outcome, status, code } }: Of) => (
  <>
    <span className={`tag ${TONES[outcome]}`}>{outcome}</span>{' '}
    <span className="quiet">{code === null ? status : `${status} ${code}`}</span>
  </>
);
