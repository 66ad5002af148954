import { describe, expect, it, vi } from 'vitest';
import type { ToolsOfCall, ToolUseBatch } from '../../../src/domain/tools/tool-use.ts';
import { createToolUseCounter } from '../../../src/recording/tool-use.ts';
import { parsePartially } from '../../../src/wire/json/partial-parse.ts';
import { aCaller } from '../../support/chat.ts';
import { aScheduler } from '../../support/scheduler.ts';

const AT = new Date('2026-11-30T10:00:00Z');
const CALLER = { ...aCaller(null), keyHash: 'k1', teamId: 't1' };
const SPEND = {
  id: 's1',
  callId: 'c1',
  responseId: 'r1',
  status: 'success',
  modelGroup: 'm',
  usage: { inputTokens: 3, outputTokens: 4 },
  cost: 10n,
  startedAt: AT,
  endedAt: AT,
};
const aUse = ({
  spend = {},
  ...overrides
}: Partial<Omit<ToolsOfCall, 'spend'>> & { spend?: object } = {}): ToolsOfCall =>
  ({
    caller: CALLER,
    userAgent: 'agent/1',
    called: [],
    body: {},
    ...overrides,
    spend: { ...SPEND, ...spend },
  }) as ToolsOfCall;
const called = (...names: string[]) => names.map((name) => ({ name, origin: 'user_defined' }));

function aCounter(add: (batch: ToolUseBatch) => Promise<void> = async () => {}) {
  const batches: ToolUseBatch[] = [];
  let id = 0;
  const counter = createToolUseCounter({
    process: 'p',
    store: {
      add(batch) {
        batches.push(batch);
        return add(batch);
      },
    },
    clock: { now: () => AT, monotonicMs: () => 0 },
    ids: { uuid: () => `id${(id += 1)}` },
    everyMs: 1,
    scheduler: aScheduler(),
  });
  return { counter, batches };
}

const aSighting = (name: string, calls: number, id: string) => ({
  id,
  name,
  origin: 'user_defined',
  calls,
  firstAt: AT,
  lastAt: AT,
  keyHash: 'k1',
  keyAlias: null,
  teamId: 't1',
  userAgent: 'agent/1',
});

describe('the counter of tools', () => {
  it('counts calls by tool and day, and lists the requests', async () => {
    const { counter, batches } = aCounter();
    counter.count(aUse({ called: called('a', 'a', 'b') }));
    counter.count(aUse({ called: called('a'), spend: { id: 's2', status: 'failure', cost: null, usage: null } }));
    await counter.flush();
    expect(batches).toEqual([
      {
        process: 'p',
        number: 1,
        tools: [aSighting('a', 3, 'id1'), aSighting('b', 1, 'id2')],
        days: [
          { day: '2026-11-30', name: 'a', calls: 2, cost: 10n, tokens: 7 },
          { day: '2026-11-30', name: 'b', calls: 1, cost: 10n, tokens: 7 },
        ],
        calls: [
          { id: 's1:a', name: 'a', requestId: 'r1', at: AT, model: 'm', cost: 10n, tokens: 7 },
          { id: 's1:b', name: 'b', requestId: 'r1', at: AT, model: 'm', cost: 10n, tokens: 7 },
          { id: 's2:a', name: 'a', requestId: 'c1', at: AT, model: 'm', cost: null, tokens: 0 },
        ],
      },
    ]);
  });

  it('adds tools that a request offers without a call', async () => {
    const { counter, batches } = aCounter();
    counter.count(aUse({ body: { tools: [{ name: 'a' }, { name: 'b' }] }, called: called('b') }));
    await counter.flush();
    expect(batches[0]?.tools).toEqual([aSighting('b', 1, 'id1'), aSighting('a', 0, 'id2')]);
    expect(batches[0]?.days.map(({ name }) => name)).toEqual(['b']);
  });

  it('parses a large list of tools once for each key and size, and again after an hour', async () => {
    const parse = vi.spyOn(JSON, 'parse');
    const { counter } = aCounter();
    const bytes = Buffer.from(JSON.stringify({ model: 'm', tools: [{ name: 'a', description: 'x'.repeat(2_000) }] }));
    const use = (spend: object = {}, keyHash = 'k1'): number => {
      const fields = parsePartially(bytes, {})?.fields ?? {};
      parse.mockClear();
      counter.count(aUse({ body: fields, caller: { ...CALLER, keyHash }, spend }));
      return parse.mock.calls.length;
    };
    expect([use(), use(), use({}, 'k2'), use({ endedAt: new Date(AT.getTime() + 3_600_000) })]).toEqual([1, 0, 1, 1]);
    parse.mockRestore();
  });

  it('leaves out names that cannot be stored', async () => {
    const { counter, batches } = aCounter();
    counter.count(aUse({ called: called('', ' ', 'a\u0000b', '\uD800', 'x'.repeat(257), 'y'.repeat(256)) }));
    await counter.flush();
    expect(batches[0]?.tools.map(({ name }) => name)).toEqual(['y'.repeat(256)]);
  });

  it('is bounded by call and by batch', async () => {
    const { counter, batches } = aCounter();
    const names = (from: number): string[] => Array.from({ length: 200 }, (_, index) => `t${from + index}`);
    counter.count(aUse({ called: called(...names(0)) }));
    await counter.flush();
    expect(batches[0]?.tools).toHaveLength(128);
    for (let call = 0; call < 40; call += 1) counter.count(aUse({ called: called(...names(call * 200)) }));
    await counter.flush();
    expect(batches[1]?.tools).toHaveLength(2_000);
    expect(batches[1]?.calls).toHaveLength(1_000);
  });

  it('repeats a batch whose commit failed, unchanged', async () => {
    let fails = true;
    const { counter, batches } = aCounter(async () => {
      if (fails) throw new Error('away');
    });
    counter.count(aUse({ called: called('a') }));
    await expect(counter.flush()).rejects.toThrow('away');
    counter.count(aUse({ called: called('b') }));
    fails = false;
    await counter.flush();
    expect(batches.map(({ number, tools }) => [number, tools.map(({ name }) => name)])).toEqual([
      [1, ['a']],
      [1, ['a']],
      [2, ['b']],
    ]);
  });
});
