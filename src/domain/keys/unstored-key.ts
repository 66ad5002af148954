import { ZERO_USD } from '../money.ts';
import type { VirtualKey } from './virtual-key.ts';

/** A key without limits, for a credential that has no stored key, such as a signed token. */
export const unstoredKey = ({
  hash,
  name,
  teamId,
  now,
}: Pick<VirtualKey, 'hash' | 'name' | 'teamId'> & { readonly now: Date }): VirtualKey => ({
  hash,
  secretHash: hash,
  previousSecret: null,
  name,
  alias: null,
  role: 'internal_user',
  teamId,
  userId: null,
  models: [],
  maxBudget: null,
  budgetDuration: null,
  budgetResetAt: null,
  spentBefore: ZERO_USD,
  settings: {},
  metadata: {},
  blocked: false,
  expiresAt: null,
  rotations: 0,
  rotatedAt: null,
  createdAt: now,
  createdBy: hash,
  updatedAt: now,
  updatedBy: hash,
  deletedAt: null,
  deletedBy: null,
});
