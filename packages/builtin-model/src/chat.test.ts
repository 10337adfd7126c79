import { EngineError } from '@slowwave/engine';
import { describe, expect, it } from 'vitest';
import { builtinChat } from './index.ts';
import { ask, NOW } from './testing/ask.ts';

const NEVER = new AbortController().signal;
const message = (content: string, role = 'user') => ({ id: 'm0', role, content, timestamp: NOW, name: null });

async function failure(name: string, user: string): Promise<unknown> {
  return builtinChat()
    .ask({ name, system: '', user, schema: {} }, NEVER)
    .catch((error: unknown) => error);
}

describe('builtin chat', () => {
  it('counts what it reads and writes', async () => {
    const user = `Find.\n${JSON.stringify({ context: {}, messages: [message('I live in Oslo')] })}`;
    const answer = await builtinChat().ask({ name: 'extract_facts', system: 'Find facts.', user, schema: {} }, NEVER);
    expect(answer.model).toBe('builtin');
    expect(answer.truncated).toBe(false);
    expect(answer.usage.promptTokens).toBeGreaterThan(20);
    expect(answer.usage.completionTokens).toBeGreaterThan(20);
  });

  it('reads an object that spans lines, and braces in the words before it', async () => {
    const user = `{not json}\nFind.\n${JSON.stringify({ messages: [message('I live in Oslo')] }, null, 2)}`;
    const { text } = await builtinChat().ask({ name: 'extract_facts', system: '', user, schema: {} }, NEVER);
    expect(text).toContain('User lives in Oslo');
  });

  it('does again what it is asked to repair', async () => {
    const input = { messages: [message('I live in Oslo')] };
    expect(await ask('repair_output', { call: 'extract_facts', problem: '', broken: '', input })).toEqual(
      await ask('extract_facts', input),
    );
  });

  it('sums up the last statements of the user', async () => {
    const messages = [message('I live in Oslo. How are you?'), message('Fine.', 'assistant'), message('I like tea.')];
    expect(await ask('refresh_summary', { summary: 'I am Ana', messages })).toEqual({
      summary: 'I am Ana\nI live in Oslo\nI like tea',
    });
  });

  it('does not sum up a wish to forget', async () => {
    const messages = [message('I like tea. Please forget that I smoke.')];
    expect(await ask('refresh_summary', { summary: null, messages })).toEqual({ summary: 'I like tea' });
  });

  it('lists every step of a procedure with its output', async () => {
    const messages = [message('Open the page'), { ...message('HTTP 200\n<html>', 'tool'), name: 'browser' }];
    expect(await ask('summarize_procedure', { messages })).toEqual({
      summary: '1. user: Open the page\n2. tool browser: HTTP 200\n<html>',
    });
  });

  it.each([
    ['describe_image', '{}', 'unsupported_content'],
    ['write_poem', '{}', 'model_misconfigured'],
    ['extract_facts', 'no object', 'model_misconfigured'],
  ])('refuses %s with %s for good', async (name, user, code) => {
    const error = await failure(name, user);
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({ code, retryable: false });
  });

  it('stops when cancelled', async () => {
    const asked = builtinChat().ask({ name: 'extract_facts', system: '', user: '{}', schema: {} }, AbortSignal.abort());
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
  });
});
