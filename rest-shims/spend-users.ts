import { readGlobalSpend } from '../resolvers/spend.ts';
import { InvalidInput, type Issue } from '../src/domain/errors.ts';
import { usdNumber } from '../src/domain/money.ts';
import { utcTimeFrom } from '../src/domain/utc-time.ts';
import { linkedPageIn, readLinkedPage, renderLinkedPage } from './helpers/http/linked-pages.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { merged, requiredParameters } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const MAX_USERS = 100_000;

const FROM_PARAMETER = 'filter[startTime][gte]';
const LAST_PARAMETER = 'filter[startTime][lte]';

/** The period of a query. Both parameters are inclusive, to the millisecond. Throws InvalidInput. */
function parseTimes(search: string): { readonly from: Date; readonly to: Date } {
  const query = new URLSearchParams(search);
  const issues: Issue[] = [];
  const timeOf = (name: string): Date => {
    const text = query.get(name);
    const time = utcTimeFrom(text ?? '') ?? new Date(Number.NaN);
    if (text === null) issues.push({ path: ['query', name], rule: 'missing', message: 'Field required' });
    else if (Number.isNaN(time.getTime()))
      issues.push({ path: ['query', name], rule: 'datetime_parsing', message: 'Input should be a valid datetime' });
    return time;
  };
  const [from, last] = [timeOf(FROM_PARAMETER), timeOf(LAST_PARAMETER)];
  if (issues.length > 0) throw new InvalidInput('The query is not valid.', issues);
  return { from, to: new Date(last.getTime() + 1) };
}

const PATH = '/management/v1/spend_logs/users';

/** Users with their spend, in pages with links. */
export const spendUserRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_READ,
    failureForm: { body: 'problem' },
    name: 'spend.userPage',
    querySchema: merged(readLinkedPage, requiredParameters(FROM_PARAMETER, LAST_PARAMETER)),
    paths: [PATH],
    statuses: [200, 400, 401],
    parse({ search }) {
      // Refuses an invalid page before the report is read.
      linkedPageIn(search);
      return { filter: { ...parseTimes(search), any: {} }, by: ['user'], limit: MAX_USERS } as const;
    },
    run: readGlobalSpend,
    render({ groups }, { search }) {
      const { number, size } = linkedPageIn(search);
      const users = groups.filter(({ values }) => typeof values.user === 'string');
      const data = users.slice((number - 1) * size, number * size).map(({ values, cost, calls }) => ({
        user_id: values.user ?? '',
        total_spend: usdNumber(cost),
        request_count: calls,
      }));
      return json(renderLinkedPage(PATH, search, data, users.length));
    },
  }),
];
