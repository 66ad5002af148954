import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidInput } from '../../src/domain/errors.ts';
import { Secret } from '../../src/domain/secret.ts';
import { createCommandLineLogins, LOGIN_SECONDS } from '../../src/domain/users/command-line-logins.ts';
import { createStoredFailures, type SignInFailureCount } from '../../src/domain/users/failed-sign-ins.ts';
import { createOneTimeCodes } from '../../src/domain/users/one-time-codes.ts';
import type { PendingSignInStore } from '../../src/domain/users/pending-sign-ins.ts';
import { createSealedSignIns } from '../../src/runtime/credentials/sealed-sign-ins.ts';
import { keyGenerator, randomIds } from '../../src/runtime/identifiers.ts';
import { createMemoryPendingSignIns } from '../support/memory-pending-sign-ins.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const NOW_MS = Date.parse('2026-01-02T03:04:05Z');
const SALT = new Secret('a-salt-key');

/** Opens the stores of two processes of one installation. In memory and on SQLite, both are the same store. */
type Opener = () => Promise<readonly [PendingSignInStore, PendingSignInStore]>;

function pendingSignInSuite(name: string, open: Opener): void {
  describe(`PendingSignInStore on ${name}`, () => {
    let stores: Awaited<ReturnType<Opener>>;
    beforeAll(async () => {
      stores = await open();
    });
    let nowMs = NOW_MS;
    const optionsOf = (store: PendingSignInStore) => ({
      generator: keyGenerator,
      ids: randomIds,
      clock: { now: () => new Date(nowMs) },
      store: createSealedSignIns(store, SALT),
    });
    /** What `make` returns for the store of each process. */
    const both = <Result>(make: (store: PendingSignInStore) => Result): [Result, Result] => [
      make(stores[0]),
      make(stores[1]),
    ];

    it('a login that begins in one process is completed and collected in another, once', async () => {
      const [here, there] = both((store) => createCommandLineLogins<{ readonly userId: string }>(optionsOf(store)));
      const { loginId, pollSecret, userCode } = await here.start();
      expect(await there.read(loginId, pollSecret)).toBeNull();
      await there.complete(loginId, userCode.toLowerCase(), { userId: 'u' });
      expect(await here.read(loginId, pollSecret)).toEqual({ userId: 'u' });
      await expect(here.complete(loginId, userCode, { userId: 'v' })).rejects.toThrow('completed already');
      const taken = await Promise.all([here.take(loginId), there.take(loginId), here.take(loginId)]);
      expect(taken.filter(Boolean)).toHaveLength(1);
      await expect(here.read(loginId, pollSecret)).rejects.toThrow(InvalidInput);
    });

    // The fifth wrong code ends a login.
    it('wrong codes of both processes are counted together', async () => {
      const [here, there] = both((store) => createCommandLineLogins<string>(optionsOf(store)));
      const { loginId, userCode } = await here.start();
      const message = 'The verification code is not the one that the command line shows.';
      for (const logins of [here, there, here, there, here])
        await expect(logins.complete(loginId, 'AAAA-AAAA', 'u')).rejects.toThrow(message);
      await expect(there.complete(loginId, userCode, 'u')).rejects.toThrow('unknown or has expired');
    });

    it('a login ends after wrong codes, some of them concurrent', async () => {
      const [here, there] = both((store) => createCommandLineLogins<string>(optionsOf(store)));
      const { loginId, userCode } = await here.start();
      // A concurrent attempt may fail without a count, because it conflicts with another one.
      await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? here : there).complete(loginId, 'AAAA-AAAA', 'u')),
      );
      await Promise.allSettled(Array.from({ length: 5 }, () => here.complete(loginId, 'AAAA-AAAA', 'u')));
      await expect(there.complete(loginId, userCode, 'u')).rejects.toThrow('unknown or has expired');
    });

    it('a login ends after its time', async () => {
      const [here, there] = both((store) => createCommandLineLogins<string>(optionsOf(store)));
      const { loginId, pollSecret } = await here.start();
      nowMs = NOW_MS + LOGIN_SECONDS * 1_000 - 1;
      expect(await there.read(loginId, pollSecret)).toBeNull();
      nowMs += 1;
      await expect(there.read(loginId, pollSecret)).rejects.toThrow('unknown or has expired');
      expect(await there.take(loginId)).toBe(false);
    });

    it('a code is exchanged once, by either process', async () => {
      const [here, there] = both((store) => createOneTimeCodes<{ readonly token: string }>(optionsOf(store)));
      const code = await here.issue({ token: 'sk-session' });
      const taken = await Promise.all([there.take(code), here.take(code), there.take(code)]);
      expect(taken.filter((value) => value !== null)).toEqual([{ token: 'sk-session' }]);
      expect(await there.take('another')).toBeNull();
    });

    it('stores at most a number of sign-ins of a kind, and does not count ended ones', async () => {
      const [store] = stores;
      const row = (id: string, untilMs: number) => ({ id, kind: 'code' as const, content: 'c', untilMs });
      const later = nowMs + 3_600_000;
      const bounds = { nowMs: later, most: 2 };
      expect(await store.add(row('a', later + 1), bounds)).toBe(true);
      expect(await store.add(row('b', later + 9), bounds)).toBe(true);
      expect(await store.add(row('c', later + 9), bounds)).toBe(false);
      expect(await store.add({ ...row('cli-d', later + 9), kind: 'login' }, bounds)).toBe(true);
      expect(await store.add(row('e', later + 9), { nowMs: later + 1, most: 2 })).toBe(true);
    });

    it('counts failures of both processes together, and keeps concurrent counts', async () => {
      const atStart = nowMs;
      const [here, there] = both((store) =>
        createStoredFailures({
          store,
          generator: keyGenerator,
          clock: { now: () => new Date(nowMs), monotonicMs: () => nowMs },
          keptSeconds: 60,
        }),
      );
      const withOneMore = (count: SignInFailureCount | null) => ({
        sinceMs: 0,
        failures: (count?.failures ?? 0) + 1,
        blockedUntilMs: 0,
      });
      await Promise.all([here, there, here, there].map((counts) => counts.change('name', withOneMore)));
      // A count is kept for 60 seconds after its last change.
      nowMs = atStart + 59_000;
      await here.change('name', withOneMore);
      nowMs = atStart + 118_999;
      expect(await there.find('name')).toEqual({ sinceMs: 0, failures: 5, blockedUntilMs: 0 });
      nowMs = atStart + 119_000;
      expect(await there.find('name')).toBeNull();
      await there.change('name', withOneMore);
      await here.remove('name');
      expect(await there.find('name')).toBeNull();
    });

    it('replaces content only when the revision is the current one', async () => {
      const [store] = stores;
      const laterMs = nowMs + 7_200_000;
      await store.add(
        { id: 'cli-r', kind: 'login', content: 'one', untilMs: laterMs + 9 },
        { nowMs: laterMs, most: 99 },
      );
      expect(await store.replace('cli-r', 0, 'two')).toBe(true);
      expect(await store.replace('cli-r', 0, 'three')).toBe(false);
      expect(await store.find('cli-r', laterMs)).toMatchObject({ content: 'two', revision: 1 });
      expect(await store.replace('cli-none', 0, 'x')).toBe(false);
    });
  });
}

pendingSignInSuite('memory', () => {
  const store = createMemoryPendingSignIns();
  return Promise.resolve([store, store]);
});

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`pending sign-ins on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    afterAll(() => scratch.remove());

    pendingSignInSuite(engine.name, async () => {
      scratch = await engine.create();
      const first = await scratch.open();
      const second = engine.name === 'postgresql' ? await scratch.open() : first;
      return [first.pendingSignIns, second.pendingSignIns];
    });

    it('contents are encrypted', async () => {
      const { pendingSignIns } = await scratch.open();
      const sealed = createSealedSignIns(pendingSignIns, SALT);
      const laterMs = NOW_MS + 9_000_000;
      await sealed.add(
        { id: 'cli-s', kind: 'login', content: 'sk-session', untilMs: laterMs + 9 },
        { nowMs: laterMs, most: 99 },
      );
      expect((await pendingSignIns.find('cli-s', laterMs))?.content).not.toContain('sk-session');
      expect((await sealed.find('cli-s', laterMs))?.content).toBe('sk-session');
      expect(await createSealedSignIns(pendingSignIns, new Secret('other')).find('cli-s', laterMs)).toBeNull();
    });
  });
