import { expect, it } from 'vitest';
import type { ChatDelta } from '../../../src/domain/chat/chat.ts';
import { unparsedExchange } from '../../../src/wire/exchange.ts';
import { fedStream } from '../../support/byte-streams.ts';

it('an unparsed answer has no deltas, and ends or fails with its bytes', async () => {
  for (const failure of [null, new Error('cut')]) {
    const source = fedStream();
    const exchange = unparsedExchange({ status: 200, headers: {} }, source, { unit: 'character', count: 5 });
    expect(exchange.outcome()).toMatchObject({ usage: null, measured: { unit: 'character', count: 5 } });
    const reading = (async () => {
      const steps: ChatDelta[] = [];
      for await (const step of exchange.deltas()) steps.push(step);
      return steps;
    })();
    source.feed('sound');
    if (failure === null) source.finish();
    else source.break(failure);
    const outcome = await reading.catch((error: unknown) => error);
    expect(outcome).toEqual(failure ?? []);
  }
});

it('ending the deltas of an unparsed answer early cancels the upstream call', async () => {
  const source = fedStream();
  const steps = unparsedExchange({ status: 200, headers: {} }, source, undefined).deltas();
  await steps.return?.();
  expect(source.cancelled).toBe(true);
});
