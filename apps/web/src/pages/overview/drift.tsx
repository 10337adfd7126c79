import type { Operations } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { Loading, Problem } from '../../ui/states.tsx';
import { Wide } from '../../ui/wide.tsx';

type Seen = Operations['GET /v1/drift']['answer'];
type Figure = Seen['figures'][number];

const OPINIONS: Readonly<Record<Seen['opinions'][number]['of'], string>> = {
  consolidations: 'Undone consolidations',
  reviews: 'Rejected reviews',
  ratings: 'Negative ratings',
  outcomes: 'Bad outcomes',
};

const TONES = { fine: 'good', worse: 'bad', unclear: 'quiet' } as const;

/** How consolidations went in the last seven days, against the 28 before. */
export function Drift() {
  const [model, setModel] = useState<string>('');
  const { data, error, refetch } = useQuery({
    queryKey: ['drift', model],
    queryFn: ({ signal }) => api.send('GET /v1/drift', { query: model === '' ? {} : { model } }, { signal }),
  });
  return (
    <section aria-label="Drift">
      <h2>Drift</h2>
      {data !== undefined && <Compared drift={data} model={model} choose={setModel} />}
      {data === undefined && (error === null ? <Loading /> : <Problem error={error} retry={refetch} />)}
    </section>
  );
}

interface Choosing {
  readonly drift: Seen;
  readonly model: string;
  readonly choose: (model: string) => void;
}

function Compared({ drift, model, choose }: Choosing) {
  const { figures, opinions, models } = drift;
  const worse = figures.filter(({ verdict }) => verdict === 'worse');
  if (models.length === 0) return <p className="quiet">Nothing was consolidated in the last 35 days.</p>;
  return (
    <>
      <p className="quiet">
        The last 7 days compared with the 28 days before
        {models.length > 1 && (
          <>
            , for{' '}
            <select aria-label="Chat model" value={model} onChange={({ target }) => choose(target.value)}>
              <option value="">all models</option>
              {models.map((one) => (
                <option key={one.model}>{one.model}</option>
              ))}
            </select>
          </>
        )}
        .{' '}
        {worse.length === 0
          ? 'No figure is significantly worse.'
          : `Significantly worse: ${worse.map(({ figure }) => nameOf(figure)).join(', ')}.`}
      </p>
      <div className="grid figures">
        {opinions.map(({ of, before, recent }) => (
          <section className="card" key={of}>
            <span className="figure">{shareOf(recent)}</span>
            <span className="quiet">
              {OPINIONS[of]}; before: {shareOf(before)}
            </span>
          </section>
        ))}
      </div>
      <details>
        <summary>All figures</summary>
        <Wide name="Figures of consolidations">
          <table>
            <thead>
              <tr>
                <th>Figure</th>
                <th className="number">Before</th>
                <th className="number">Recent</th>
                <th>Verdict</th>
                <th>Meaning</th>
              </tr>
            </thead>
            <tbody>
              {figures.map((one) => (
                <tr key={one.figure}>
                  <td>{nameOf(one.figure)}</td>
                  <td className="number">{shownValue(one, one.before)}</td>
                  <td className="number">{shownValue(one, one.recent)}</td>
                  <td>
                    <span className={`tag ${TONES[one.verdict]}`}>{one.verdict}</span>
                  </td>
                  <td className="quiet">{one.says}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      </details>
    </>
  );
}

const nameOf = (figure: string): string => figure.replaceAll('_', ' ');

const shareOf = ({ against, of }: { against: number; of: number }): string =>
  of === 0 ? '–' : percentOf(against / of);

const percentOf = (share: number): string => `${(share * 100).toLocaleString('en', { maximumFractionDigits: 1 })}%`;

function shownValue({ kind }: Figure, value: number | null): string {
  if (value === null) return '–';
  return kind === 'share' ? percentOf(value) : value.toLocaleString('en', { maximumSignificantDigits: 3 });
}
