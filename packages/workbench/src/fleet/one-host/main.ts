/**
 * One of several processes on one host that share the file of the index. The programs themselves refuse that where the
 * ledger is in PostgreSQL, because they might run on several hosts; with it they are tried where no Qdrant is at hand.
 * Arguments: the name of the program.
 */
const ROOT = '../../../../..';

const load = (path: string): Promise<never> => import(new URL(`${ROOT}/${path}`, import.meta.url).href) as never;

interface Service {
  readonly url: string;
  close(): Promise<void>;
}

const { readStandaloneConfig }: { readStandaloneConfig(flags: object): object } = await load(
  'packages/adapters/src/config/index.ts',
);
const { serve }: { serve(start: () => Promise<Service>): Promise<void> } = await load('packages/http/src/index.ts');
const { compose }: { compose(config: object): Promise<Service> } = await load(`apps/${process.argv[2]}/src/compose.ts`);

await serve(() => compose(readStandaloneConfig({})));
