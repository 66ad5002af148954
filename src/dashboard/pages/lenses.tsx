import { useState } from 'preact/hooks';
import { countText, dollars, localTime } from '../format.ts';
import { FindingsDocument, type FindingStatus, LensesDocument } from '../generated/graphql.ts';
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
      {nodes.map(({ id, title, priority, description, occurrenceCount, lastSeen, suggestion, lens }) => (
        <details key={id} class="panel">
          <summary>
            <Badge tone={priority === 'HIGH' ? 'bad' : 'plain'}>{priority.toLowerCase()}</Badge> {title}{' '}
            <small>
              {countText(occurrenceCount)} times, last on {localTime(lastSeen)}
              {lens !== null && `, lens ${lens.name}`}
            </small>
          </summary>
          <p>{description}</p>
          {suggestion !== null && <p>Suggestion: {suggestion}</p>}
        </details>
      ))}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </section>
  );
}
