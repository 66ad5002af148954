import { useMemo, useState } from 'preact/hooks';
import { countText, dollars, durationText, localTime } from '../format.ts';
import {
  type CallFragment,
  GatewayDocument,
  LiveCallsDocument,
  OverviewDocument,
  type OverviewQuery,
  RecentCallsDocument,
} from '../generated/graphql.ts';
import { useQuery, useSubscription } from '../hooks.ts';
import { type Bar, Bars } from '../parts/bars.tsx';
import { Badge, ListState, LiveBadge } from '../parts/status.tsx';

/** Ranges to choose from, in UTC days. */
const RANGES = [1, 7, 30] as const;
const DAY_MS = 86_400_000;
/** Maximum rows of the charts by route and by model. */
const MOST_BARS = 15;
const RECENT_CALLS = 20;

type SpendGroup = NonNullable<OverviewQuery['days']>['groups'][number];

/** Spend and calls of the last days, the models and routes with most calls, and the most recent calls, live. */
export function OverviewPage() {
  const [days, setDays] = useState<number>(7);
  // Start of the first UTC day of a range that includes today.
  const from = useMemo(
    () => `${new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10)}T00:00:00Z`,
    [days],
  );
  const { data, error, isLoading, reload } = useQuery(OverviewDocument, { from });
  const gateway = useQuery(GatewayDocument, { startDate: from.slice(0, 10) });
  const byDay = data?.days?.groups ?? [];
  return (
    <>
      <h1>Overview</h1>
      <div class="tools">
        <label>
          Range{' '}
          <select value={days} onChange={({ currentTarget }) => setDays(Number(currentTarget.value))}>
            {RANGES.map((range) => (
              <option key={range} value={range}>
                {range === 1 ? 'Today' : `${range} days`}
              </option>
            ))}
          </select>
        </label>
        <button
          type="button"
          onClick={() => {
            reload();
            gateway.reload();
          }}
        >
          Refresh
        </button>
      </div>
      <ListState error={error} isLoading={isLoading} isEmpty={data === null} emptyText="No figures." />
      {data !== null && (
        <>
          <Totals groups={byDay} />
          <Bars caption="Calls by day (UTC)" bars={barsByDay(from, days, byDay)} />
          <Bars
            caption={`Calls by model (top ${MOST_BARS})`}
            bars={busiest(data.models?.groups ?? [], ({ modelGroup }) => modelGroup ?? 'unknown')}
          />
          <Routes gateway={gateway.data?.gatewayActivity?.byRoute ?? []} spend={data.endpoints?.groups ?? []} />
        </>
      )}
      <RecentCalls />
    </>
  );
}

/** Exact sum of decimal texts. Adds integers of the smallest unit that one of the texts has. */
function sumOfAmounts(amounts: readonly string[]): string {
  const digits = Math.max(0, ...amounts.map((amount) => (amount.split('.')[1] ?? '').length));
  const total = amounts.reduce((sum, amount) => {
    const [whole = '0', decimals = ''] = amount.split('.');
    return sum + BigInt(`${whole}${decimals.padEnd(digits, '0')}`);
  }, 0n);
  if (digits === 0) return String(total);
  const text = String(total).padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

function Totals({ groups }: { readonly groups: readonly SpendGroup[] }) {
  const sum = (value: (group: SpendGroup) => number | string): string =>
    countText(String(groups.reduce((total, group) => total + BigInt(value(group)), 0n)));
  return (
    <dl class="totals">
      <div>
        <dt>Spend</dt>
        <dd>{dollars(sumOfAmounts(groups.map(({ costUsd }) => costUsd)))}</dd>
      </div>
      <div>
        <dt>Calls</dt>
        <dd>{sum(({ calls }) => calls)}</dd>
      </div>
      <div>
        <dt>Failed</dt>
        <dd>{sum(({ failures }) => failures)}</dd>
      </div>
      <div>
        <dt>Tokens in / out</dt>
        <dd>
          {sum(({ inputTokens }) => inputTokens)} / {sum(({ outputTokens }) => outputTokens)}
        </dd>
      </div>
    </dl>
  );
}

/** One bar for each UTC day of the range. Days without calls have an empty bar. */
function barsByDay(from: string, days: number, groups: readonly SpendGroup[]): readonly Bar[] {
  const byDate = new Map(groups.map((group) => [(group.start ?? '').slice(0, 10), group]));
  return Array.from({ length: days }, (_, index) => {
    const date = new Date(Date.parse(from) + index * DAY_MS).toISOString().slice(0, 10);
    return spendBar(date, byDate.get(date) ?? { calls: 0, failures: 0, costUsd: '0' });
  });
}

type CountedSpend = Pick<SpendGroup, 'calls' | 'failures'> & Partial<Pick<SpendGroup, 'costUsd'>>;

const spendBar = (label: string, { calls, failures, costUsd }: CountedSpend): Bar => ({
  label,
  succeeded: Number(calls) - Number(failures),
  failed: Number(failures),
  ...(costUsd === undefined ? {} : { note: dollars(costUsd) }),
});

/** Bars of the groups with most calls. */
const busiest = <Group extends CountedSpend>(
  groups: readonly Group[],
  labelOf: (group: Group) => string,
): readonly Bar[] =>
  groups
    .toSorted((left, right) => Number(right.calls) - Number(left.calls))
    .slice(0, MOST_BARS)
    .map((group) => spendBar(labelOf(group), group));

type RouteCounts = {
  readonly route: string | null;
  readonly succeeded: number | string;
  readonly failed: number | string;
};
type EndpointSpend = NonNullable<OverviewQuery['endpoints']>['groups'][number];

/** Requests by route, which only administrators may read. Without such counts, calls of spend rows by endpoint. */
function Routes({
  gateway,
  spend,
}: {
  readonly gateway: readonly RouteCounts[];
  readonly spend: readonly EndpointSpend[];
}) {
  if (gateway.length === 0)
    return (
      <Bars
        caption={`Calls by endpoint (top ${MOST_BARS})`}
        bars={busiest(spend, ({ endpoint }) => endpoint ?? 'unknown')}
      />
    );
  const bars = gateway
    .map(({ route, succeeded, failed }) => ({
      label: route ?? 'unknown',
      succeeded: Number(succeeded),
      failed: Number(failed),
    }))
    .toSorted((left, right) => right.succeeded + right.failed - (left.succeeded + left.failed))
    .slice(0, MOST_BARS);
  return <Bars caption={`Requests at the gateway by route (top ${MOST_BARS})`} bars={bars} />;
}

function RecentCalls() {
  const { data, error, isLoading, reload } = useQuery(RecentCallsDocument, {});
  const [live, setLive] = useState<readonly CallFragment[]>([]);
  const state = useSubscription(
    LiveCallsDocument,
    {},
    {
      opened: reload,
      next: ({ spendUpdates }) => setLive((before) => [spendUpdates.row, ...before].slice(0, RECENT_CALLS)),
    },
  );
  const stored = (data?.spendRows?.nodes ?? []).filter(({ id }) => !live.some((call) => call.id === id));
  const calls = [...live, ...stored].slice(0, RECENT_CALLS);
  return (
    <section>
      <h2>
        Recent calls <LiveBadge state={state} />
      </h2>
      <ListState error={error} isLoading={isLoading} isEmpty={calls.length === 0} emptyText="No call yet." />
      {calls.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Model</th>
              <th scope="col">Provider</th>
              <th scope="col">Status</th>
              <th scope="col" class="number">
                Duration
              </th>
              <th scope="col" class="number">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {calls.map(({ id, startedAt, endedAt, modelGroup, provider, status, costUsd, errorMessage, traceId }) => (
              <tr key={id}>
                <td>
                  <a href={`#/traces/${traceId}`}>{localTime(startedAt)}</a>
                </td>
                <td>{modelGroup}</td>
                <td>{provider}</td>
                <td title={errorMessage ?? ''}>
                  <Badge tone={status === 'SUCCESS' ? 'good' : 'bad'}>{status.toLowerCase()}</Badge>
                </td>
                <td class="number">{durationText(Date.parse(endedAt) - Date.parse(startedAt))}</td>
                <td class="number" title={costUsd ?? ''}>
                  {dollars(costUsd)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
