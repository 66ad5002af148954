/** The key of signed tokens of one bearer, with the owners in whose spend its calls count. They never change. */
export interface TokenKey {
  readonly hash: string;
  readonly teamId: string | null;
  readonly userId: string | null;
  /** Organization that a token without a team names. Null for a key of a team: the organization of the team counts. */
  readonly organizationId: string | null;
}

/** Store of the keys of signed tokens, for the spend of their owners. */
export interface TokenKeyStore {
  /** Stores keys in one commit. A key that is already stored stays as it is. */
  add(keys: readonly TokenKey[]): Promise<void>;
}
