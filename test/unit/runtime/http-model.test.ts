import { expect, it } from 'vitest';
import { CHECK_MS, LIMIT, World } from '../../support/http-model.ts';

const STEPS = Number(process.env['LENSGATE_HTTP_STEPS'] ?? 100_000);
const SEED = Number(process.env['LENSGATE_HTTP_SEED'] ?? 18);
/** Awaited to run the callbacks of settled promises. */
const settledPromise = Promise.resolve();

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

async function run(world: World, steps: number): Promise<void> {
  const { random } = world;
  const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  for (let step = 0; step < steps; step += 1) {
    const calls = [...world.calls.values()];
    const wires = world.network.open();
    const [call, wire] = [oneOf(calls), oneOf(wires)];
    const kind = random(100);
    if (kind < 16) {
      if (calls.length < 40) world.make();
    } else if (kind < 30) {
      if (wire) world.connect(wire);
    } else if (kind < 62) {
      for (const each of random(4) === 0 ? wires : wire ? [wire] : []) world.serve(each);
    } else if (kind < 66) {
      if (wire) world.disturb(wire);
    } else if (kind < 72) {
      if (call) world.resume(call);
    } else if (kind < 76) {
      if (call) world.pipe(call);
    } else if (kind < 78) {
      if (call) world.cancel(call);
    } else if (kind < 80) {
      if (call) world.abort(call);
    } else if (kind < 83) {
      if (wire) wire.unwritten = 0;
    } else if (kind < 92) world.time.advance(random(10) === 0 ? random(6_000) : random(100));
    else await turn();
    await settledPromise;
    await settledPromise;
    world.check();
  }
}

/** Ends all calls that can end, and advances to the deadlines of the others. */
async function settle(world: World): Promise<void> {
  world.calm = true;
  for (let round = 0; round < 400 && world.calls.size > 0; round += 1) {
    await turn();
    for (const wire of world.network.open()) {
      world.connect(wire);
      world.serve(wire);
      wire.unwritten = 0;
    }
    await turn();
    for (const call of world.calls.values()) {
      world.pipe(call);
      world.resume(call);
    }
    world.time.advance(CHECK_MS);
    await turn();
    world.check();
  }
}

it(`every call ends once, in time and with its own answer: ${STEPS} random steps`, async () => {
  const world = new World(SEED);
  try {
    await run(world, STEPS);
    await settle(world);
    expect(world.calls.size).toBe(0);
    const closing = world.http.close();
    await closing;
    world.time.advance(CHECK_MS);
    expect(world.http.connections()).toEqual({ active: 0, idle: 0, waiting: 0, limit: LIMIT });
    expect([world.network.open().length, world.time.timers]).toEqual([0, 0]);
    // A run of the default length covers every kind of end.
    const kinds = ['aborted', 'cancelled', 'cut', 'done', 'garbled', 'stalled', 'thrown', 'timeout', 'unreachable'];
    expect(STEPS < 100_000 || [...world.ends.keys()].toSorted()).toEqual(STEPS < 100_000 || kinds);
  } catch (error) {
    throw new Error(`LENSGATE_HTTP_SEED=${SEED}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
});
