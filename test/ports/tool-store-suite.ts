import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Conflict } from '../../src/domain/errors.ts';
import type { Usd } from '../../src/domain/money.ts';
import {
  ALL_OVERRIDES,
  ALL_TOOLS,
  MAX_TOOLS_OF_KEY,
  type Tool,
  type ToolOverride,
  type ToolOverrideStore,
  type ToolStore,
} from '../../src/domain/tools/tool.ts';
import type {
  ToolCallEntry,
  ToolDay,
  ToolSighting,
  ToolUseBatch,
  ToolUseStore,
} from '../../src/domain/tools/tool-use.ts';
import type { Engine, ScratchDatabase } from './engines.ts';

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 30, 3, 4, second));
const LONG_AGO = new Date('2026-08-01T00:00:00Z');
const usd = (amount: bigint): Usd => amount as Usd;

const aTool = (name: string, overrides: Partial<Tool> = {}): Tool => ({
  id: `id-${name}`,
  name,
  origin: 'user_defined',
  inputPolicy: 'untrusted',
  outputPolicy: 'untrusted',
  callCount: 0,
  keyHash: null,
  keyAlias: null,
  teamId: null,
  userAgent: null,
  lastUsedAt: null,
  createdAt: at(1),
  createdBy: 'u',
  updatedAt: at(1),
  updatedBy: 'u',
  ...overrides,
});
const anOverride = (id: string, toolName: string, scope: string): ToolOverride => ({
  id,
  toolName,
  scope,
  teamId: scope.startsWith('team:') ? scope.slice(5) : null,
  keyHash: scope.startsWith('key:') ? scope.slice(4) : null,
  alias: null,
  createdAt: at(1),
  createdBy: 'u',
  updatedAt: at(1),
  updatedBy: 'u',
});
const aSighting = (name: string, more: Partial<ToolSighting> = {}): ToolSighting => ({
  id: `id-${name}`,
  name,
  origin: 'user_defined',
  calls: 1,
  firstAt: at(5),
  lastAt: at(6),
  keyHash: 'k1',
  keyAlias: 'alias',
  teamId: 't1',
  userAgent: 'agent/1',
  ...more,
});
const aDay = (name: string, more: Partial<ToolDay> = {}): ToolDay => ({
  day: '2026-11-30',
  name,
  calls: 1,
  cost: usd(5n),
  tokens: 7,
  ...more,
});
const aCall = (id: string, name: string, second: number, more: Partial<ToolCallEntry> = {}): ToolCallEntry => ({
  id,
  name,
  requestId: `r-${id}`,
  at: at(second),
  model: 'm',
  cost: usd(5n),
  tokens: 7,
  ...more,
});
const batch = (number: number, more: Partial<ToolUseBatch> = {}): ToolUseBatch => ({
  process: 'p1',
  number,
  tools: [],
  days: [],
  calls: [],
  ...more,
});

/** Contract of the stores of tools. */
export function toolStoreSuite(engine: Engine): void {
  describe.skipIf(engine.skipReason !== null)(`stores of tools on ${engine.name}`, () => {
    let scratch: ScratchDatabase;
    let tools: ToolStore;
    let overrides: ToolOverrideStore;
    let use: ToolUseStore;
    beforeAll(async () => {
      scratch = await engine.create();
      ({ tools, toolOverrides: overrides, toolUse: use } = await scratch.open());
    });
    afterEach(() => scratch.clear());
    afterAll(() => scratch.remove());

    const names = async (filter: Partial<typeof ALL_TOOLS>): Promise<readonly string[]> =>
      (await tools.all({ ...ALL_TOOLS, ...filter })).map(({ name }) => name).toSorted();

    it('return tools as they were added and changed, and each name once', async () => {
      const full = aTool('full', {
        inputPolicy: 'blocked',
        outputPolicy: 'trusted',
        callCount: 9_007_199_254_740_991,
        keyHash: 'k',
        keyAlias: 'a',
        teamId: 't',
        userAgent: 'u',
        lastUsedAt: at(3),
      });
      await tools.add(full, aTool('bare'));
      expect(await tools.find('id-full')).toEqual(full);
      expect(await tools.find('id-bare')).toEqual(aTool('bare'));
      await expect(tools.add(aTool('bare', { id: 'other' }))).rejects.toThrow(
        new Conflict("Tool 'bare' already exists"),
      );
      const changed = await tools.change('id-bare', (row) => ({ ...row, inputPolicy: 'trusted' }));
      expect(changed?.after).toEqual(aTool('bare', { inputPolicy: 'trusted' }));
      expect(await names({ inputPolicy: 'trusted' })).toEqual(['bare']);
      expect(await names({ isRestricted: true })).toEqual(['bare', 'full']);
      await tools.add(aTool('plain', { callCount: 12 }), aTool('more', { callCount: 9 }));
      expect(await names({ isRestricted: false })).toEqual(['more', 'plain']);
      expect(await names({ nameContains: 'LAI' })).toEqual(['plain']);
      const page = { filter: { ...ALL_TOOLS, isRestricted: false }, sort: 'call_count', descending: true } as const;
      const sorted = await tools.list({ ...page, limit: 2, from: 0 });
      expect(sorted.map(({ name }) => name)).toEqual(['plain', 'more']);
      const next = await tools.list({ ...page, limit: 2, from: { text: '12', id: 'id-plain' } });
      expect(next.map(({ name }) => name)).toEqual(['more']);
    });

    it('have an override once for each tool and scope', async () => {
      await overrides.add(anOverride('1', 'a', 'team:t'), anOverride('2', 'a', 'key:k'), anOverride('3', 'b', 'key:k'));
      await expect(overrides.add(anOverride('4', 'a', 'team:t'))).rejects.toThrow(Conflict);
      const found = await overrides.all({ ...ALL_OVERRIDES, toolName: 'a' });
      expect(found.map(({ id }) => id).toSorted()).toEqual(['1', '2']);
      expect(await overrides.all({ toolName: 'a', scope: 'team:t' })).toEqual([anOverride('1', 'a', 'team:t')]);
    });

    it('add calls to known tools, and leave their policies as they are', async () => {
      await use.add(batch(1, { tools: [aSighting('a', { calls: 2 })] }), at(7), LONG_AGO);
      const added = aTool('a', {
        callCount: 2,
        keyHash: 'k1',
        keyAlias: 'alias',
        teamId: 't1',
        userAgent: 'agent/1',
        lastUsedAt: at(6),
        createdAt: at(5),
        createdBy: 'system',
        updatedAt: at(5),
        updatedBy: 'system',
      });
      expect(await tools.find('id-a')).toEqual(added);
      await tools.change('id-a', (row) => ({ ...row, inputPolicy: 'blocked' }));
      const later = aSighting('a', { id: 'other', calls: 3, lastAt: at(9), keyHash: 'k2', origin: 'server' });
      await use.add(batch(2, { tools: [later] }), at(9), LONG_AGO);
      expect(await tools.find('id-a')).toEqual({ ...added, callCount: 5, lastUsedAt: at(9), inputPolicy: 'blocked' });
    });

    it('add a batch once, and sum its days', async () => {
      const first = batch(1, {
        tools: [aSighting('a'), aSighting('b')],
        days: [aDay('a'), aDay('b', { cost: usd(9n) }), aDay('a', { day: '2026-11-29', cost: usd(1n) })],
        calls: [aCall('1', 'a', 1), aCall('2', 'a', 2, { cost: null })],
      });
      await use.add(first, at(7), LONG_AGO);
      await use.add(first, at(7), LONG_AGO);
      await use.add(batch(2, { tools: [aSighting('a')], days: [aDay('a', { calls: 2 })] }), at(8), LONG_AGO);
      expect(await use.spend({ from: '2026-11-29', to: '2026-11-30' }, 10)).toEqual({
        tools: [
          { name: 'a', calls: 4, cost: 11n, tokens: 21 },
          { name: 'b', calls: 1, cost: 9n, tokens: 7 },
        ],
        days: [
          aDay('a', { day: '2026-11-29', cost: usd(1n) }),
          aDay('a', { calls: 3, cost: usd(10n), tokens: 14 }),
          aDay('b', { cost: usd(9n) }),
        ],
      });
      expect((await use.spend({ from: '2026-11-29', to: '2026-11-30' }, 1)).days.map(({ name }) => name)).toEqual([
        'a',
        'a',
      ]);
      expect(await use.spend({ from: '2026-12-01', to: '2026-12-02' }, 10)).toEqual({ tools: [], days: [] });
    });

    it('add at most `MAX_TOOLS_OF_KEY` new tools of one key, with the days of these', async () => {
      const all = Array.from({ length: MAX_TOOLS_OF_KEY + 1 }, (_, index) => `t${index}`);
      await use.add(
        batch(1, { tools: all.slice(0, 600).map((name) => aSighting(name, { id: `1-${name}` })) }),
        at(7),
        LONG_AGO,
      );
      const further = all.map((name) => aSighting(name, { id: `2-${name}` }));
      const days = [aDay(all[0] ?? ''), aDay(all.at(-1) ?? '')];
      await use.add(batch(2, { tools: [...further, aSighting('other', { keyHash: 'k2' })], days }), at(8), LONG_AGO);
      const last = all.at(-1) ?? null;
      expect([await tools.count(ALL_TOOLS), await names({ name: last }), await names({ name: 'other' })]).toEqual([
        MAX_TOOLS_OF_KEY + 1,
        [],
        ['other'],
      ]);
      expect((await use.spend({ from: '2026-11-29', to: '2026-11-30' }, 10)).tools.map(({ name }) => name)).toEqual([
        't0',
      ]);
    });

    it('list the requests of one tool, the latest first, by day', async () => {
      const yesterday = aCall('0', 'a', 0, { at: new Date('2026-11-29T23:59:59.999Z') });
      const calls = [aCall('1', 'a', 1), aCall('2', 'a', 2), aCall('3', 'b', 3), yesterday];
      await use.add(batch(1, { tools: [aSighting('a'), aSighting('b')], calls }), at(7), LONG_AGO);
      const page = { name: 'a', from: null, to: null, limit: 2, offset: 0 };
      expect(await use.calls(page)).toEqual({ calls: [aCall('2', 'a', 2), aCall('1', 'a', 1)], totalCount: 3 });
      expect((await use.calls({ ...page, offset: 2 })).calls).toEqual([yesterday]);
      expect((await use.calls({ ...page, from: '2026-11-30' })).totalCount).toBe(2);
      expect((await use.calls({ ...page, to: '2026-11-29' })).calls).toEqual([yesterday]);
    });

    it('delete old days and requests, and tools without a policy that were last seen long ago', async () => {
      const old = { firstAt: new Date('2026-01-01T00:00:00Z'), lastAt: new Date('2026-01-02T00:00:00Z') };
      await tools.add(aTool('named'));
      await tools.add(aTool('set', { inputPolicy: 'trusted', lastUsedAt: old.lastAt }));
      await overrides.add(anOverride('1', 'blocked-for-one', 'team:t'));
      await use.add(
        batch(1, {
          tools: [aSighting('gone', old), aSighting('blocked-for-one', old), aSighting('new')],
          days: [aDay('gone', { day: '2026-01-02' }), aDay('new')],
          calls: [aCall('1', 'gone', 0, { at: old.lastAt }), aCall('2', 'new', 1)],
        }),
        at(7),
        LONG_AGO,
      );
      expect(await names({})).toEqual(['blocked-for-one', 'named', 'new', 'set']);
      expect((await use.spend({ from: '2026-01-01', to: '2026-12-31' }, 10)).tools.map(({ name }) => name)).toEqual([
        'new',
      ]);
      expect((await use.calls({ name: 'gone', from: null, to: null, limit: 10, offset: 0 })).totalCount).toBe(0);
    });

    it('accept texts with any characters', async () => {
      const name = 'a\u{1F600}"\\';
      await use.add(
        batch(1, {
          tools: [aSighting(name, { userAgent: 'x\u0000y' })],
          calls: [aCall('1', name, 1, { model: '\u{D800}' })],
        }),
        at(7),
        LONG_AGO,
      );
      expect((await tools.all({ ...ALL_TOOLS, name }))[0]?.userAgent).toBe('x\u{FFFD}y');
      const found = await use.calls({ name, from: null, to: null, limit: 1, offset: 0 });
      expect(found.calls[0]?.model).toBe('\u{FFFD}');
    });
  });
}
