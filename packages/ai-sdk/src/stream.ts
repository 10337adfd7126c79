import type { LanguageModelMiddleware } from 'ai';
import type { Content } from './messages.ts';

type DoStream = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0]['doStream'];
type Parts = Awaited<ReturnType<DoStream>>['stream'];
type StreamPart = Parts extends ReadableStream<infer P> ? P : never;

/** The same stream; when it ends, breaks or is left, `done` is told once what came until then. */
export function collected(stream: Parts, done: (content: Content) => void): Parts {
  const reader = stream.getReader();
  const texts = new Map<string, { type: 'text'; text: string }>();
  const content: Content = [];
  let told = false;
  const end = (): void => {
    if (!told) done(content);
    told = true;
  };
  /** The text of a block, which grows. */
  const textOf = (id: string): { text: string } => {
    const text = texts.get(id) ?? { type: 'text', text: '' };
    if (!texts.has(id)) content.push(text);
    texts.set(id, text);
    return text;
  };
  const collect = (part: StreamPart): void => {
    if (part.type === 'text-delta') textOf(part.id).text += part.delta;
    if (part.type === 'tool-call' || part.type === 'tool-result') content.push(part);
  };
  return new ReadableStream<StreamPart>({
    pull: async (controller) => {
      try {
        const { done: isOver, value } = await reader.read();
        if (!isOver) {
          collect(value);
          controller.enqueue(value);
          return;
        }
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      end();
    },
    cancel: async (reason) => {
      end();
      await reader.cancel(reason);
    },
  });
}
