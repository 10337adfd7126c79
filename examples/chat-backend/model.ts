export interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Answers a prompt. */
export type Model = (prompt: readonly Turn[]) => Promise<string>;

/** Any API of the kind of OpenAI's chat completions. */
export function chatModel({ url, key, model }: { url: string; key: string; model: string }): Model {
  return async (messages) => {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages }),
    });
    if (!response.ok) throw new Error(`the model answered ${response.status}: ${await response.text()}`);
    const { choices } = (await response.json()) as { choices: readonly { message: { content: string } }[] };
    return choices[0]?.message.content ?? '';
  };
}

/** Without a model: says what a model would have been told about the user. */
export const standIn: Model = async (prompt) => {
  const told = prompt.filter(({ role }) => role === 'system').flatMap(({ content }) => content.split('\n'));
  const facts = told.filter((line) => line.startsWith('- [m'));
  return facts.length === 0 ? 'I know nothing about you yet.' : `I know: ${facts.map(withoutMark).join('; ')}`;
};

/** "- [m1] 2026-03-01 Likes tea" → "Likes tea" */
const withoutMark = (line: string): string => line.split(' ').slice(3).join(' ');
