import type { AuditEntry } from '@slowwave/sdk';
import { useState } from 'react';
import { api, may } from '../../api.ts';
import { useWho } from '../../session.ts';
import { Line, Select } from '../../ui/fields.tsx';
import { Pages, usePages } from '../../ui/pages.tsx';
import { Empty } from '../../ui/states.tsx';
import { Moment } from '../../ui/time.tsx';
import { Wide } from '../../ui/wide.tsx';

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
  const list = usePages<AuditEntry>({
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
      <Pages of={list}>
        {(rows) => (rows.length === 0 ? <Empty>No entries match the filter.</Empty> : <Table entries={rows} />)}
      </Pages>
    </>
  );
}

const Table = ({ entries }: { readonly entries: readonly AuditEntry[] }) => (
  <Wide name="Audit log" card>
    <table>
      <thead>
        <tr>
          <th>When</th>
          <th>By</th>
          <th>Request</th>
          <th>Object</th>
          <th>Outcome</th>
        </tr>
      </thead>
      <tbody>
        {entries.map(({ id, at, by, session, action, subject, outcome, status, code }) => (
          <tr key={id}>
            <td>
              <Moment iso={at} />
            </td>
            <td>
              <code>{by}</code> {session && <span className="quiet">(browser)</span>}
            </td>
            <td>
              <code>{action.replace(DRY, '')}</code> {action.endsWith(DRY) && <span className="tag">dry run</span>}
            </td>
            <td>
              {subject !== null && (
                <>
                  <span className="quiet">{subject.kind}</span> {subject.id}
                </>
              )}
            </td>
            <td>
              <span className={`tag ${TONES[outcome]}`}>{outcome}</span>{' '}
              <span className="quiet">{code === null ? status : `${status} ${code}`}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Wide>
);
