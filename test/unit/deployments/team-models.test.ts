import { expect, it } from 'vitest';
import { deploymentsFor, teamModelFinder } from '../../../src/domain/deployments/team-models.ts';
import { createRouter } from '../../../src/gateway/routing/route.ts';
import { aDeployment } from '../../support/chat.ts';

const of = (modelGroup: string, teamId?: string) =>
  aDeployment({ id: `${teamId ?? 'all'}:${modelGroup}`, modelGroup, ...(teamId === undefined ? {} : { teamId }) });

const OPEN = [
  of('exact'),
  of('v/*'),
  of('v/long*'),
  of('v/exact'),
  of('exact', 'red'),
  of('v/lo*', 'red'),
  of('w/*', 'red'),
];

it.each([
  ['exact', true],
  ['other', false],
  ['v/exact', false],
  ['v/longer', false],
  ['v/lo', true],
  ['v/lower', true],
  ['v/else', false],
  ['w/any', true],
])('%s is a model of the team: %s, as its router selects it', (name, expected) => {
  const router = createRouter(OPEN, [{ name: 'openai', send: () => Promise.reject(new Error('not called')) }]);
  expect(teamModelFinder(OPEN, OPEN)('red', name)).toBe(expected);
  expect(router.forTeam('red')?.(name)?.deployment.teamId === 'red').toBe(expected);
  expect(teamModelFinder(OPEN, OPEN)('blue', name)).toBe(false);
  expect(router.forTeam('blue')?.(name)?.deployment.teamId).toBeUndefined();
});

it('a blocked model belongs to its team only while no other model has the name', () => {
  const isOwn = teamModelFinder([of('exact')], [of('exact'), of('exact', 'red'), of('gone', 'red')]);
  expect([isOwn('red', 'exact'), isOwn('red', 'gone'), isOwn('blue', 'gone')]).toEqual([false, true, false]);
});

it('a name selects the model of the team before that of all, and ids of other teams are not found', () => {
  const ids = (teamId: string | null) => deploymentsFor({ teamId }, OPEN).map(({ id }) => id);
  expect(ids('red')).toEqual(['all:v/*', 'all:v/long*', 'all:v/exact', 'red:exact', 'red:v/lo*', 'red:w/*']);
  expect(ids(null)).toEqual(['all:exact', 'all:v/*', 'all:v/long*', 'all:v/exact']);
  const router = createRouter(OPEN, [{ name: 'openai', send: () => Promise.reject(new Error('not called')) }]);
  expect(router.forTeam('blue')?.byId('red:w/*')).toBeNull();
  expect(router.forTeam('red')?.byId('red:w/*')?.deployment.id).toBe('red:w/*');
});
