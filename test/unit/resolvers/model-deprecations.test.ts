import { expect, it } from 'vitest';
import { listDeprecations } from '../../../resolvers/model-deprecations.ts';
import type { Scope } from '../../../resolvers/operation/scope.ts';

const DATES: Readonly<Record<string, unknown>> = {
  past: '2026-01-09',
  today: '2026-01-10',
  edge: '2026-02-09',
  later: '2026-02-10',
  malformed: 'next year',
  none: undefined,
};

/** A scope at 10 January 2026, 23:00 UTC, with a model for each date. */
const scope = {
  platform: {
    deployments: {
      all: () =>
        Object.keys(DATES).map((name) => ({
          deployment: {
            id: `${name}-1`,
            modelGroup: name,
            provider: 'openai',
            upstreamModel: name,
            baseModel: null,
            options: {},
          },
          stored: null,
        })),
    },
    catalog: {
      current: () => ({
        entries: [],
        find: (name: string) => (name in DATES ? { id: name, row: { deprecation_date: DATES[name] } } : null),
      }),
    },
    clock: { now: () => new Date('2026-01-10T23:00:00Z') },
  },
  caller: { role: 'proxy_admin', keyHash: 'admin', key: null, teamId: null, userId: null },
} as unknown as Scope;

it('deprecations are grouped by the whole days that are left', () => {
  const namesAndDays = (models: readonly { name: string; daysLeft: number }[]) =>
    models.map(({ name, daysLeft }) => [name, daysLeft]);
  const { deprecated, imminent, upcoming } = listDeprecations(scope, { withinDays: 30 });
  expect(namesAndDays(deprecated)).toEqual([['past', -1]]);
  expect(namesAndDays(imminent)).toEqual([
    ['today', 0],
    ['edge', 30],
  ]);
  expect(namesAndDays(upcoming)).toEqual([['later', 31]]);
});
