import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { cell, plain, table } from '../terminal/table.ts';
import { jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, type Values } from '../values.ts';
import { withoutNulls } from './keys.ts';
import { printAnswer } from './print-answer.ts';

async function listUsers(context: Context): Promise<void> {
  const answer = jsonObjectOf(await context.send('GET', '/user/list'));
  const users = itemsOf(answer['users']).map(jsonObjectOf);
  const { terminal } = context.host;
  if (users.length === 0) return terminal.print('No users found.');
  const rows = users.map(({ user_id, user_email, user_role, teams }) => [
    ...[user_id, user_email, user_role].map(cell),
    plain(itemsOf(teams).map(String).join(', ')),
  ]);
  terminal.print(table('Users', ['User ID', 'Email', 'Role', 'Teams'], rows));
}

async function getUser(context: Context, values: Values): Promise<void> {
  const query = { user_id: values.text('id') };
  await printAnswer(context, 'GET', '/user/info', { query });
}

async function createUser(context: Context, values: Values): Promise<void> {
  const json = withoutNulls({
    user_email: values.text('email'),
    user_role: values.text('role'),
    user_alias: values.text('alias'),
    teams: values.has('team') ? values.texts('team') : null,
    max_budget: values.number('max-budget'),
  });
  await printAnswer(context, 'POST', '/user/new', { json });
}

async function deleteUsers(context: Context, values: Values): Promise<void> {
  const json = { user_ids: values.operands };
  await printAnswer(context, 'POST', '/user/delete', { json });
}

export const userCommands: readonly Command[] = [
  { names: ['users', 'list'], summary: 'List all users', run: listUsers },
  {
    names: ['users', 'get'],
    summary: 'Get information about a user',
    options: { id: { type: 'string', help: 'ID of the user; without it, your own user' } },
    run: getUser,
  },
  {
    names: ['users', 'create'],
    summary: 'Create a new user',
    options: {
      email: { type: 'string', required: true, help: 'Email of the user' },
      role: { type: 'string', default: 'internal_user', help: 'Role of the user' },
      alias: { type: 'string', help: 'Name of the user' },
      team: { type: 'string', multiple: true, help: 'ID of a team, may be repeated' },
      'max-budget': { type: 'string', help: 'Budget in USD' },
    },
    run: createUser,
  },
  {
    names: ['users', 'delete'],
    summary: 'Delete users by their IDs',
    operands: ['user-ids...'],
    run: deleteUsers,
  },
];
