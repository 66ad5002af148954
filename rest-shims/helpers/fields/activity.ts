import type { ActivityEntity } from '../../../src/domain/spend/daily-activity.ts';
import { integer, query } from '../http/query.ts';
import { type JsonSchema, merged, textParameters } from '../http/schema.ts';
import { fieldsIn, MISSING_DATE_RANGE, requiredPeriod } from './report-query.ts';

/** Common facts of the rows about activity. */
export const ACTIVITY_READ = {
  method: 'GET',
  surface: 'management',
  credential: 'required',
  bodyLimit: 0,
  failureForm: { body: 'detail' },
} as const;

/**
 * Statuses of a row about an entity. As in the reference, callers without access get 404 for teams, 401 for customers
 * and agents, and 403 for others.
 */
export function activityStatuses({ entity }: Pick<ActivityRoute, 'entity'>): readonly number[] {
  if (entity === 'team') return [200, 400, 401, 404, 422];
  return entity === 'endUser' || entity === 'agent' ? [200, 400, 401, 422] : [200, 400, 401, 403, 422];
}

const MINUTE_MS = 60_000;
/** Maximum offset of a time zone, in minutes. */
const MAX_OFFSET_MINUTES = 1_440;

export interface ActivityRoute {
  readonly path: string;
  readonly entity: ActivityEntity;
  /** Parameter that selects entities. The same name with the prefix `exclude_` excludes entities. */
  readonly parameter: string;
  /** Default number of days on a page. */
  readonly pageSize: number;
}

/** Entities with activity, and their paths. */
export const ACTIVITY_ROUTES: readonly ActivityRoute[] = [
  { path: '/user', entity: 'user', parameter: 'user_id', pageSize: 50 },
  { path: '/team', entity: 'team', parameter: 'team_ids', pageSize: 10 },
  { path: '/tag', entity: 'tag', parameter: 'tags', pageSize: 10 },
  { path: '/organization', entity: 'organization', parameter: 'organization_ids', pageSize: 10 },
  { path: '/customer', entity: 'endUser', parameter: 'end_user_ids', pageSize: 10 },
  { path: '/agent', entity: 'agent', parameter: 'agent_ids', pageSize: 10 },
];

/** Parameter with the offset of a time zone in minutes, positive west of Greenwich. */
export const TIMEZONE = integer({ min: -MAX_OFFSET_MINUTES, max: MAX_OFFSET_MINUTES, defaultValue: 0 });

const offsetReader = query({ timezone: TIMEZONE });

/** Parameters that all reports about an entity have. */
export const activitySchema = ({ parameter }: ActivityRoute): JsonSchema =>
  merged(textParameters('start_date', 'end_date', 'model', 'api_key', parameter, `exclude_${parameter}`), offsetReader);

/** Entity, filter and time zone offset (in ms, positive east of Greenwich) of a query. Throws InvalidInput. */
export function parseActivityFilter(search: string, { entity, parameter }: ActivityRoute) {
  const { timezone } = offsetReader(search);
  // The parameter has the sign of `Date.getTimezoneOffset()` in browsers, positive west of Greenwich.
  const offsetMs = -Number(timezone) * MINUTE_MS;
  const period = requiredPeriod(search, MISSING_DATE_RANGE);
  return {
    entity,
    filter: {
      from: new Date(period.from.getTime() - offsetMs),
      to: new Date(period.to.getTime() - offsetMs),
      any: fieldsIn(search, { model: 'model', api_key: 'key', [parameter]: entity }),
      none: fieldsIn(search, { [`exclude_${parameter}`]: entity }),
    },
    offsetMs,
  };
}
