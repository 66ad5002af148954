import { dollars, localTime } from '../format.ts';
import { TeamsDocument, type TeamsQuery } from '../generated/graphql.ts';
import { usePages } from '../hooks.ts';
import { Badge, ListState, MoreButton } from '../parts/status.tsx';

type Team = TeamsQuery['teams']['nodes'][number];

/** Teams with their members, spend and limits. */
export function TeamsPage() {
  const { nodes, error, isLoading, more } = usePages(TeamsDocument, {}, ({ teams }) => teams);
  return (
    <>
      <h1>Teams</h1>
      <ListState
        error={error}
        isLoading={isLoading}
        isEmpty={nodes.length === 0}
        emptyText="No team that you may read."
      />
      {nodes.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Team</th>
              <th scope="col">State</th>
              <th scope="col">Models</th>
              <th scope="col" class="number">
                Members
              </th>
              <th scope="col" class="number">
                Spend / budget
              </th>
              <th scope="col">Resets</th>
              <th scope="col" class="number">
                Requests / tokens a minute
              </th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((team) => (
              <TeamRow key={team.id} team={team} />
            ))}
          </tbody>
        </table>
      )}
      <MoreButton loadMore={more} isLoading={isLoading} />
    </>
  );
}

/** Names of the models. A dash for a caller who may not read them. */
function modelsText(models: Team['models']): string {
  if (models === null) return '–';
  return models.length === 0 ? 'all' : models.join(', ');
}

function TeamRow({ team: { teamId, alias, blocked, models, spendUsd, limits, members } }: { readonly team: Team }) {
  const budget = limits?.maxBudgetUsd ?? null;
  const budgetDuration = limits?.budgetDuration ?? null;
  return (
    <tr>
      <td>
        {alias ?? teamId}
        {alias !== null && <small> {teamId}</small>}
      </td>
      <td>
        <Badge tone={blocked === true ? 'bad' : 'good'}>{blocked === true ? 'blocked' : 'active'}</Badge>
      </td>
      <td>{modelsText(models)}</td>
      <td class="number">{members === null ? '–' : members.length}</td>
      <td class="number">
        {dollars(spendUsd)} / {budget === null ? 'no limit' : dollars(budget)}
        {budgetDuration !== null && ` per ${budgetDuration}`}
      </td>
      <td>{localTime(limits?.budgetResetAt ?? null)}</td>
      <td class="number">
        {limits?.rpmLimit ?? '–'} / {limits?.tpmLimit ?? '–'}
      </td>
    </tr>
  );
}
