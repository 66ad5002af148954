import { expect, it } from 'vitest';
import { CHECK_MS, LIMIT, ModelledClient } from '../../support/http-model.ts';

const STEPS = Number(process.env['LENSGATE_HTTP_STEPS'] ?? 100_000);
const SEED = Number(process.env['LENSGATE_HTTP_SEED'] ?? 18);
/** Awaited to run the callbacks of settled promises. */
const settledPromise = Promise.resolve();

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

async function run(model: ModelledClient, steps: number): Promise<void> {
  const { random } = model;
  const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)];
  for (let step = 0; step < steps; step += 1) {
    const calls = [...model.calls.values()];
    const wires = model.network.open();
    const [call, wire] = [oneOf(calls), oneOf(wires)];
    const kind = random(100);
    if (kind < 16) {
      if (calls.length < 40) model.make();
    } else if (kind < 30) {
      if (wire) model.connect(wire);
    } else if (kind < 62) {
      // One step of four serves all connections, the others serve one.
      const served = random(4) === 0 ? wires : [wire];
      for (const each of served) if (each) model.serve(each);
    } else if (kind < 66) {
      if (wire) model.disturb(wire);
    } else if (kind < 72) {
      if (call) model.resume(call);
    } else if (kind < 76) {
      if (call) model.pipe(call);
    } else if (kind < 78) {
      if (call) model.cancel(call);
    } else if (kind < 80) {
      if (call) model.abort(call);
    } else if (kind < 83) {
      if (wire) wire.unwritten = 0;
    } else if (kind < 92) model.time.advance(random(10) === 0 ? random(6_000) : random(100));
    else await turn();
    await settledPromise;
    await settledPromise;
    model.check();
  }
}

/** Ends all calls that can end, and advances to the deadlines of the others. */
async function settle(model: ModelledClient): Promise<void> {
  model.calm = true;
  for (let round = 0; round < 400 && model.calls.size > 0; round += 1) {
    await turn();
    for (const wire of model.network.open()) {
      model.connect(wire);
      model.serve(wire);
      wire.unwritten = 0;
    }
    await turn();
    for (const call of model.calls.values()) {
      model.pipe(call);
      model.resume(call);
    }
    model.time.advance(CHECK_MS);
    await turn();
    model.check();
  }
}

it(`every call ends once, in time and with its own answer: ${STEPS} random steps`, async () => {
  const model = new ModelledClient(SEED);
  try {
    await run(model, STEPS);
    await settle(model);
    expect(model.calls.size).toBe(0);
    const closing = model.http.close();
    await closing;
    model.time.advance(CHECK_MS);
    expect(model.http.connections()).toEqual({ active: 0, idle: 0, waiting: 0, limit: LIMIT });
    expect([model.network.open().length, model.time.timers]).toEqual([0, 0]);
    // A run of the default length covers every kind of end.
    const kinds = ['aborted', 'cancelled', 'cut', 'done', 'garbled', 'stalled', 'thrown', 'timeout', 'unreachable'];
    expect(STEPS < 100_000 || [...model.ends.keys()].toSorted()).toEqual(STEPS < 100_000 || kinds);
  } catch (error) {
    throw new Error(`LENSGATE_HTTP_SEED=${SEED}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
});
