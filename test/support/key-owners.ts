import { type CountedLimits, NO_LIMITS } from '../../src/domain/budgets/limits.ts';
import { ZERO_USD } from '../../src/domain/money.ts';
import type { KeyOwners } from '../../src/domain/owners/key-owners.ts';

type GivenLimits = Partial<CountedLimits>;

/**
 * Owners of a key: user `u`, team `t`, the team's member, project `p` and organization `o`. Owners without limits are
 * absent.
 */
export function someOwners({
  user,
  team,
  member,
  organization,
  project,
  budget,
  teamMetadata = {},
  projectMetadata = {},
  hasOwnLimits = true,
}: {
  readonly user?: GivenLimits;
  readonly team?: GivenLimits;
  readonly member?: GivenLimits;
  readonly organization?: GivenLimits;
  readonly project?: GivenLimits;
  /** Limits of the budget with the key's budget id. */
  readonly budget?: GivenLimits;
  readonly teamMetadata?: Readonly<Record<string, unknown>>;
  readonly projectMetadata?: Readonly<Record<string, unknown>>;
  /** Whether `member` has its own limits, and not the defaults of its team. */
  readonly hasOwnLimits?: boolean;
}): KeyOwners {
  const limits = (limitFields: GivenLimits): CountedLimits => ({ ...NO_LIMITS, spentBefore: null, ...limitFields });
  const createdAt = new Date(0);
  return {
    user:
      user === undefined
        ? null
        : { id: 'u', role: null, models: [], limits: limits(user), createdAt, spentBefore: ZERO_USD },
    team:
      team === undefined
        ? null
        : {
            id: 't',
            createdAt,
            blocked: false,
            models: [],
            modelAliases: {},
            metadata: teamMetadata,
            limits: limits(team),
            spentBefore: ZERO_USD,
          },
    member: member === undefined ? null : { role: 'user', models: [], limits: limits(member), hasOwnLimits },
    project:
      project === undefined
        ? null
        : { id: 'p', blocked: false, models: [], tags: [], metadata: projectMetadata, limits: limits(project) },
    budget: budget === undefined ? null : limits(budget),
    organization: organization === undefined ? null : { id: 'o', models: [], limits: limits(organization) },
  };
}
