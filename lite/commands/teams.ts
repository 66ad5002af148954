import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure } from '../failure.ts';
import { readLogin } from '../files/login-file.ts';
import { chooseTeam, type Team } from '../login/team-choice.ts';
import { cell, plain, table } from '../terminal/table.ts';
import { type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';
import { itemsOf, textOrNull, type Values } from '../values.ts';

/** Most model names in a cell. */
const MOST_NAMES = 3;

/** The first models of a team, then the number of the remaining ones. */
function modelsText(team: JsonObject): string {
  const models = itemsOf(team['models']).map(String);
  if (models.length === 0) return 'All models';
  const rest = models.length > MOST_NAMES ? ` (+${models.length - MOST_NAMES} more)` : '';
  return plain(models.slice(0, MOST_NAMES).join(', ') + rest);
}

/** Role in a team of the user who signed in. `Member` also without a login. */
function roleIn({ host }: Context, team: JsonObject): string {
  const userId = readLogin(host)?.userId ?? null;
  const members = itemsOf(team['members_with_roles']).map(jsonObjectOf);
  const own = userId === null ? undefined : members.find(({ user_id }) => user_id === userId);
  return textOrNull(own?.['role']) === 'admin' ? 'Admin' : 'Member';
}

function printTeams(context: Context, teams: readonly JsonObject[], emptyText: string): void {
  const { terminal } = context.host;
  if (teams.length === 0) return terminal.print(emptyText);
  const rows = teams.map((team, index) => [
    String(index + 1),
    cell(team['team_alias'] ?? 'N/A'),
    cell(team['team_id'] ?? 'N/A'),
    modelsText(team),
    typeof team['max_budget'] === 'number' ? `$${team['max_budget']}` : 'Unlimited',
    roleIn(context, team),
  ]);
  terminal.print(table('Available Teams', ['Index', 'Team Alias', 'Team ID', 'Models', 'Max Budget', 'Role'], rows));
}

const teamsAt = async (context: Context, path: string): Promise<readonly JsonObject[]> =>
  itemsOf(await context.send('GET', path)).map(jsonObjectOf);

const teamOf = (team: JsonObject): Team => ({
  id: textOrNull(team['team_id']) ?? '',
  alias: textOrNull(team['team_alias']),
});

async function assignKey(context: Context, values: Values): Promise<void> {
  const { terminal } = context.host;
  const key = await context.key();
  if (key === null) throw new CommandFailure("No API key found. Please login first using 'lite login'.");
  const teams = await teamsAt(context, '/team/list');
  let teamId = values.text('team-id');
  if (teamId === null) {
    if (teams.length === 0) return terminal.print('No teams found for your user.');
    const chosen = await chooseTeam(context.host, teams.map(teamOf));
    if (chosen === null || chosen === 'skip') return terminal.print('Operation cancelled.');
    teamId = chosen.id;
  }
  terminal.print(`\nAssigning your key to team: ${plain(teamId)}`);
  await context.send('POST', '/key/update', { json: { key, team_id: teamId } });
  terminal.print(`Successfully assigned key to team: ${plain(teamId)}`);
  const models = itemsOf(teams.find((team) => team['team_id'] === teamId)?.['models']).map(String);
  terminal.print(
    models.length > 0
      ? `You can now access models: ${plain(models.join(', '))}`
      : 'You can now access all available models',
  );
}

export const teamCommands: readonly Command[] = [
  {
    names: ['teams', 'list'],
    summary: 'List teams that you belong to',
    run: async (context) => printTeams(context, await teamsAt(context, '/team/list'), 'No teams found for your user.'),
  },
  {
    names: ['teams', 'available'],
    summary: 'List teams that are available to join',
    run: async (context) =>
      printTeams(context, await teamsAt(context, '/team/available'), 'No available teams to join.'),
  },
  {
    names: ['teams', 'assign-key'],
    summary: 'Assign your current key to a team',
    options: { 'team-id': { type: 'string', help: 'ID of the team; without it, a list to choose from' } },
    run: assignKey,
  },
];
