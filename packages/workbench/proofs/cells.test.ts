import { setTimeout as sleep } from 'node:timers/promises';
import { systemTools } from '@slowwave/adapters/system';
import { DEFAULT_TENANT, ownerKeyOf } from '@slowwave/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiAt } from '../src/api.ts';
import { accountsOf } from '../src/cells/accounts.ts';
import { startLife } from '../src/cells/life.ts';
import { type Part, type Stage, startStage } from '../src/cells/stage.ts';
import { untilQuiet } from '../src/fleet/quiet.ts';

// biome-ignore lint/style/noProcessEnv: ./scripts/prove cells says how large it is
const given = (name: string, usual: number): number => Number(process.env[name] ?? usual);

const CELLS = given('CELLS', 3);
/** Of each cell. */
const OWNERS = given('CELLS_OWNERS', 12);
const MOVES = given('CELLS_MOVES', 40);
const KILLS = given('CELLS_KILLS', 6);
const CALLERS = given('CELLS_CALLERS', 6);
const PAUSE_MS = given('CELLS_PAUSE_MS', 50);
const SECONDS = given('CELLS_SECONDS', 1_800);

const ROUTERS = 2;
/** Each cell is added to the first ones while callers post and search. */
const WITHIN_MS = SECONDS * 1_000;
const SETTLED_WITHIN_MS = 300_000;

let stage: Stage;
beforeEach(async () => {
  stage = await startStage({ cells: CELLS, routers: ROUTERS, moves: 4 });
}, 300_000);
afterEach(() => stage.close(), 60_000);

const owners = Array.from({ length: CELLS * OWNERS }, (_, i) => `user-${i + 1}`);
const anyOf = <One>(list: readonly One[]): One => list[Math.floor(Math.random() * list.length)] as One;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

test(
  'owners move between cells while cells, routers and movers are killed: nothing is lost or doubled, and everybody is searchable',
  async () => {
    const began = performance.now();
    const { routers, apiKey } = stage;
    const life = startLife({ routers, apiKey, owners, callers: CALLERS, pauseMs: PAUSE_MS });
    for (const { name, url } of stage.cells.slice(1)) {
      await stage.cli('add', name, url, '--later');
      await untilMoved(`slots to ${name}`);
    }
    const killed = await movedUnderFire();
    const seen = await life.end();
    say('callers are done; waiting for what is under way');
    await untilMoved('the last ones');
    for (const { url } of stage.cells) await untilQuiet(apiAt(url, apiKey), { withinMs: SETTLED_WITHIN_MS });
    const accounts = await accountsOf(stage, seen);
    const { counts } = await stage.directory.moves(0);
    say(table(accounts.cells));
    say(
      [
        `${MOVES} moves asked, ${counts.given_up} given up; ${killed.cells} cells and ${killed.routers} routers killed`,
        `${seen.posts} posts, ${seen.searches} searches, ${seen.again} sent again; ${seen.empty.length} empty, ${seen.wrong.length} wrong`,
        `accepted ${accounts.accepted}, gap ${accounts.gap}, parked ${accounts.parked}, misses ${accounts.misses.length}`,
        `${((performance.now() - began) / 1_000).toFixed(0)} s`,
      ].join('\n'),
    );
    expect(accounts).toMatchObject({ misses: [], gap: 0, parked: 0, accepted: seen.posts });
    expect({ empty: seen.empty, wrong: seen.wrong }).toEqual({ empty: [], wrong: [] });
    expect(counts.given_up).toBe(0);
  },
  WITHIN_MS + SETTLED_WITHIN_MS,
);

/** Asks for moves a few at a time, and kills something now and then. */
async function movedUnderFire(): Promise<{ readonly cells: number; readonly routers: number }> {
  const killed = { cells: 0, routers: 0 };
  for (let asked = 0; asked < MOVES; ) {
    asked += await stage.directory.askMoves(Array.from({ length: MOVES_AT_ONCE }, anyMove));
    const due = Math.floor((asked / MOVES) * KILLS);
    while (killed.cells + killed.routers < due) {
      const isRouter = (killed.cells + killed.routers) % 3 === 2;
      const victim: Part = anyOf(isRouter ? stage.routers : stage.cells);
      await victim.restart();
      killed[isRouter ? 'routers' : 'cells'] += 1;
      say(`killed ${victim.name}, ${asked} of ${MOVES} moves asked`);
    }
    await untilFewer(MOVES_AT_ONCE);
  }
  return killed;
}

const MOVES_AT_ONCE = 8;

function anyMove() {
  const owned = { tenant: DEFAULT_TENANT, owner: { kind: 'user', id: anyOf(owners) } } as const;
  const destination = anyOf(stage.cells).name;
  return { ...owned, key: ownerKeyOf(systemTools, owned), destination, moveId: systemTools.id('mov') };
}

async function leftToMove(): Promise<number> {
  const { copying, departing, arriving, leaving_off } = (await stage.directory.moves(0)).counts;
  return copying + departing + arriving + leaving_off;
}

async function untilFewer(left: number): Promise<void> {
  while ((await leftToMove()) > left) await sleep(100);
}

async function untilMoved(what: string): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  for (let looked = 0; ; looked += 1) {
    const [left, handovers] = [await leftToMove(), (await stage.directory.handovers()).length];
    if (left + handovers === 0) return;
    if (looked % 20 === 0) say(`${what}: ${handovers} handovers and ${left} owners are under way`);
    if (performance.now() > deadline) throw new Error(`${what}: expected all to be moved, got ${left} that are not`);
    await sleep(250);
  }
}

const table = (cells: readonly { cell: string; owners: number; batches: number }[]): string =>
  [
    'cell       owners  batches',
    ...cells.map((one) => `${one.cell.padEnd(9)} ${String(one.owners).padStart(7)} ${String(one.batches).padStart(8)}`),
  ].join('\n');
