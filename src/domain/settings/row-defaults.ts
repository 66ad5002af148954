import type { WantedWindow } from '../keys/key-settings.ts';
import { usdFrom, usdText } from '../money.ts';
import { ROLES } from '../role.ts';
import type { TeamPatch } from '../teams/team.ts';
import type { UserPatch } from '../users/user.ts';
import type { Configuration } from './configuration.ts';
import { valuesOfGroup } from './group-values.ts';
import type { GroupName } from './setting-groups.ts';
import type { SectionContent } from './stored-section.ts';
import { isOfKind } from './value-kinds.ts';

type Read = Pick<Configuration, 'current' | 'stored'>;

const valuesOf = (configuration: Read, name: GroupName): SectionContent =>
  valuesOfGroup(name, configuration.current(), configuration.stored());

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const textsOf = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;
const integerOf = (value: unknown): number | undefined => (Number.isSafeInteger(value) ? Number(value) : undefined);

const budgetOf = ({ max_budget: amount, budget_duration: duration }: SectionContent) => ({
  maxBudget: typeof amount === 'number' || typeof amount === 'string' ? (usdFrom(amount) ?? undefined) : undefined,
  budgetDuration: textOf(duration),
});

/** Undefined for a value that the setting does not accept. Such a value is logged at the start. */
const windowsOf = (value: unknown): readonly WantedWindow[] | undefined =>
  Array.isArray(value) && isOfKind('windows', value)
    ? value.flatMap(({ budget_duration: budgetDuration, max_budget: most }: WindowSetting) => {
        const amount = usdFrom(most);
        return amount === null ? [] : [{ budgetDuration, maxBudget: usdText(amount) }];
      })
    : undefined;

interface WindowSetting {
  readonly budget_duration: string;
  readonly max_budget: number | string;
}

/** An object without the members that are undefined. */
const withoutUndefined = <Values extends object>(
  values: Values,
): { [Name in keyof Values]?: Exclude<Values[Name], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>;
  };

/** Values for settings that a request for a new user leaves out, and the teams that new users join. */
export function defaultsOfUsers(configuration: Read): {
  readonly patch: UserPatch;
  readonly teamIds: readonly string[];
} {
  const values = valuesOf(configuration, 'internalUser');
  const { user_role: role, models, teams } = values;
  return {
    patch: withoutUndefined({ ...budgetOf(values), role: ROLES.find((one) => one === role), models: textsOf(models) }),
    teamIds: (Array.isArray(teams) ? teams : []).flatMap((one: unknown) => {
      const id = typeof one === 'object' && one !== null ? (one as SectionContent)['team_id'] : one;
      return typeof id === 'string' ? [id] : [];
    }),
  };
}

/**
 * Values for settings that a request for a new team leaves out. They have no `models`, which apply only to teams that a
 * single sign-on creates.
 */
export function defaultsOfTeams(configuration: Read): TeamPatch {
  const values = valuesOf(configuration, 'defaultTeam');
  return withoutUndefined({
    ...budgetOf(values),
    budgetLimits: windowsOf(values['budget_limits']),
    tpmLimit: integerOf(values['tpm_limit']),
    rpmLimit: integerOf(values['rpm_limit']),
    memberPermissions: textsOf(values['team_member_permissions']),
    organizationId: textOf(values['organization_id']),
  });
}
