import { InvalidInput, NotFound } from '../../src/domain/errors.ts';
import type { SettingsPatch } from '../../src/domain/keys/key-settings.ts';
import { nullIfBlank } from '../../src/domain/optional-text.ts';
import { assertAlias, assertCaps } from '../../src/domain/keys/generation-rules.ts';
import type { KeyPatch } from '../../src/domain/keys/key-change.ts';
import type { VirtualKey } from '../../src/domain/keys/virtual-key.ts';
import { assertGuardrailsOfKey } from './guardrail-rights.ts';
import { callerOf } from './operation.ts';
import type { KeyPlatform } from './platform.ts';
import type { Scope } from './scope.ts';

const nonexistent = (noun: string, id: string, field: string): InvalidInput =>
  new InvalidInput(`${noun} ${id} does not exist.`, [], { field });

/** Throws NotFound for a change that moves a key to a team that does not exist. */
async function assertTeamOfChange(
  { platform }: Scope<KeyPlatform>,
  currentTeamId: string | null,
  patch: { readonly teamId?: string | null },
): Promise<void> {
  const wanted = nullIfBlank(patch.teamId);
  if (wanted === null || wanted === currentTeamId || (await platform.stores.teams.find(wanted)) !== null) return;
  const message = `Team doesn't exist in db. Team=${wanted}. Create team via \`/team/new\` call.`;
  throw new NotFound('team of key', wanted, message);
}

/** Throws InvalidInput for a service account without a team, or of a team that does not exist. */
export async function assertTeamOfService({ platform }: Scope<KeyPlatform>, teamId: string | null): Promise<void> {
  const wanted = nullIfBlank(teamId);
  if (wanted === null) {
    const message = 'team_id is required for service account keys. Please specify `team_id` in the request body.';
    throw new InvalidInput(message, [], { field: 'team_id' });
  }
  if ((await platform.stores.teams.find(wanted)) === null)
    throw new InvalidInput(
      'team_id does not exist in the database. Please specify a valid `team_id` in the request body.',
      [],
      { field: 'team_id' },
    );
}

/**
 * Checks the references in the settings of a key. Throws InvalidInput for a budget, project, organization or access
 * group that does not exist, and for a project of another team.
 */
export async function assertReferences(
  { platform }: Scope<KeyPlatform>,
  { budgetId, endUserBudgetId, projectId, organizationId, accessGroupIds }: Omit<SettingsPatch, 'budgetLimits'>,
  teamId: string | null,
): Promise<void> {
  const { budgets, projects, organizations, accessGroups } = platform.stores;
  for (const [field, id] of Object.entries({ budget_id: budgetId, end_user_budget_id: endUserBudgetId }))
    if (id && (await budgets.find(id)) === null) throw nonexistent('Budget', id, field);
  if (organizationId && (await organizations.find(organizationId)) === null)
    throw nonexistent('Organization', organizationId, 'organization_id');
  const unknownId = await firstUnknown(accessGroupIds ?? [], (ids) => accessGroups.findMany(ids));
  if (unknownId !== null) throw nonexistent('Access group', unknownId, 'access_group_ids');
  if (!projectId) return;
  const project = await projects.find(projectId);
  if (project === null) throw nonexistent('Project', projectId, 'project_id');
  if (nullIfBlank(teamId) !== null && project.teamId !== teamId)
    throw new InvalidInput(`Project ${projectId} is not a project of the team ${teamId}.`, [], { field: 'project_id' });
}

/** Checks the alias, limits, guardrails and references of a change. Throws NotFound, InvalidInput and Forbidden. */
export async function assertPatch(scope: Scope<KeyPlatform>, { teamId }: VirtualKey, patch: KeyPatch): Promise<void> {
  const { keyRules, clock } = scope.platform;
  assertAlias(patch.alias, keyRules);
  assertCaps(patch, keyRules, clock.now());
  assertGuardrailsOfKey(scope, callerOf(scope), patch);
  await assertTeamOfChange(scope, teamId, patch);
  await assertReferences(scope, patch.settings ?? {}, patch.teamId === undefined ? teamId : patch.teamId);
}

/** The first id without a row; null when every id has one. */
async function firstUnknown(
  ids: readonly string[],
  find: (ids: readonly string[]) => Promise<readonly { readonly id: string }[]>,
): Promise<string | null> {
  if (ids.length === 0) return null;
  const known = new Set((await find(ids)).map(({ id }) => id));
  return ids.find((id) => !known.has(id)) ?? null;
}
