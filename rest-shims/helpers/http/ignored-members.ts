import { parseObject } from './body-fields.ts';
import { namesText } from './header-lines.ts';
import type { RouteRow } from './route.ts';

/** Names that `x-lensgate-ignored-members` may contain. Members with other names are left out of the header. */
const NAME = /^[\w.-]{1,64}$/;

/** Whether a member has an empty value, which cannot have an effect. */
export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

/** Header with the names of ignored members of a body. Empty object if no member is ignored. */
export function ignoredHeader(names: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return {};
  return { 'x-lensgate-ignored-members': namesText(names.filter((name) => NAME.test(name))) };
}

/**
 * Adds `x-lensgate-ignored-members` to the answers of rows. The header names the non-empty members of the body that
 * the schema lacks. Rows without a schema of the body stay unchanged.
 */
export const withIgnoredHeader = (rows: readonly RouteRow[]): readonly RouteRow[] =>
  rows.map((row) => {
    const properties = row.bodySchema?.['properties'];
    if (typeof properties !== 'object' || properties === null) return row;
    const known = new Set(Object.keys(properties));
    return {
      ...row,
      async handle(request, scope) {
        const answer = await row.handle(request, scope);
        const ignored = Object.entries(parseObject(request.body)).flatMap(([name, value]) =>
          known.has(name) || isEmpty(value) ? [] : [name],
        );
        return ignored.length === 0 ? answer : { ...answer, headers: { ...answer.headers, ...ignoredHeader(ignored) } };
      },
    };
  });
