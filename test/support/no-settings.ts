import type { SettingsPlatform, ProviderBudgetPlatform, SpendPlatform } from '../../resolvers/operation/platform.ts';
import type { SignInPlatform } from '../../resolvers/operation/sign-in-platform.ts';
import { NO_PROVIDER_BUDGETS } from '../../src/domain/budgets/route-budget.ts';
import type { DeclaredConfig } from '../../src/domain/settings/ownership.ts';
import { NO_ADJUSTMENTS } from '../../src/domain/settings/cost-adjustments.ts';

/** Declarations of an absent configuration file. */
const NO_CONFIG: DeclaredConfig = {
  file: null,
  files: [],
  declared: {},
  resolved: {},
  placeOf: () => ({ source: 'config file', line: null }),
};

const refuse = (): never => {
  throw new Error('Stored settings are tested with a real store.');
};

/** Settings parts of the platform for tests without settings. */
export const noSettings: Pick<SettingsPlatform, 'configuration' | 'allowedAddresses'> &
  Pick<SignInPlatform, 'signIns'> &
  Pick<SpendPlatform, 'costAdjustments'> &
  Pick<ProviderBudgetPlatform, 'providerBudgets' | 'globalBudget'> = {
  costAdjustments: () => NO_ADJUSTMENTS,
  providerBudgets: () => NO_PROVIDER_BUDGETS,
  globalBudget: () => null,
  configuration: {
    current: () => NO_CONFIG,
    stored: () => new Map(),
    refresh: async () => {},
    storesModels: true,
    lastReload: () => null,
    faultsOf: () => [],
    toYaml: refuse,
  },
  allowedAddresses: { isAddress: () => true, covers: () => true, assertAllowed() {} },
  signIns: {
    username: 'admin',
    isPassword: () => false,
    throttle: { admit: async () => {}, failed: async () => {}, succeeded: async () => {} },
    openers: { of: refuse, holds: refuse },
    logins: { start: refuse, assertOpen: refuse, complete: refuse, read: refuse, take: refuse },
    loginRateLimiter: { count() {} },
    clients: { issue: refuse, find: () => null },
    registrationRateLimiter: { count() {} },
    tokenRateLimiter: { count() {} },
    clientRateLimiter: { count() {} },
    networkRateLimiter: { count() {} },
    authorizationRateLimiter: { count() {} },
    renewalRateLimiter: { count() {} },
    grants: { issue: refuse, take: refuse },
    teamChoices: { issue: refuse, take: refuse },
    publicUrl: null,
    commandLineSeconds: 1,
    codes: null,
    authored: (work) => work(),
  },
};

export const noSettingsStore: SettingsPlatform['stores']['settings'] = { find: refuse, all: refuse, change: refuse };
