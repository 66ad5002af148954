import type { FieldsOf } from './builder.ts';
import type { Connection } from './paging.ts';

/** A page with the number of all items of its list. */
export interface CountedPage<Item> extends Connection<Item> {
  readonly totalCount: number;
}

/**
 * Name and description of the connection type of a noun. `items` names the items in the plural, e.g. `health checks`.
 */
export const pageType = (noun: string, items: string) =>
  ({ name: `${noun}Connection`, description: `One page of ${items}.` }) as const;

/** Name and description of the edge type of a noun. `item` names one item, e.g. `health check`. */
export const edgeType = (noun: string, item: string) =>
  ({ name: `${noun}Edge`, description: `One ${item} of a page.` }) as const;

/** The field `totalCount` of a connection type. */
export const totalCount = (
  t: FieldsOf<{ readonly totalCount: number }>,
  items: string,
  description = `Number of ${items} that match the filter, on all pages.`,
) => ({ totalCount: t.int({ description, resolve: (page) => page.totalCount }) });
