import { updateTeamKeys } from '../resolvers/team-keys.ts';
import { renderOutcomes } from './helpers/answers/keys.ts';
import { parseTeamKeys, TEAM_KEYS } from './helpers/fields/team-keys.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

/** Changes of several keys of a team. */
export const teamKeyRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...MANAGEMENT_CHANGE,
    failureForm: { body: 'detail' },
    name: 'teamKeys.update',
    bodySchema: TEAM_KEYS,
    paths: ['/team/key/bulk_update'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => parseTeamKeys(body),
    run: updateTeamKeys,
    render: (outcomes) => json(renderOutcomes(outcomes)),
  }),
]);
