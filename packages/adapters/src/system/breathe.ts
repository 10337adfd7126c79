/** How long one piece of work may keep the event loop: with what others do in between, answers stay under 10 ms late. */
const TURN_MS = 4;

const waiting: (() => void)[] = [];
let turnBegan = 0;

/**
 * Waits for a turn of the event loop where the last one was over TURN_MS ago; else goes on at once. Of many that wait, one
 * goes on in each turn: what came in meanwhile is answered in between.
 */
export function breathe(): Promise<void> {
  if (performance.now() - turnBegan < TURN_MS) return Promise.resolve();
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(nextTurn);
  });
}

function nextTurn(): void {
  turnBegan = performance.now();
  const next = waiting.shift();
  if (waiting.length > 0) setImmediate(nextTurn);
  next?.();
}
