import type { TraceOutline, TraceOutlines } from '../../domain/traces/outline.ts';

/** Maximum sum of the weights of the cached outlines. A larger outline is cached alone. */
const MAX_WEIGHT = 100_000;

/**
 * LRU cache of outlines. The most recently used outline is cached at any size. Otherwise each page of its trace would
 * read the whole trace.
 */
export function createTraceOutlines(maxWeight = MAX_WEIGHT): TraceOutlines {
  const outlines = new Map<string, TraceOutline>();
  let weight = 0;

  function drop(name: string): TraceOutline | null {
    const known = outlines.get(name);
    if (known === undefined) return null;
    outlines.delete(name);
    weight -= weightOf(known);
    return known;
  }

  function put(name: string, outline: TraceOutline): void {
    drop(name);
    outlines.set(name, outline);
    weight += weightOf(outline);
    for (const oldest of outlines.keys()) {
      if (weight <= maxWeight || oldest === name) return;
      drop(oldest);
    }
  }

  return {
    find(name) {
      const known = drop(name);
      if (known !== null) put(name, known);
      return known;
    },
    put,
  };
}

/** Weight in the cache: number of calls and agents, plus 1. */
const weightOf = ({ calls, agents }: TraceOutline): number => 1 + calls.size + agents.length;
