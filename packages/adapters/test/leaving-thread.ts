import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostThread, methodHost } from '../src/system/thread-host.ts';

/** A thread that writes down how it ends. */
hostThread<{ readonly note: string; readonly fails: boolean }>(({ note, fails }) => {
  const ended: string[] = [];
  process.on('exit', () => writeFileSync(note, [...ended, 'left'].join(', ')));
  if (fails) throw new Error('no such luck');
  const slow = async (answer: string): Promise<string> => {
    await sleep(20);
    return answer;
  };
  let last: Promise<unknown> = Promise.resolve();
  const methods = {
    slow: (answer: string) => {
      last = slow(answer);
      return last;
    },
  };
  return methodHost(methods, async () => {
    await last;
    ended.push('closed');
  });
});
