import type { TraceOutline, TraceOutlines } from '../../domain/traces/outline.ts';

/** Calls in the outlines that are kept at most, over all of them, unless one alone has more. */
const MOST_CALLS = 100_000;

/**
 * Outlines in memory, those read longest ago given up first. The latest stays, whatever its size: without it every page of
 * its trace would read all of it again, and take many times as much.
 */
export function createTraceOutlines(mostCalls = MOST_CALLS): TraceOutlines {
  const outlines = new Map<string, TraceOutline>();
  let weight = 0;

  function drop(name: string): TraceOutline | null {
    const known = outlines.get(name);
    if (known === undefined) return null;
    outlines.delete(name);
    weight -= weightOf(known);
    return known;
  }

  function keep(name: string, outline: TraceOutline): void {
    drop(name);
    outlines.set(name, outline);
    weight += weightOf(outline);
    for (const oldest of outlines.keys()) {
      if (weight <= mostCalls || oldest === name) return;
      drop(oldest);
    }
  }

  return {
    find(name) {
      const known = drop(name);
      if (known !== null) keep(name, known);
      return known;
    },
    keep,
  };
}

/** An outline without calls is not free either. */
const weightOf = ({ calls, agents }: TraceOutline): number => 1 + calls.size + agents.length;
