import type { Api } from '../api.ts';
import { textOf, userOf } from './said.ts';

export interface Load {
  readonly users: number;
  readonly batches: number;
  /** Posts that wait for their answer at a time. */
  readonly connections: number;
  /** Called after every acknowledged batch, with how many there are. */
  readonly onPosted?: (posted: number) => void;
}

/** The ids of each user's batches, in the order in which they were posted. */
export type Posted = readonly (readonly string[])[];

/** Everybody's first batch, then everybody's second, and so on: a user's next one is posted when the last was acknowledged. */
export async function postLoad(api: Api, { users, batches, connections, onPosted = () => {} }: Load): Promise<Posted> {
  const ids: string[][] = Array.from({ length: users }, () => []);
  const last: Promise<void>[] = ids.map(() => Promise.resolve());
  let taken = 0;
  let posted = 0;
  const post = async (user: number, batch: number): Promise<void> => {
    const body = { user_id: userOf(user), messages: [{ role: 'user', content: textOf(user, batch) }] };
    const key = { 'idempotency-key': `${user}/${batch}` };
    const { batch_id } = await api.post<{ batch_id: string }>('/v1/batches', body, key);
    ids[user]?.push(batch_id);
    posted += 1;
    onPosted(posted);
  };
  const worker = async (): Promise<void> => {
    for (let i = taken++; i < users * batches; i = taken++) {
      const user = i % users;
      const batch = Math.floor(i / users);
      const mine = (last[user] as Promise<void>).then(() => post(user, batch));
      last[user] = mine;
      await mine;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  return ids;
}
