import type { BudgetScope } from '../admission/scopes.ts';

/** A budget that refused a call, or a soft budget that was crossed. */
export interface BudgetAlert {
  readonly kind: 'refused' | 'soft_budget';
  readonly at: Date;
  readonly scope: BudgetScope;
  /** Id within the scope: the hash of a key, the id of a team. */
  readonly id: string;
  /** The refusal, or the crossed soft budget, with spend and budget. */
  readonly message: string;
  /** Hash of the key of the call; null for a call without a virtual key, such as one with the admin key. */
  readonly keyHash: string | null;
}
