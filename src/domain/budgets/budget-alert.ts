import type { BudgetScope } from '../admission/scopes.ts';

/** A budget that refused a call. */
export interface BudgetAlert {
  readonly at: Date;
  readonly scope: BudgetScope;
  /** Id within the scope: the hash of a key, the id of a team. */
  readonly id: string;
  /** The refusal, with spend and budget. */
  readonly message: string;
  /** Key of the refused call; null for the admin key. */
  readonly keyHash: string | null;
}
