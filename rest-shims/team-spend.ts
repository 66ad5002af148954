import { type ActivityExport, type ActivityExportQuery, readActivityTable } from '../resolvers/daily-activity.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { usdNumber } from '../src/domain/money.ts';
import { ACTIVITY_READ } from './helpers/fields/activity.ts';
import { listParameter, queryParameters, requiredPeriod } from './helpers/fields/report-query.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { requiredParameters } from './helpers/http/schema.ts';

/** Calls of named teams in a period. Throws InvalidInput without a team, or without valid dates. */
function parseTeams(search: string): ActivityExportQuery {
  const team = listParameter(search, 'team_ids');
  if (team === undefined) throw new InvalidInput('Please provide team_ids', [], { field: 'team_ids' });
  return { entity: 'team', by: 'user', offsetMs: null, filter: { ...requiredPeriod(search), any: { team } } };
}

function renderUsers({ groups, names, userAliases }: ActivityExport, search: string) {
  const parameter = queryParameters(search);
  return {
    start_date: parameter('start_date') ?? '',
    end_date: parameter('end_date') ?? '',
    results: groups.map((group) => {
      const [team, user] = [group.values.team ?? '', group.values.user ?? ''];
      return {
        team_id: team,
        team_alias: names.aliases.get(team) ?? null,
        user_id: user,
        user_email: names.emails.get(user) ?? null,
        user_alias: userAliases.get(user) ?? null,
        spend: usdNumber(group.cost),
        prompt_tokens: group.inputTokens,
        completion_tokens: group.outputTokens,
        total_tokens: group.inputTokens + group.outputTokens,
        api_requests: group.calls,
        successful_requests: group.calls - group.failures,
        failed_requests: group.failures,
      };
    }),
  };
}

/** Spend of teams by user. */
export const teamSpendRoutes: readonly RouteRow[] = [
  route({
    ...ACTIVITY_READ,
    name: 'dailyActivity.teamUsers',
    querySchema: requiredParameters('team_ids', 'start_date', 'end_date'),
    paths: ['/team/spend/by_user'],
    statuses: [200, 400, 401, 404],
    parse: ({ search }) => parseTeams(search),
    run: readActivityTable,
    render: (found, { search }) => json(renderUsers(found, search)),
  }),
];
