import { expect, it } from 'vitest';
import { deploymentsFor, teamModelFinder } from '../../../src/domain/deployments/team-models.ts';
import { createRouter } from '../../../src/gateway/routing/route.ts';
import { aDeployment } from '../../support/chat.ts';

const deploymentOf = (modelGroup: string, teamId?: string) =>
  aDeployment({ id: `${teamId ?? 'all'}:${modelGroup}`, modelGroup, ...(teamId === undefined ? {} : { teamId }) });

const DEPLOYMENTS = [
  deploymentOf('exact'),
  deploymentOf('v/*'),
  deploymentOf('v/long*'),
  deploymentOf('v/exact'),
  deploymentOf('exact', 'red'),
  deploymentOf('v/lo*', 'red'),
  deploymentOf('w/*', 'red'),
];

it.each([
  ['exact', true],
  ['other', false],
  ['v/exact', false],
  // `v/long*` of all teams is longer than `v/lo*` of the team.
  ['v/longer', false],
  ['v/lo', true],
  ['v/lower', true],
  ['v/else', false],
  ['w/any', true],
])('the name %s selects a model of the team red: %s; the router of the team agrees', (name, expected) => {
  const router = createRouter(DEPLOYMENTS, [{ name: 'openai', send: () => Promise.reject(new Error('not called')) }]);
  expect(teamModelFinder(DEPLOYMENTS, DEPLOYMENTS)('red', name)).toBe(expected);
  expect(router.forTeam('red')?.(name)?.deployment.teamId === 'red').toBe(expected);
  expect(teamModelFinder(DEPLOYMENTS, DEPLOYMENTS)('blue', name)).toBe(false);
  expect(router.forTeam('blue')?.(name)?.deployment.teamId).toBeUndefined();
});

it('a blocked model belongs to its team only while no other model has the name', () => {
  // The first list has the models that are not blocked, the second all models.
  const isOwn = teamModelFinder(
    [deploymentOf('exact')],
    [deploymentOf('exact'), deploymentOf('exact', 'red'), deploymentOf('blocked', 'red')],
  );
  expect([isOwn('red', 'exact'), isOwn('red', 'blocked'), isOwn('blue', 'blocked')]).toEqual([false, true, false]);
});

it('a model of the team takes precedence over a common model; ids of models of other teams are not found', () => {
  const ids = (teamId: string | null) => deploymentsFor({ teamId }, DEPLOYMENTS).map(({ id }) => id);
  expect(ids('red')).toEqual(['all:v/*', 'all:v/long*', 'all:v/exact', 'red:exact', 'red:v/lo*', 'red:w/*']);
  expect(ids(null)).toEqual(['all:exact', 'all:v/*', 'all:v/long*', 'all:v/exact']);
  const router = createRouter(DEPLOYMENTS, [{ name: 'openai', send: () => Promise.reject(new Error('not called')) }]);
  expect(router.forTeam('blue')?.byId('red:w/*')).toBeNull();
  expect(router.forTeam('red')?.byId('red:w/*')?.deployment.id).toBe('red:w/*');
});
