import { expect, it } from 'vitest';
import type { CallSpend } from '../../../src/domain/traces/call-spend.ts';
import type { TraceOutline } from '../../../src/domain/traces/outline.ts';
import { createTraceOutlines } from '../../../src/runtime/traces/outlines.ts';

const CALL: CallSpend = { match: 'no_call_id', row: null, cost: null, source: null };
const outlineOf = (calls: number): TraceOutline => ({
  rootless: false,
  spend: { spend: null, pricedCalls: 0, estimate: null, estimatedCalls: 0 },
  agents: [],
  calls: new Map(Array.from({ length: calls }, (_, index) => [String(index), CALL])),
  agentSpend: new Map(),
});

// The weight of an outline is the number of its calls and agents, plus 1. Here it is the number of calls, plus 1.
it('the cache of outlines evicts the least recently read outlines above the limit of weight', () => {
  const outlines = createTraceOutlines(10);
  const [first, second, third] = [outlineOf(3), outlineOf(3), outlineOf(3)];
  outlines.put('first', first);
  outlines.put('second', second);
  expect(outlines.find('first')).toBe(first);
  outlines.put('third', third);
  expect(['first', 'second', 'third'].map((name) => outlines.find(name))).toEqual([first, null, third]);
});

it('the cache of outlines replaces the value of a name', () => {
  const outlines = createTraceOutlines(10);
  const later = outlineOf(9);
  outlines.put('one', outlineOf(9));
  outlines.put('one', later);
  expect(outlines.find('one')).toBe(later);
});

it('the cache of outlines keeps an outline heavier than the limit while it is the latest', () => {
  const outlines = createTraceOutlines(10);
  const huge = outlineOf(30);
  outlines.put('one', outlineOf(9));
  outlines.put('huge', huge);
  expect([outlines.find('one'), outlines.find('huge')]).toEqual([null, huge]);
  const small = outlineOf(1);
  outlines.put('small', small);
  expect([outlines.find('huge'), outlines.find('small')]).toEqual([null, small]);
});
