import { join } from 'node:path';
import type { RouteRow } from '../../rest-shims/helpers/http/route.ts';
import { readFiles, ROOT } from './repository.ts';

/** Rows of all `…Routes` exports of `rest-shims/`. */
export async function allRows(): Promise<readonly RouteRow[]> {
  const rows: RouteRow[] = [];
  for (const { path } of readFiles('rest-shims/*.ts')) {
    const exported: Record<string, unknown> = await import(join(ROOT, path));
    for (const [name, value] of Object.entries(exported)) {
      if (!name.endsWith('Routes')) continue;
      // The routes of the documentation are a function of all other rows.
      rows.push(...((typeof value === 'function' ? value([]) : value) as readonly RouteRow[]));
    }
  }
  return rows;
}

/** Each documented status of each row, as `name status`. */
export function promises(rows: readonly Pick<RouteRow, 'name' | 'statuses'>[]): readonly string[] {
  return rows.flatMap(({ name, statuses }) => statuses.map((status) => `${name} ${status}`));
}

/** Documented statuses without a test title that contains them. */
export function untested(promised: readonly string[], titles: readonly string[]): readonly string[] {
  return promised.filter((promise) => {
    const [name = '', status = ''] = promise.split(' ');
    const pattern = new RegExp(`(?<![\\w.])${name.replaceAll('.', '\\.')}(?![\\w.]).*\\b${status}\\b`);
    return !titles.some((title) => pattern.test(title));
  });
}
