/** One page of a list read by cursor. `nextCursor` is null after the last page. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}
