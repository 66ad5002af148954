import { useMemo, useState } from 'preact/hooks';
import { countText, dollars, durationText, localTime, percent } from '../format.ts';
import { SpanDetailDocument, TraceSpansDocument, type TraceSpansQuery } from '../generated/graphql.ts';
import { useQuery } from '../hooks.ts';
import { Badge, ListState } from '../parts/status.tsx';
import { compareNs, inTreeOrder } from '../span-tree.ts';

type Trace = NonNullable<TraceSpansQuery['trace']>;
type Span = NonNullable<Trace['spans']>['nodes'][number];

interface TraceAddress {
  readonly traceId: string;
  readonly traceRef: string | null;
}

/**
 * One trace: figures, a tree of spans with their times, and the content of the chosen span. `firstSpanId` is the span
 * that is chosen at first; null for none.
 */
export function TracePage({ traceId, traceRef, firstSpanId }: TraceAddress & { readonly firstSpanId: string | null }) {
  const { data, error, isLoading, reload } = useQuery(TraceSpansDocument, { traceId, traceRef });
  const [spanId, setSpanId] = useState(firstSpanId);
  const trace = data?.trace ?? null;
  return (
    <>
      <p>
        <a href="#/traces">All traces</a>
      </p>
      <h1>{trace?.name ?? 'Trace'}</h1>
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={trace === null}
        emptyText="No trace with this id that you may read. A call that has just ended is stored within a second."
      />
      <div class="tools">
        <code>{traceId}</code>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      {trace !== null && <Figures trace={trace} />}
      {trace !== null && (
        <div class="split">
          <SpanTree trace={trace} chosen={spanId} onChoose={setSpanId} />
          {spanId !== null && <SpanDetail key={spanId} traceId={traceId} traceRef={traceRef} spanId={spanId} />}
        </div>
      )}
    </>
  );
}

function Figures({ trace }: { readonly trace: Trace }) {
  const { startedAt, durationMs, spanCount, errorCount, inputTokens, outputTokens, costUsd } = trace;
  return (
    <dl class="totals">
      <div>
        <dt>Started</dt>
        <dd>{localTime(startedAt)}</dd>
      </div>
      <div>
        <dt>Duration</dt>
        <dd>{durationText(durationMs)}</dd>
      </div>
      <div>
        <dt>Spans / errors</dt>
        <dd>
          {countText(spanCount)} / {countText(errorCount)}
        </dd>
      </div>
      <div>
        <dt>Tokens in / out</dt>
        <dd>
          {countText(inputTokens)} / {countText(outputTokens)}
        </dd>
      </div>
      <div>
        <dt>Cost</dt>
        <dd title={costUsd ?? ''}>{dollars(costUsd)}</dd>
      </div>
    </dl>
  );
}

const NS_PER_MS = 1_000_000;

/** Time from `start` to `end` in ms. The difference fits a number; the times do not. */
const millisecondsBetween = (start: number | string, end: number | string): number =>
  Number(BigInt(end) - BigInt(start)) / NS_PER_MS;

function SpanTree({
  trace,
  chosen,
  onChoose,
}: {
  readonly trace: Trace;
  readonly chosen: string | null;
  readonly onChoose: (spanId: string) => void;
}) {
  const spans = useMemo(() => trace.spans?.nodes ?? [], [trace]);
  const placed = useMemo(() => inTreeOrder(spans), [spans]);
  const start = spans.reduce<number | string>(
    (earliest, { startNs }) => (compareNs(startNs, earliest) < 0 ? startNs : earliest),
    spans[0]?.startNs ?? 0,
  );
  const offsetOf = ({ startNs }: Span): number => millisecondsBetween(start, startNs);
  const totalMs = Math.max(0, ...spans.map((span) => offsetOf(span) + span.durationMs));
  const hidden = (trace.spans?.totalCount ?? 0) - spans.length;
  return (
    <table class="spans">
      <caption>Spans</caption>
      <thead>
        <tr>
          <th scope="col">Span</th>
          <th scope="col">Time</th>
          <th scope="col" class="number">
            Duration
          </th>
          <th scope="col" class="number">
            Cost
          </th>
        </tr>
      </thead>
      <tbody>
        {placed.map(({ span, depth }) => (
          <tr key={span.spanId} class={span.spanId === chosen ? 'chosen' : ''}>
            <td style={{ paddingLeft: `${depth + 0.5}rem` }}>
              <button
                type="button"
                class="link"
                aria-pressed={span.spanId === chosen}
                onClick={() => onChoose(span.spanId)}
              >
                {span.name}
              </button>{' '}
              <small>{span.type.toLowerCase()}</small> {span.status === 'ERROR' && <Badge tone="bad">error</Badge>}
            </td>
            <td class="track" aria-hidden="true">
              <span
                class={`bar ${span.status === 'ERROR' ? 'bad' : 'good'}`}
                style={{
                  marginLeft: `${percent(offsetOf(span), totalMs)}%`,
                  width: `max(2px, ${percent(span.durationMs, totalMs)}%)`,
                }}
              />
            </td>
            <td class="number">{durationText(span.durationMs)}</td>
            <td class="number" title={span.costUsd ?? ''}>
              {dollars(span.costUsd)}
            </td>
          </tr>
        ))}
      </tbody>
      {hidden > 0 && (
        <tfoot>
          <tr>
            <td colSpan={4}>{countText(hidden)} more spans are not shown. GraphiQL pages through them.</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}

function SpanDetail({ traceId, traceRef, spanId }: TraceAddress & { readonly spanId: string }) {
  const { data, error, isLoading } = useQuery(SpanDetailDocument, { traceId, spanId, traceRef });
  const span = data?.span ?? null;
  return (
    <section class="detail" aria-label="Span">
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={span === null}
        emptyText="This span is no longer stored."
      />
      {span !== null && (
        <>
          <h2>{span.name}</h2>
          <p>
            {span.type.toLowerCase()} · {durationText(span.durationMs)} · {localTime(span.startedAt)}
            {span.model !== null && ` · ${span.provider ?? ''} ${span.model}`}
          </p>
          {span.error !== null && <p class="problem">{span.error}</p>}
          <Content title="Input" text={span.input} />
          <Content title="Output" text={span.output} />
          <Content title="Attributes" text={JSON.stringify(span.attributes, null, 2)} />
        </>
      )}
    </section>
  );
}

function Content({ title, text }: { readonly title: string; readonly text: string | null }) {
  if (text === null || text === '') return null;
  return (
    <details open={title !== 'Attributes'}>
      <summary>{title}</summary>
      <pre>{indentedJson(text)}</pre>
    </details>
  );
}

/** JSON with line breaks; other text unchanged. */
function indentedJson(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
