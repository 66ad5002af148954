import { expect, it } from 'vitest';
import { faultsFrom } from '../../support/read-settings.ts';

it.each([
  ['name', '{ agent_name: one }', '{ agent_name: one }', 'agent_list.0.agent_name: is the name of another agent, too'],
  [
    'id',
    '{ agent_name: one, agent_id: a }',
    '{ agent_name: two, agent_id: a }',
    'agent_list.0.agent_id: is the id of another agent, too',
  ],
])('the %s of an agent in agent_list must not be used in agents', (_member, first, second, fault) => {
  const yaml = `agents:\n  - ${first}\nagent_list:\n  - ${second}\n`;
  expect(faultsFrom({ yaml })).toEqual([`config.yaml:4: ${fault}`]);
});
