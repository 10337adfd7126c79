import type { Delivery, Webhook } from '@slowwave/sdk';
import { useState } from 'react';
import { api } from '../../api.ts';
import { counted, Moment } from '../../ui/figures.tsx';
import { Action, Confirm, FormDialog, Line, Opens, Secret, Several } from '../../ui/forms.tsx';
import { Pages, Table, usePages } from '../../ui/lists.tsx';

const WEBHOOKS = ['webhooks'];
const DELIVERIES = ['deliveries'];

const EVENTS = [
  'batch.consolidated',
  'batch.parked',
  'memory.added',
  'memory.updated',
  'memory.deleted',
  'attack.detected',
  'memory.retracted',
  'relation.retracted',
  'canary.step',
  'canary.halted',
  'canary.undone',
  'canary.promoted',
  'budget.rung',
  'use.held',
  'night.applied',
  'night.waits',
] as const satisfies readonly Webhook['events'][number][];

/** Who is notified of what, and whether that arrives. */
export function Webhooks() {
  const [secret, setSecret] = useState<string | null>(null);
  const list = usePages({
    queryKey: WEBHOOKS,
    read: (cursor, signal) => api.send('GET /v1/webhooks', { query: { cursor } }, { signal }),
  });
  return (
    <>
      <p>
        <Opens kind="main" window={(close) => <Create close={close} show={setSecret} />}>
          Create a webhook
        </Opens>
      </p>
      <Pages of={list} none="There are no webhooks yet. Create one to have events posted to a URL.">
        {(rows) => rows.map((webhook) => <One key={webhook.id} webhook={webhook} show={setSecret} />)}
      </Pages>
      {secret !== null && <Secret secret={secret} close={() => setSecret(null)} />}
    </>
  );
}

interface Showing {
  readonly show: (secret: string | null) => void;
}

function Create({ close, show }: Showing & { readonly close: () => void }) {
  const [url, setUrl] = useState<string | null>(null);
  const [name, setName] = useState<string | null>(null);
  const [events, setEvents] = useState<readonly (typeof EVENTS)[number][]>([]);
  return (
    <FormDialog
      title="Create a webhook"
      submit="Create"
      close={close}
      disabled={url === null || events.length === 0}
      touches={[WEBHOOKS]}
      run={() => api.send('POST /v1/webhooks', { body: { url: url ?? '', name: name ?? '', events } })}
      done={({ secret = null }) => show(secret)}
    >
      <Line name="URL" type="url" hint="Must begin with https://" value={url} change={setUrl} />
      <Line name="Name" value={name} change={setName} />
      <Several name="Events" value={events} options={EVENTS} change={setEvents} />
    </FormDialog>
  );
}

function One({ webhook, show }: Showing & { readonly webhook: Webhook }) {
  const { id, name, url, events, active, failures, last_error: error, paused_at: paused } = webhook;
  const [isOpen, setIsOpen] = useState(false);
  const patch = (body: { active: boolean } | { rotate_secret: true }) =>
    api.send('PATCH /v1/webhooks/{id}', { params: { id }, body });
  return (
    <section className="card" aria-label={name === '' ? url : name}>
      <h2>
        {name === '' ? url : name} <StateOf webhook={webhook} />
      </h2>
      <p className="quiet breaks">
        {url} · {events.join(', ')}
      </p>
      {failures > 0 && (
        <p>
          {failures} failed {failures === 1 ? 'attempt' : 'attempts'} since the last success. {error}
        </p>
      )}
      <div className="row">
        <Action run={() => patch({ active: !active || paused !== null })} touches={[WEBHOOKS]}>
          {active && paused === null ? 'Pause' : 'Resume'}
        </Action>
        <Action
          run={() => patch({ rotate_secret: true })}
          touches={[WEBHOOKS]}
          done={(made) => show(made.secret ?? null)}
        >
          New secret
        </Action>
        <Opens kind="danger" window={(close) => <Delete webhook={webhook} close={close} />}>
          Delete
        </Opens>
        <button type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
          Deliveries
        </button>
      </div>
      {isOpen && <Deliveries id={id} />}
    </section>
  );
}

const Delete = ({ webhook: { id, url }, close }: { readonly webhook: Webhook; readonly close: () => void }) => (
  <Confirm
    title="Delete this webhook?"
    submit="Delete"
    close={close}
    touches={[WEBHOOKS]}
    run={() => api.send('DELETE /v1/webhooks/{id}', { params: { id } })}
  >
    <p>{url} will receive no more events, and its deliveries are deleted.</p>
  </Confirm>
);

function StateOf({ webhook: { active, paused_at: paused, failures } }: { readonly webhook: Webhook }) {
  if (!active) return <span className="tag">off</span>;
  if (paused !== null) return <span className="tag bad">paused</span>;
  return failures > 0 ? <span className="tag wait">failing</span> : <span className="tag good">on</span>;
}

const TONES = { delivered: 'good', waiting: 'wait', failed: 'bad' } as const;

function Deliveries({ id }: { readonly id: string }) {
  const list = usePages({
    queryKey: [...DELIVERIES, id],
    read: (cursor, signal) =>
      api.send('GET /v1/webhooks/{id}/deliveries', { params: { id }, query: { cursor } }, { signal }),
  });
  return (
    <Pages of={list}>
      {(rows) => (
        <>
          {rows.length === 0 && <p className="quiet">There are no deliveries yet.</p>}
          {rows.some(({ state }) => state === 'failed') && (
            <Action
              run={() => api.send('POST /v1/webhooks/{id}/deliveries/replay', { params: { id } })}
              touches={[[...DELIVERIES, id]]}
            >
              Resend all failed deliveries
            </Action>
          )}
          {rows.length > 0 && <Sent id={id} deliveries={rows} />}
        </>
      )}
    </Pages>
  );
}

const Sent = ({ id, deliveries }: { readonly id: string; readonly deliveries: readonly Delivery[] }) => (
  <Table
    name="Deliveries"
    rows={deliveries}
    keyOf={(delivery) => delivery.id}
    columns={[
      ['When', ({ created_at: at }) => <Moment iso={at} />],
      ['Event', ({ type }) => type],
      ['State', (delivery) => <Standing of={delivery} />],
      ['Response', ({ last_error: error, last_status: status }) => error ?? status, 'quiet'],
      ['', (delivery) => delivery.state !== 'waiting' && <Resend webhook={id} delivery={delivery.id} />],
    ]}
  />
);

const Standing = ({ of: { state, attempts } }: { readonly of: Delivery }) => (
  <>
    <span className={`tag ${TONES[state]}`}>{state}</span>{' '}
    <span className="quiet">{counted(attempts, 'attempt', 'attempts')}</span>
  </>
);

const Resend = ({ webhook: id, delivery }: { readonly webhook: string; readonly delivery: string }) => (
  <Action
    run={() =>
      api.send('POST /v1/webhooks/{id}/deliveries/{delivery_id}/replay', { params: { id, delivery_id: delivery } })
    }
    touches={[[...DELIVERIES, id]]}
  >
    Resend
  </Action>
);
