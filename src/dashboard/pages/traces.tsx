import { useState } from 'preact/hooks';
import { countText, dollars, durationText, localTime } from '../format.ts';
import { LiveTracesDocument, type TraceFilter, type TraceLineFragment, TracesDocument } from '../generated/graphql.ts';
import { usePages, useSubscription } from '../hooks.ts';
import { fieldText } from '../parts/form.ts';
import { Badge, ListState, LiveBadge, MoreButton } from '../parts/status.tsx';

/** Maximum traces of the subscription on the page. Older ones are removed. */
const LIVE_TRACES = 200;

/** Link to a trace. The ref selects one trace where several owners use one trace id. */
const traceLink = ({ traceId, traceRef }: TraceLineFragment): string =>
  `#/traces/${traceId}${traceRef === null ? '' : `/${encodeURIComponent(traceRef)}`}`;

/** Conditions of the choices under "Failures". Most exporters set no status of a root span that succeeded. */
const FAILURES: Readonly<Record<string, TraceFilter>> = {
  any: {},
  spans: { minErrors: 1 },
  root: { status: 'ERROR' },
};

const HOUR_MS = 3_600_000;
/** Hours of the choices under "Time", with their texts. */
const TIMES = [
  [24, 'last 24 hours'],
  [7 * 24, 'last 7 days'],
  [30 * 24, 'last 30 days'],
] as const;

/** Traces, newest first, with filters. A subscription adds new and changed traces. */
export function TracesPage() {
  const [text, setText] = useState('');
  const [failures, setFailures] = useState('any');
  const [hours, setHours] = useState<number>(TIMES[0][0]);
  const filter: TraceFilter = { internal: false, ...(text === '' ? {} : { text }), ...FAILURES[failures] };
  return (
    <>
      <h1>Traces</h1>
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setText(fieldText(event.currentTarget, 'text'));
        }}
      >
        <label>
          Text <input name="text" type="search" />
        </label>
        <label>
          Failures{' '}
          <select value={failures} onChange={({ currentTarget }) => setFailures(currentTarget.value)}>
            <option value="any">any</option>
            <option value="spans">a span failed</option>
            <option value="root">the root span failed</option>
          </select>
        </label>
        <label>
          Time{' '}
          <select value={hours} onChange={({ currentTarget }) => setHours(Number(currentTarget.value))}>
            {TIMES.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Search</button>
      </form>
      <TraceList key={JSON.stringify([filter, hours])} filter={filter} hours={hours} />
    </>
  );
}

function TraceList({ filter, hours }: { readonly filter: TraceFilter; readonly hours: number }) {
  // All pages have one start of the window: a cursor is valid in its window only.
  const [from] = useState(() => new Date(Date.now() - hours * HOUR_MS).toISOString());
  const { nodes, error, isLoading, more, reload } = usePages(TracesDocument, { filter, from }, ({ traces }) => traces);
  const [live, setLive] = useState<readonly TraceLineFragment[]>([]);
  const [dropped, setDropped] = useState(0);
  const state = useSubscription(
    LiveTracesDocument,
    { filter },
    {
      opened: reload,
      next({ traceUpdates: { trace, droppedUpdates } }) {
        setLive((before) => [trace, ...before.filter(({ id }) => id !== trace.id)].slice(0, LIVE_TRACES));
        setDropped((before) => before + droppedUpdates);
      },
    },
  );
  const liveIds = new Set(live.map(({ id }) => id));
  const traces = [...live, ...nodes.filter(({ id }) => !liveIds.has(id))];
  return (
    <>
      <p>
        <LiveBadge state={state} />
      </p>
      {dropped > 0 && (
        <p class="quiet">
          {countText(dropped)} updates were skipped because too many arrived. Reload the page to see all traces.
        </p>
      )}
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={traces.length === 0}
        emptyText="No trace in this time. Send a call or an export, and its trace appears here."
      />
      {traces.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Started</th>
              <th scope="col">Name</th>
              <th scope="col">Status</th>
              <th scope="col">Models</th>
              <th scope="col" class="number">
                Spans
              </th>
              <th scope="col" class="number">
                Tokens
              </th>
              <th scope="col" class="number">
                Duration
              </th>
              <th scope="col" class="number">
                Cost
              </th>
            </tr>
          </thead>
          <tbody>
            {traces.map((trace) => (
              <TraceRow key={trace.id} trace={trace} />
            ))}
          </tbody>
        </table>
      )}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </>
  );
}

function errorsText(errorCount: number): string {
  if (errorCount === 0) return 'ok';
  return errorCount === 1 ? '1 error' : `${countText(errorCount)} errors`;
}

function TraceRow({ trace }: { readonly trace: TraceLineFragment }) {
  const { startedAt, name, traceId, status, errorCount, models, spanCount, durationMs, costUsd, inputPreview } = trace;
  return (
    <tr>
      <td>{localTime(startedAt)}</td>
      <td title={inputPreview ?? ''}>
        <a href={traceLink(trace)}>{name ?? traceId}</a>
      </td>
      <td>
        <Badge tone={status === 'ERROR' || errorCount > 0 ? 'bad' : 'good'}>{errorsText(errorCount)}</Badge>
      </td>
      <td>{models.join(', ')}</td>
      <td class="number">{countText(spanCount)}</td>
      <td class="number">{countText(String(BigInt(trace.inputTokens) + BigInt(trace.outputTokens)))}</td>
      <td class="number">{durationText(durationMs)}</td>
      <td class="number" title={costUsd ?? ''}>
        {dollars(costUsd)}
      </td>
    </tr>
  );
}
