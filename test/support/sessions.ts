import type { Usd } from '../../src/domain/money.ts';
import type { SessionActivity } from '../../src/domain/traces/sessions.ts';
import type { TraceSummary } from '../../src/domain/traces/trace.ts';

/** Start of a trace in ms. */
export const startMsOf = ({ startNs }: Pick<TraceSummary, 'startNs'>): number => Number(startNs / 1_000_000n);

/** Exact sum, like that of a database. `addUsd` has an upper limit. */
const sumOf = (amounts: readonly Usd[]): Usd | null =>
  amounts.length === 0 ? null : (amounts.reduce((sum, amount) => sum + amount, 0n) as Usd);

/** Sessions of these summaries, in the order in which a store lists them: the latest start first. */
export function sessionsIn(summaries: readonly TraceSummary[]): readonly SessionActivity[] {
  const minOf = (numbers: readonly bigint[]): bigint => numbers.reduce((left, right) => (left < right ? left : right));
  const maxOf = (numbers: readonly bigint[]): bigint => numbers.reduce((left, right) => (left > right ? left : right));
  const named = Map.groupBy(
    summaries.filter(({ sessionId }) => sessionId !== null),
    ({ sessionId }) => sessionId ?? '',
  );
  return [...named]
    .map(([sessionId, some]): SessionActivity => {
      const users = new Set(some.flatMap(({ userId }) => userId ?? []));
      const total = (countOf: (summary: TraceSummary) => number): number =>
        some.reduce((sum, summary) => sum + countOf(summary), 0);
      const spends = some.flatMap(({ spend }) => spend ?? []);
      const estimates = some.flatMap(({ estimate }) => estimate ?? []);
      return {
        sessionId,
        userId: users.size === 1 ? ([...users][0] ?? null) : null,
        traces: some.length,
        failed: some.filter(({ errorCount }) => errorCount > 0).length,
        llmCalls: total(({ llmCalls }) => llmCalls),
        inputTokens: total(({ inputTokens }) => inputTokens),
        outputTokens: total(({ outputTokens }) => outputTokens),
        spend: sumOf(spends),
        estimate: sumOf(estimates),
        startNs: minOf(some.map(({ startNs }) => startNs)),
        endNs: maxOf(some.map(({ endNs }) => endNs)),
        lastStartMs: Math.max(...some.map(startMsOf)),
      };
    })
    .toSorted((left, right) => right.lastStartMs - left.lastStartMs || (left.sessionId < right.sessionId ? 1 : -1));
}
