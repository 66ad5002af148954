import { describe, expect, it } from 'vitest';
import type { Caller } from '../../../src/domain/caller.ts';
import { Unauthenticated, Unavailable } from '../../../src/domain/errors.ts';
import { aCaller, aKey } from '../../support/chat.ts';
import { aSession, settled, usd } from '../../support/realtime-session.ts';

describe('a side that reads too slowly', () => {
  it.each([
    ['the caller', 'client', 'vendor'],
    ['the upstream', 'vendor', 'client'],
  ] as const)('holds the other back until it has caught up: %s', async (_who, slow, fast) => {
    const house = await aSession();
    house[slow].state.full = true;
    house[fast].say('one');
    house[fast].say('two');
    expect(house[fast].did).toEqual(['(pause)']);
    house[slow].state.full = false;
    house[slow].told().drained();
    expect([house[fast].did, house[slow].did]).toEqual([
      ['(pause)', '(resume)'],
      ['one', 'two'],
    ]);
  });

  it('counts as gone when nothing of what waits for it goes out', async () => {
    const { client, vendor, wait, ends } = await aSession();
    client.state.full = true;
    client.state.waiting = 100;
    vendor.say('one');
    wait(50);
    client.told().alive();
    client.state.waiting = 99;
    wait(50);
    client.told().alive();
    wait(60);
    expect(ends()).toEqual([]);
    wait(1);
    expect(ends()).toEqual([['failure', 'CLIENT_GONE']]);
    expect(vendor.did.at(-1)).toBe('(close 1000)');
  });

  it('is not asked whether it is there while nobody reads what it says', async () => {
    const { client, vendor, wait, ends } = await aSession();
    client.state.full = true;
    client.state.waiting = 1_000;
    vendor.say('one');
    for (let looks = 0; looks < 10; looks += 1) {
      client.state.waiting -= 10;
      client.told().alive();
      wait(30);
    }
    expect([ends(), vendor.did]).toEqual([[], ['(pause)']]);
  });
});

describe('a side that is silent', () => {
  it('is asked whether it is there, and stays when it answers', async () => {
    const { client, vendor, wait, ends } = await aSession();
    for (let looks = 0; looks < 4; looks += 1) {
      wait(31);
      client.told().alive();
      vendor.told().alive();
    }
    expect([client.did, vendor.did, ends()]).toEqual([Array(4).fill('(ping)'), Array(4).fill('(ping)'), []]);
  });

  it.each([
    ['the caller', 'vendor', ['failure', 'CLIENT_GONE']],
    ['the upstream', 'client', ['failure', 'UPSTREAM_FAILED']],
  ] as const)('counts as gone when it does not answer: %s', async (_who, alive, end) => {
    const house = await aSession();
    for (let looks = 0; looks < 3; looks += 1) {
      house.wait(25);
      house[alive].told().alive();
    }
    expect(house.ends()).toEqual([]);
    house.wait(1);
    expect(house.ends()).toEqual([end]);
    expect(house.client.did.at(-1)).toMatch(/^\(close (1001|1011)\)$/);
    expect(house.vendor.did.at(-1)).toBe('(close 1000)');
  });
});

/** Keeps both sides alive for a while. */
function keepAlive(house: Awaited<ReturnType<typeof aSession>>, ms: number): void {
  for (let gone = 0; gone < ms; gone += 20) {
    house.client.told().alive();
    house.vendor.told().alive();
    house.wait(20);
  }
}

describe('a session', () => {
  it('in which nothing is said for long is ended well, and told why', async () => {
    const house = await aSession();
    keepAlive(house, 900);
    house.client.say('still here');
    keepAlive(house, 1_000);
    expect(house.ends()).toEqual([]);
    keepAlive(house, 20);
    expect(house.ends()).toEqual([['success', null]]);
    expect(house.client.did.slice(-2)).toEqual(['/realtime: Nothing was said for 0 minutes.', '(close 1001)']);
    expect(house.ended).toHaveLength(1);
  });

  it('does not last longer than it may, however much is said', async () => {
    const house = await aSession();
    while (house.ends().length === 0) {
      house.client.say('on and on');
      house.vendor.told().alive();
      house.wait(20);
    }
    expect(house.ends()).toEqual([['success', null]]);
    expect(house.client.did.at(-1)).toBe('(close 1001)');
    expect(house.vendor.did.filter((did) => did === 'on and on')).toHaveLength(251);
  });

  it('ends when its key no longer holds, and not because that cannot be looked up', async () => {
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
    const house = await aSession({ identify });
    for (const left of [2, 1]) {
      keepAlive(house, 220);
      await settled();
      expect([answers.length, house.ends()]).toEqual([left, []]);
    }
    keepAlive(house, 220);
    await settled();
    expect(house.ends()).toEqual([['failure', 'UNAUTHENTICATED']]);
    expect(house.client.did.slice(-2)).toEqual(['gone', '(close 1008)']);
  });

  it('ends when its key may no longer call the model, or names what it may not too often', async () => {
    const house = await aSession({ identify: () => aCaller(aKey({ models: ['another'] })) });
    house.client.say('name other');
    expect(house.vendor.did).toEqual(['name other']);
    keepAlive(house, 220);
    await settled();
    expect(house.ends()).toEqual([['failure', 'FORBIDDEN']]);

    const insistent = await aSession({ caller: aCaller(aKey({ models: ['m'] })) });
    for (let tries = 0; tries < 3; tries += 1) insistent.client.say('name other');
    expect(insistent.ends()).toEqual([['failure', 'FORBIDDEN']]);
    expect(insistent.client.did.at(-1)).toBe('(close 1008)');
    expect(insistent.vendor.did).toEqual(['(close 1000)']);
  });

  it('is charged answer by answer, and ends with the allowance', async () => {
    const house = await aSession({ caller: aCaller(aKey({ maxBudget: usd('1.5') })) });
    house.vendor.say('used');
    await settled();
    expect(house.ends()).toEqual([]);
    house.vendor.say('used');
    await settled();
    expect(house.ends()).toEqual([['failure', 'LIMIT_EXCEEDED']]);
    await expect(house.open()).rejects.toThrow('Budget has been exceeded!');
  });

  it('has its next turn reserved as long as it is open, and gives that back with its end', async () => {
    const house = await aSession({ caller: aCaller(aKey({ maxBudget: usd('4') })) });
    const second = await house.open();
    const reserved = (limit: string, amount = 1n) =>
      house.admission.check([{ counter: `key:${aKey().hash}`, limit: usd(limit), amount, refused: 'at' }]);
    expect([reserved('2'), reserved('3')]).toEqual([expect.objectContaining({ used: 0n, reserved: usd('2') }), null]);
    house.vendor.say('used');
    house.vendor.say('used');
    await settled();
    expect(house.ends()).toEqual([]);
    expect([reserved('4'), reserved('5')]).toEqual([
      expect.objectContaining({ used: usd('2'), reserved: usd('2') }),
      null,
    ]);
    second.abandon();
    house.client.told().ended({ kind: 'cut' });
    expect(house.admission.counts()).toEqual({ open: 0, expired: 0 });
    expect([reserved('2', 0n), reserved('3')]).toEqual([
      expect.objectContaining({ used: usd('2'), reserved: 0n }),
      null,
    ]);
  });

  it('gives its reservation back when it does not open', async () => {
    let opened = 0;
    const house = await aSession({
      caller: aCaller(aKey({ maxBudget: usd('2') })),
      async open(upstream) {
        opened += 1;
        if (opened > 1) throw new TypeError('no');
        return upstream;
      },
    });
    for (let tries = 0; tries < 5; tries += 1) await expect(house.open()).rejects.toThrow('no');
    expect(house.admission.counts()).toEqual({ open: 1, expired: 0 });
  });

  it('is recorded once, and says nothing more after its end', async () => {
    const house = await aSession();
    house.client.told().ended({ kind: 'cut' });
    house.vendor.told().ended({ kind: 'cut' });
    house.vendor.say('late');
    house.client.say('later');
    house.realtime.endAll();
    expect(house.ends()).toEqual([['failure', 'CLIENT_GONE']]);
    expect([house.client.did, house.vendor.did]).toEqual([['(close 1000)'], ['(close 1000)']]);
    expect(house.realtime.count()).toBe(0);
  });

  it('that meets a bug of ours ends as one', async () => {
    const house = await aSession();
    house.client.say('bug');
    expect(house.ends()).toEqual([['failure', 'INTERNAL']]);
    expect(house.client.did).toEqual(['oops', '(close 1011)']);
    expect(house.ended).toEqual([new TypeError('oops')]);
  });
});
