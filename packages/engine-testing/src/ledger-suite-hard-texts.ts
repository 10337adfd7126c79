import { expect, it } from 'vitest';
import { added, details, home, newMessage, updated } from './builders.ts';
import { HARD_TEXTS } from './hard-texts.ts';
import { ALL, type Bench, laneOf, store, TENANT, write } from './ledger-bench.ts';

/** Whatever callers write word for word comes back as it was, from every ledger. */
export function describeHardTexts(bench: () => Bench): void {
  // Routes refuse half a character in the text of a memory: not every store has a place for it.
  const whole = HARD_TEXTS.filter(([, text]) => text.isWellFormed());
  it.each(whole)('a memory with %s is kept, with its metadata, and in its history', async (_what, text) => {
    const b = bench();
    await store(b);
    const { id: lane } = await laneOf(b);
    const given = { text, details: details({ quote: text, metadata: metadataOf(text) }) };
    const born = added(b.tools, home(lane), given);
    await write(b, born);
    const next = `${text} and sugar`;
    await write(b, updated(b.tools, born.memory, { text: next }));
    const memory = await b.ledger.memories.get(TENANT, born.memory.id);
    expect(memory?.versions.map((version) => version.text)).toEqual([text, next]);
    expect(memory?.versions[0]?.details).toMatchObject({ quote: text, metadata: metadataOf(text) });
    const { results } = await b.ledger.memories.history(TENANT, born.memory.id, ALL);
    expect(results.map((one) => one.text)).toEqual([text, next]);
  });

  it.each(HARD_TEXTS)('a message with %s is kept, and the metadata of its batch', async (_what, text) => {
    const b = bench();
    const contents = [text, [{ type: 'text' as const, text }]];
    const messages = contents.map((content) => newMessage(b.tools, { content }));
    const { batch } = await store(b, { messages, metadata: metadataOf(text) });
    const { id: lane } = await laneOf(b);
    const kept = await b.ledger.contents.messages(lane, 0, 10);
    expect(kept.map(({ content }) => content)).toEqual(contents);
    expect((await b.ledger.batches.get(TENANT, batch.id))?.metadata).toEqual(metadataOf(text));
  });
}

const metadataOf = (text: string) => ({ note: text, list: [text] });
