import type { Key, KeyWithSecret } from '@slowwave/sdk';
import { useState } from 'react';
import { api, may } from '../../api.ts';
import { useWho } from '../../session.ts';
import { ActionForm } from '../../ui/action.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { Amount, Line, Select, Several } from '../../ui/fields.tsx';
import { Pages, usePages } from '../../ui/pages.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Empty } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { Wide } from '../../ui/wide.tsx';

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
  const list = usePages<Key>({
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
      <Pages of={list}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty>There are no keys yet. Create one for each program that uses this server.</Empty>
          ) : (
            <Table keys={rows} ask={setAsked} />
          )
        }
      </Pages>
      {asked?.kind === 'create' && <Create tenant={tenant} close={close} made={made} />}
      {asked?.kind === 'rotate' && <Rotate of={asked.of} close={close} made={made} />}
      {asked?.kind === 'revoke' && <Revoke of={asked.of} close={close} />}
      {asked?.kind === 'secret' && <Secret secret={asked.secret} close={close} />}
    </>
  );
}

function Table({ keys, ask }: { readonly keys: readonly Key[]; readonly ask: (asked: Asked) => void }) {
  return (
    <Wide name="Keys" card>
      <table>
        <thead>
          <tr>
            <th>Name</th>
            <th>Scopes</th>
            <th>Bound to</th>
            <th>Last used</th>
            <th>State</th>
            <th>
              <span className="heard">Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id}>
              <td>
                {key.name}
                <br />
                <code className="quiet">{key.id}</code>
              </td>
              <td>{key.scopes.join(', ')}</td>
              <td>{boundTo(key)}</td>
              <td>{key.last_used_at === null ? 'never' : <Moment iso={key.last_used_at} />}</td>
              <td>
                <State of={key} />
              </td>
              <td>
                {key.revoked_at === null && (
                  <div className="row">
                    <button type="button" onClick={() => ask({ kind: 'rotate', of: key })}>
                      Rotate
                    </button>
                    <button type="button" className="danger" onClick={() => ask({ kind: 'revoke', of: key })}>
                      Revoke
                    </button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

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
    <Dialog title="Create a key" close={close}>
      <ActionForm
        submit="Create"
        cancel={close}
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
      </ActionForm>
    </Dialog>
  );
}

const DAY_MS = 86_400_000;
const inDays = (days: number | null): string | undefined =>
  days === null ? undefined : new Date(Date.now() + days * DAY_MS).toISOString();

const GRACES = { 0: 'No time', 3600: 'One hour', 86400: 'One day', 604800: 'One week' } as const;

function Rotate({ of, close, made }: Making & { readonly of: Key }) {
  const [grace, setGrace] = useState<`${keyof typeof GRACES}`>('3600');
  return (
    <Dialog title={`Rotate the secret of “${of.name}”`} close={close}>
      <ActionForm
        submit="Rotate"
        cancel={close}
        touches={[KEYS]}
        run={() => api.keys.rotate(of.id, { grace_seconds: Number(grace), tenant: of.tenant })}
        done={made}
      >
        <Select name="The current secret stays valid for" value={grace} options={GRACES} change={setGrace} />
      </ActionForm>
    </Dialog>
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
