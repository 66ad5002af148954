import { useState } from 'preact/hooks';
import { countText, dollars, localTime } from '../format.ts';
import {
  FindingEvidenceDocument,
  type FindingEvidenceQuery,
  FindingsDocument,
  type FindingsQuery,
  type FindingStatus,
  LensesDocument,
} from '../generated/graphql.ts';
import { usePages, useQuery } from '../hooks.ts';
import { Badge, ListState, MoreButton } from '../parts/status.tsx';

/** Lenses with their last run, and findings by status. */
export function LensesPage() {
  const { data, error, isLoading } = useQuery(LensesDocument, {});
  const lenses = data?.lenses ?? [];
  return (
    <>
      <h1>Lenses</h1>
      <ListState error={error} isLoading={isLoading} isEmpty={lenses.length === 0} emptyText="No lens yet." />
      {lenses.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Lens</th>
              <th scope="col">Model</th>
              <th scope="col">Last run</th>
              <th scope="col" class="number">
                Traces reviewed
              </th>
              <th scope="col" class="number">
                Spent
              </th>
              <th scope="col">Next run</th>
            </tr>
          </thead>
          <tbody>
            {lenses.map(({ id, name, model, latestRun, spentUsd, nextRunAt }) => (
              <tr key={id}>
                <td>{name}</td>
                <td>{model}</td>
                <td title={latestRun.error ?? ''}>
                  <Badge tone={latestRun.status === 'FAILED' ? 'bad' : 'plain'}>{latestRun.status.toLowerCase()}</Badge>{' '}
                  {latestRun.stage}
                </td>
                <td class="number">{countText(latestRun.reviewed)}</td>
                <td class="number">{dollars(spentUsd)}</td>
                <td>{localTime(nextRunAt)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Findings />
    </>
  );
}

function Findings() {
  const [status, setStatus] = useState<FindingStatus>('OPEN');
  const { nodes, error, isLoading, more } = usePages(
    FindingsDocument,
    { filter: { status } },
    ({ findings }) => findings,
  );
  return (
    <section>
      <h2>Findings</h2>
      <div class="tools">
        <label>
          Status{' '}
          <select value={status} onChange={({ currentTarget }) => setStatus(currentTarget.value as FindingStatus)}>
            <option value="OPEN">open</option>
            <option value="RESOLVED">resolved</option>
            <option value="DISMISSED">dismissed</option>
          </select>
        </label>
      </div>
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={nodes.length === 0}
        emptyText="No finding with this status."
      />
      {nodes.map((finding) => (
        <FindingPanel key={finding.id} finding={finding} />
      ))}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </section>
  );
}

type Finding = FindingsQuery['findings']['nodes'][number];

/** A finding. Its evidence is read when the panel is opened. */
function FindingPanel({ finding }: { readonly finding: Finding }) {
  const { id, title, priority, description, occurrenceCount, lastSeen, suggestion, lens } = finding;
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="panel" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>
        <Badge tone={priority === 'HIGH' ? 'bad' : 'plain'}>{priority.toLowerCase()}</Badge> {title}{' '}
        <small>
          {countText(occurrenceCount)} times, last on {localTime(lastSeen)}
          {lens !== null && `, lens ${lens.name}`}
        </small>
      </summary>
      <p>{description}</p>
      {suggestion !== null && <p>Suggestion: {suggestion}</p>}
      {isOpen && <EvidenceList findingId={id} />}
    </details>
  );
}

type FoundNode = NonNullable<FindingEvidenceQuery['node']>;
type Evidence = Extract<FoundNode, { readonly evidence: unknown }>['evidence'][number];

/** Quotes of a finding, each with a link to its span. */
function EvidenceList({ findingId }: { readonly findingId: string }) {
  const { data, error, isLoading } = useQuery(FindingEvidenceDocument, { id: findingId });
  const node = data?.node ?? null;
  const evidence = node !== null && 'evidence' in node ? node.evidence : [];
  return (
    <>
      <h3>Evidence</h3>
      <ListState error={error} isLoading={isLoading} isEmpty={evidence.length === 0} emptyText="No evidence." />
      <ul>
        {evidence.map((one, index) => (
          <li key={index}>
            <q>{one.quote}</q> <EvidenceLink evidence={one} />
            {one.role === 'COUNTEREXAMPLE' && <small> counterexample</small>}
          </li>
        ))}
      </ul>
    </>
  );
}

function EvidenceLink({ evidence: { traceId, spanId, trace } }: { readonly evidence: Evidence }) {
  if (traceId === null || trace === null) return <small>The trace is no longer stored.</small>;
  const address = [traceId, trace.traceRef ?? '', spanId].map(encodeURIComponent).join('/');
  return <a href={`#/traces/${address}`}>{trace.name ?? traceId}</a>;
}
