import { hostThread, methodHost, notify } from '../system/thread-host.ts';
import { openCluster } from './pglite-image.ts';

/** What the thread is started with. */
export interface PgliteInit {
  readonly imagePath: string;
  /** The version of the queue's tables that the queue library wants. */
  readonly schemaVersion: number;
}

/** How the cluster came to be. */
export interface PgliteStart {
  readonly from: 'image' | 'nothing';
  /** What was wrong with the image, or with writing it. */
  readonly problem: string | null;
}

/** Errors travel as values: an error that crosses a thread keeps its message only, and the library reads SQL codes. */
export type PgliteAnswer =
  | { readonly ok: true; readonly rows: Record<string, unknown>[]; readonly rowCount: number }
  | { readonly ok: false; readonly error: Record<string, unknown> };

export interface PgliteNotice {
  readonly channel: string;
  readonly payload: string;
}

hostThread<PgliteInit>(async (init) => {
  const { db, start } = await openCluster(init);
  db.onNotification((channel, payload) => notify({ channel, payload } satisfies PgliteNotice));
  const query = async (text: string, params: unknown[]): Promise<PgliteAnswer> => {
    try {
      // Without parameters it may be several statements, as node-postgres allows; the last one answers.
      const result = params.length > 0 ? await db.query(text, params) : (await db.exec(text)).at(-1);
      const rows = (result?.rows ?? []) as Record<string, unknown>[];
      return { ok: true, rows, rowCount: result?.affectedRows || rows.length };
    } catch (error) {
      return { ok: false, error: fieldsOf(error) };
    }
  };
  return methodHost({ query, start: () => start }, () => db.close());
});

/** The message and all fields of a database error. */
function fieldsOf(thrown: unknown): Record<string, unknown> {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const own = Object.entries(thrown).filter(([, value]) => typeof value === 'string' || typeof value === 'number');
  return { ...Object.fromEntries(own), message: thrown.message };
}
