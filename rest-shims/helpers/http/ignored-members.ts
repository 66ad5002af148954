import { parseObject } from './body-fields.ts';
import type { RouteRow } from './route.ts';

/** Names that a header may have. */
const NAME = /^[\w.-]{1,64}$/;

/** Whether a member has no value that could have an effect. */
export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

/** Header with the members of a body that have no effect; none where all have one. */
export function ignoredHead(names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return {};
  return { 'x-lensgate-ignored-members': names.filter((name) => NAME.test(name)).join(', ') };
}

/**
 * Rows whose answers name the members of the body that have no effect, in `x-lensgate-ignored-members`: those that the schema
 * of the row does not have. Rows without such a schema stay as they are.
 */
export const namingIgnored = (rows: readonly RouteRow[]): readonly RouteRow[] =>
  rows.map((row) => {
    const properties = row.request?.['properties'];
    if (typeof properties !== 'object' || properties === null) return row;
    const known = new Set(Object.keys(properties));
    return {
      ...row,
      async handle(request, scope) {
        const answer = await row.handle(request, scope);
        const ignored = Object.entries(parseObject(request.body)).flatMap(([name, value]) =>
          known.has(name) || isEmpty(value) ? [] : [name],
        );
        return ignored.length === 0 ? answer : { ...answer, headers: { ...answer.headers, ...ignoredHead(ignored) } };
      },
    };
  });
