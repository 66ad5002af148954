/** One page of a list read by cursor. `nextCursor` is null for the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

/** A page of `limit` rows. `rows` has one row more when there is a next page. */
export const pageOfRows = <Row>(rows: readonly Row[], limit: number) => ({
  items: rows.slice(0, limit),
  hasMore: rows.length > limit,
});
