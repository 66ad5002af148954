import { expect, it } from 'vitest';
import { tenancyClient } from '../support/tenancy-client.ts';

const { post, user } = tenancyClient();

const TEAM = '{ __typename ... on Team { teamId } ... on UserError { message } }';
const READ = '{ teamLogging(id: "t1") { disabled callbacks { name type variables } } }';
const ADD = `mutation ($variables: JSON) {
  addTeamCallback(input: { id: "t1", name: "langsmith", type: FAILURE, variables: $variables }) ${TEAM}
}`;
const REMOVE = `mutation { removeTeamCallback(input: { id: "t1", name: "langsmith" }) ${TEAM} }`;
const DISABLE = `mutation { disableTeamLogging(input: { id: "t1" }) ${TEAM} }`;

const graph = async (query: string, variables: object = {}, key?: string): Promise<unknown> =>
  (await post('/graphql', { query, variables }, key)).body['data'];

it('callbacks of a team are added, read, removed and disabled', async () => {
  await post('/team/new', { team_id: 't1' });
  const variables = { langsmith_api_key: 'ls-1', langsmith_project: 'p' };
  expect(await graph(ADD, { variables: {} })).toEqual({
    addTeamCallback: { __typename: 'InvalidInputError', message: 'langsmith needs the variable langsmith_api_key.' },
  });
  expect(await graph(ADD, { variables })).toEqual({ addTeamCallback: { __typename: 'Team', teamId: 't1' } });
  const callback = { name: 'langsmith', type: 'FAILURE', variables: { ...variables, langsmith_api_key: 'REDACTED' } };
  expect(await graph(READ)).toEqual({ teamLogging: { disabled: false, callbacks: [callback] } });
  expect(await graph(READ, {}, await user({ user_id: 'stranger' }))).toEqual({ teamLogging: null });
  expect(await graph(REMOVE)).toEqual({ removeTeamCallback: { __typename: 'Team', teamId: 't1' } });
  expect(await graph(READ)).toEqual({ teamLogging: { disabled: false, callbacks: [] } });
  expect(await graph(REMOVE)).toEqual({
    removeTeamCallback: {
      __typename: 'NotFoundError',
      message: 'callback_name = langsmith is not registered for team_id = t1.',
    },
  });
  expect(await graph(DISABLE)).toEqual({ disableTeamLogging: { __typename: 'Team', teamId: 't1' } });
  expect(await graph(READ)).toEqual({ teamLogging: { disabled: true, callbacks: [] } });
});
