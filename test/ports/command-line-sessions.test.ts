import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  ALL_SESSIONS,
  type CommandLineSession,
  type CommandLineSessionFilter,
  type CommandLineSessionStore,
} from '../../src/domain/command-line-sessions/command-line-session.ts';
import { Conflict } from '../../src/domain/errors.ts';
import { ENGINES, type ScratchDatabase } from './engines.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 0, 2, 3, 4, second));

const aSession = (id: string, overrides: Partial<CommandLineSession> = {}): CommandLineSession => ({
  id,
  userId: 'u',
  role: 'internal_user',
  teamId: null,
  needsMembership: false,
  clientName: 'litellm-cli',
  clientHash: 'client',
  openedBy: 'key:a:b',
  codeHash: `code ${id}`,
  familyHash: `family ${id}`,
  secretHash: `secret ${id}`,
  previousSecretHash: null,
  keyHash: `key ${id}`,
  previousKeyHash: null,
  renewedAt: at(1),
  expiresAt: at(30),
  createdAt: at(1),
  createdBy: 'u',
  updatedAt: at(1),
  updatedBy: 'u',
  ...overrides,
});

for (const engine of ENGINES)
  describe.skipIf(engine.skipReason !== null)(`CommandLineSessionStore on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let store: CommandLineSessionStore;
    beforeAll(async () => {
      scratch = await engine.create();
      store = (await scratch.open()).commandLineSessions;
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    it('returns a row as it was added, and as it was changed', async () => {
      const row = aSession('one', { teamId: 't', needsMembership: true });
      await store.add(row);
      expect(await store.find('one')).toEqual(row);
      const change = { secretHash: 'next', previousSecretHash: row.secretHash, previousKeyHash: row.keyHash };
      await store.change('one', (before) => ({ ...before, ...change, renewedAt: at(9) }));
      expect(await store.find('one')).toEqual({ ...row, ...change, renewedAt: at(9) });
    });

    it('a code and a family of refresh tokens have one session', async () => {
      await store.add(aSession('one'));
      const taken = new Conflict('This sign-in was completed by another request.');
      await expect(store.add(aSession('two', { codeHash: 'code one' }))).rejects.toThrow(taken);
      await expect(store.add(aSession('two', { familyHash: 'family one' }))).rejects.toThrow(taken);
    });

    it('filters by user, code, family, key and expiry', async () => {
      await store.add(aSession('one'));
      await store.add(
        aSession('two', { userId: 'v', previousKeyHash: 'key zero', createdAt: at(2), expiresAt: at(20) }),
      );
      const found = async (filter: Partial<CommandLineSessionFilter>): Promise<readonly string[]> =>
        (await store.all({ ...ALL_SESSIONS, ...filter })).map(({ id }) => id);
      expect(await found({})).toEqual(['one', 'two']);
      expect(await found({ userId: 'v' })).toEqual(['two']);
      expect(await found({ codeHash: 'code two' })).toEqual(['two']);
      expect(await found({ familyHash: 'family one' })).toEqual(['one']);
      expect(await found({ keyHash: 'key two' })).toEqual(['two']);
      expect(await found({ keyHash: 'key zero' })).toEqual(['two']);
      expect(await found({ keyHash: 'key two', userId: 'u' })).toEqual([]);
      expect(await found({ validAt: at(19) })).toEqual(['one', 'two']);
      expect(await found({ validAt: at(20) })).toEqual(['one']);
      expect(await found({ expiredAt: at(19) })).toEqual([]);
      expect(await found({ expiredAt: at(20) })).toEqual(['two']);
    });

    it('of concurrent changes of one refresh token, one succeeds', async () => {
      await store.add(aSession('one'));
      const renew = (secretHash: string) =>
        store.change('one', (row) => {
          if (row.secretHash !== 'secret one') throw new Error('replaced');
          return { ...row, secretHash };
        });
      const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map(renew));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });
