import { useQuery } from '@tanstack/react-query';
import { api, may } from '../api.ts';
import { useWho } from '../session.ts';
import { Action } from '../ui/action.tsx';
import { Moment } from '../ui/time.tsx';
import { Wide } from '../ui/wide.tsx';

const HOLDS = ['holds'];

/** Who is held because of far more use than is usual; nothing where nobody is. */
export function Holds() {
  const { data } = useQuery({
    queryKey: HOLDS,
    queryFn: ({ signal }) => api.send('GET /v1/holds', {}, { signal }),
    enabled: may(useWho(), 'admin'),
  });
  const held = data?.results.filter(({ state }) => state === 'held') ?? [];
  if (held.length === 0) return null;
  return (
    <section className="card">
      <h2>Holds</h2>
      <p className="quiet">
        These used many times the usual daily amount. Their batches wait until the next day (UTC); nothing is lost.
      </p>
      <Wide name="Holds">
        <table>
          <thead>
            <tr>
              <th>User, app or key</th>
              <th className="number">Used</th>
              <th className="number">Limit</th>
              <th>Since</th>
              <th />
            </tr>
          </thead>
          <tbody>
            {held.map((hold) => (
              <tr key={hold.id}>
                <td>
                  {hold.kind} {hold.of}
                </td>
                <td className="number">
                  {hold.used.toLocaleString('en')} {hold.measure}
                </td>
                <td className="number">{hold.limit.toLocaleString('en')}</td>
                <td>
                  <Moment iso={hold.held_at} />
                </td>
                <td>
                  <Action
                    run={() => api.send('POST /v1/holds/{id}/release', { params: { id: hold.id } })}
                    touches={[HOLDS]}
                  >
                    Release
                  </Action>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </section>
  );
}
