import { hostThread, methodHost } from '../src/system/thread-host.ts';

/** A thread that answers how often it was asked, until it is told to die. */
hostThread(() => {
  let asked = 0;
  const methods = {
    ask: () => {
      asked += 1;
      return asked;
    },
    die: () => process.exit(1),
  };
  return methodHost(methods, () => {});
});
