/** What a call is billed by where that is not tokens, and how much of it there was. */
export interface Measured {
  readonly unit: 'query' | 'character';
  readonly count: number;
}
