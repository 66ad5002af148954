import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { Unauthenticated, Unavailable } from '../../../src/domain/errors.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { aSession, settled, usd } from '../../support/realtime-session.ts';

/*
 * The limits of `aSession`: a peer gets a ping after 30 ms without data. It counts as disconnected after 75 ms without
 * data, or 60 ms without reading. A session lasts 1,000 ms without events, and 5,000 ms at most. Its key is checked
 * every 200 ms, and two forbidden models are tolerated. An answer `used` costs one dollar, and an open session reserves
 * one dollar. The caller's message `name x` names the model `x`, and the message `bug` causes an internal fault.
 */

describe('a peer that reads too slowly', () => {
  it.each([
    ['the caller', 'client', 'vendor'],
    ['the upstream', 'vendor', 'client'],
  ] as const)('pauses the other peer until all pending messages are sent: %s', async (_who, slow, fast) => {
    const setup = await aSession();
    setup[slow].state.full = true;
    setup[fast].say('one');
    setup[fast].say('two');
    expect(setup[fast].calls).toEqual(['(pause)']);
    setup[slow].state.full = false;
    setup[slow].currentListener().drained();
    expect([setup[fast].calls, setup[slow].calls]).toEqual([
      ['(pause)', '(resume)'],
      ['one', 'two'],
    ]);
  });

  it('counts as disconnected when none of its pending messages is sent', async () => {
    const { client, vendor, wait, ends } = await aSession();
    client.state.full = true;
    client.state.waiting = 100;
    vendor.say('one');
    wait(50);
    client.currentListener().alive();
    client.state.waiting = 99;
    wait(50);
    client.currentListener().alive();
    wait(60);
    expect(ends()).toEqual([]);
    wait(1);
    expect(ends()).toEqual([['failure', 'CLIENT_GONE']]);
    expect(vendor.calls.at(-1)).toBe('(close 1000)');
  });

  it('causes no ping to the other peer while that peer is paused', async () => {
    const { client, vendor, wait, ends } = await aSession();
    client.state.full = true;
    client.state.waiting = 1_000;
    vendor.say('one');
    for (let checks = 0; checks < 10; checks += 1) {
      client.state.waiting -= 10;
      client.currentListener().alive();
      wait(30);
    }
    expect([ends(), vendor.calls]).toEqual([[], ['(pause)']]);
  });
});

describe('a peer that sends nothing', () => {
  it('gets a ping, and stays when it answers', async () => {
    const { client, vendor, wait, ends } = await aSession();
    for (let checks = 0; checks < 4; checks += 1) {
      wait(31);
      client.currentListener().alive();
      vendor.currentListener().alive();
    }
    expect([client.calls, vendor.calls, ends()]).toEqual([Array(4).fill('(ping)'), Array(4).fill('(ping)'), []]);
  });

  it.each([
    ['the caller', 'vendor', ['failure', 'CLIENT_GONE']],
    ['the upstream', 'client', ['failure', 'UPSTREAM_FAILED']],
  ] as const)('counts as disconnected without an answer: %s', async (_who, alive, end) => {
    const setup = await aSession();
    for (let checks = 0; checks < 3; checks += 1) {
      setup.wait(25);
      setup[alive].currentListener().alive();
    }
    expect(setup.ends()).toEqual([]);
    setup.wait(1);
    expect(setup.ends()).toEqual([end]);
    expect(setup.client.calls.at(-1)).toMatch(/^\(close (1001|1011)\)$/);
    expect(setup.vendor.calls.at(-1)).toBe('(close 1000)');
  });
});

/** Advances the clock in steps of 20 ms. Both peers are active before each step. */
function keepAlive(setup: Awaited<ReturnType<typeof aSession>>, ms: number): void {
  for (let passedMs = 0; passedMs < ms; passedMs += 20) {
    setup.client.currentListener().alive();
    setup.vendor.currentListener().alive();
    setup.wait(20);
  }
}

describe('a session', () => {
  it('ends after an idle time without an error, with the reason', async () => {
    const setup = await aSession();
    keepAlive(setup, 900);
    setup.client.say('still here');
    keepAlive(setup, 1_000);
    expect(setup.ends()).toEqual([]);
    keepAlive(setup, 20);
    expect(setup.ends()).toEqual([['success', null]]);
    // The idle time is one second, which is rounded to 0 minutes.
    expect(setup.client.calls.slice(-2)).toEqual(['/realtime: The session was idle for 0 minutes.', '(close 1001)']);
    expect(setup.ended).toHaveLength(1);
  });

  it('has a maximum duration, for any number of events', async () => {
    const setup = await aSession();
    while (setup.ends().length === 0) {
      setup.client.say('on and on');
      setup.vendor.currentListener().alive();
      setup.wait(20);
    }
    expect(setup.ends()).toEqual([['success', null]]);
    expect(setup.client.calls.at(-1)).toBe('(close 1001)');
    // One message at the start, and one every 20 ms for 5,000 ms.
    expect(setup.vendor.calls.filter((call) => call === 'on and on')).toHaveLength(251);
  });

  it('ends when its key is no longer valid, but not when the key cannot be read', async () => {
    const answers: (Caller | Error)[] = [
      aCaller(),
      new Unavailable('no store'),
      new Unauthenticated('gone', 'blocked'),
    ];
    const identify = async (): Promise<Caller> => {
      const answer = answers.shift() ?? new Error('asked too often');
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const setup = await aSession({ identify });
    for (const remainingAnswers of [2, 1]) {
      keepAlive(setup, 220);
      await settled();
      expect([answers.length, setup.ends()]).toEqual([remainingAnswers, []]);
    }
    keepAlive(setup, 220);
    await settled();
    expect(setup.ends()).toEqual([['failure', 'UNAUTHENTICATED']]);
    expect(setup.client.calls.slice(-2)).toEqual(['gone', '(close 1008)']);
  });

  it('ends when its key may no longer call the model, or after too many messages with forbidden models', async () => {
    const setup = await aSession({ identify: () => aCaller(aKey({ models: ['another'] })) });
    setup.client.say('name other');
    expect(setup.vendor.calls).toEqual(['name other']);
    keepAlive(setup, 220);
    await settled();
    expect(setup.ends()).toEqual([['failure', 'FORBIDDEN']]);

    const repeating = await aSession({ caller: aCaller(aKey({ models: ['m'] })) });
    for (let attempt = 0; attempt < 3; attempt += 1) repeating.client.say('name other');
    expect(repeating.ends()).toEqual([['failure', 'FORBIDDEN']]);
    expect(repeating.client.calls.at(-1)).toBe('(close 1008)');
    expect(repeating.vendor.calls).toEqual(['(close 1000)']);
  });

  it('is charged for each answer, and ends when the budget is used up', async () => {
    const setup = await aSession({ caller: aCaller(aKey({ maxBudget: usd('1.5') })) });
    setup.vendor.say('used');
    await settled();
    expect(setup.ends()).toEqual([]);
    setup.vendor.say('used');
    await settled();
    expect(setup.ends()).toEqual([['failure', 'LIMIT_EXCEEDED']]);
    await expect(setup.open()).rejects.toThrow('Budget has been exceeded!');
  });

  it('has a reservation for its next turn while it is open, and releases it at its end', async () => {
    const setup = await aSession({ caller: aCaller(aKey({ maxBudget: usd('4') })) });
    const secondSession = await setup.open();
    const refusalAt = (limit: string, amount = 1n) =>
      setup.admission.check([{ counter: `key:${aKey().hash}`, limit: usd(limit), amount, refused: 'at' }]);
    expect([refusalAt('2'), refusalAt('3')]).toEqual([expect.objectContaining({ used: 0n, reserved: usd('2') }), null]);
    setup.vendor.say('used');
    setup.vendor.say('used');
    await settled();
    expect(setup.ends()).toEqual([]);
    expect([refusalAt('4'), refusalAt('5')]).toEqual([
      expect.objectContaining({ used: usd('2'), reserved: usd('2') }),
      null,
    ]);
    secondSession.abandon();
    setup.client.currentListener().ended({ kind: 'cut' });
    expect(setup.admission.counts()).toEqual({ open: 0, expired: 0 });
    expect([refusalAt('2', 0n), refusalAt('3')]).toEqual([
      expect.objectContaining({ used: usd('2'), reserved: 0n }),
      null,
    ]);
  });

  it('releases its reservation when it does not open', async () => {
    let opened = 0;
    const setup = await aSession({
      caller: aCaller(aKey({ maxBudget: usd('2') })),
      async open(upstream) {
        opened += 1;
        if (opened > 1) throw new TypeError('no');
        return upstream;
      },
    });
    for (let attempt = 0; attempt < 5; attempt += 1) await expect(setup.open()).rejects.toThrow('no');
    expect(setup.admission.counts()).toEqual({ open: 1, expired: 0 });
  });

  it('is recorded once, and sends nothing after its end', async () => {
    const setup = await aSession();
    setup.client.currentListener().ended({ kind: 'cut' });
    setup.vendor.currentListener().ended({ kind: 'cut' });
    setup.vendor.say('late');
    setup.client.say('later');
    setup.realtime.endAll();
    expect(setup.ends()).toEqual([['failure', 'CLIENT_GONE']]);
    expect([setup.client.calls, setup.vendor.calls]).toEqual([['(close 1000)'], ['(close 1000)']]);
    expect(setup.realtime.count()).toBe(0);
  });

  it('ends with an error at an internal fault', async () => {
    const setup = await aSession();
    setup.client.say('bug');
    expect(setup.ends()).toEqual([['failure', 'INTERNAL']]);
    expect(setup.client.calls).toEqual(['oops', '(close 1011)']);
    expect(setup.ended).toEqual([new TypeError('oops')]);
  });
});
