import type { Budget } from '../src/domain/budgets/budget.ts';
import { Conflict, Forbidden, InvalidInput, NotFound } from '../src/domain/errors.ts';
import type { Usd } from '../src/domain/money.ts';
import { nullIfBlank } from '../src/domain/optional-text.ts';
import { newProject, patchedProject, type Project, type ProjectPatch } from '../src/domain/projects/project.ts';
import { ALL_TEAMS, type Team } from '../src/domain/teams/team.ts';
import { isAnyAdmin, refuseManagement, teamManager, teamReader, tenantAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import {
  addWithBudgets,
  changeWithBudget,
  createdBudgets,
  saveBudget,
  saveOwnBudget,
  type WantedBudget,
} from './operation/owned-budgets.ts';
import type { TeamPlatform } from './operation/platform.ts';
import type { Scope } from './operation/scope.ts';
import { budgetedRows } from './operation/window-spend.ts';
import { allowedGuardrails } from './operation/guardrail-rights.ts';
import { managedTeam, mayReadTeam } from './operation/team-views.ts';
import { listTeams } from './teams.ts';

/** A project with its budget. */
export interface ProjectView {
  readonly project: Project;
  readonly budget: Budget | null;
  /** Spend of the project's keys in the budget window, deleted keys included. */
  readonly spend: Usd;
}

const unknownProject = (id: string): NotFound => new NotFound('project', id, `Project not found, project_id=${id}`);

async function viewsOf(scope: Scope<TeamPlatform>, projects: readonly Project[]): Promise<readonly ProjectView[]> {
  const rows = await budgetedRows(scope, 'project', projects);
  return rows.map(({ row: project, ...view }) => ({ project, ...view }));
}

async function viewOf(scope: Scope<TeamPlatform>, project: Project): Promise<ProjectView> {
  const [view] = await viewsOf(scope, [project]);
  if (view === undefined) throw unknownProject(project.id);
  return view;
}

/**
 * Saves the budget of a project and returns its id. Only a proxy administrator may select another existing budget by
 * its id, because other rows may use it. Throws InvalidInput and Forbidden.
 */
async function saveBudgetOfProject(
  scope: Scope<TeamPlatform>,
  wanted: WantedBudget,
  current: string | null,
): Promise<string | null> {
  if (callerOf(scope).role === 'proxy_admin') return saveBudget(scope, wanted, current);
  const named = nullIfBlank(wanted.budgetId);
  if (named !== null && named !== current)
    throw new Forbidden('Only proxy admins choose the budget of a project by its id.', 'budget');
  return saveOwnBudget(scope, wanted.limits, current);
}

/**
 * Creates a project of a team. Throws NotFound for the team, Conflict when the id is taken, InvalidInput and
 * Forbidden.
 */
export const createProject = operation({
  name: 'createProject',
  access: teamManager,
  async run(
    scope: Scope<TeamPlatform>,
    {
      id,
      teamId,
      patch,
      budget,
    }: {
      readonly id: string | null;
      readonly teamId: string;
      readonly patch: ProjectPatch;
      readonly budget: WantedBudget;
    },
  ): Promise<ProjectView> {
    const { stores, ids } = scope.platform;
    const team = await managedTeam(scope, teamId);
    assertModelsOfTeam(patch.models ?? [], team.models);
    // Only a check: the result equals `patch`, because a new project has no stored guardrails that would be kept.
    allowedGuardrails(scope, patch, { team: team.metadata, before: {}, ofTeam: false });
    const identity = { ...authored(scope), id: nullIfBlank(id) ?? ids.uuid() };
    if ((await stores.projects.find(identity.id)) !== null)
      throw new Conflict(`Project id = ${identity.id} already exists.`);
    const budgetId = await saveBudgetOfProject(scope, budget, null);
    const project = newProject({ ...patch, budgetId }, { ...identity, teamId });
    await addWithBudgets(scope, createdBudgets(budget, budgetId), () => stores.projects.add(project));
    return viewOf(scope, project);
  },
});

/** Throws InvalidInput for a model that the team does not have. A team with an empty list has all models. */
function assertModelsOfTeam(models: readonly string[], teamModels: readonly string[]): void {
  const foreign = teamModels.length === 0 ? undefined : models.find((model) => !teamModels.includes(model));
  if (foreign !== undefined) throw new InvalidInput(`Model ${foreign} is not a model of the team.`);
}

/**
 * Reads a project. Throws NotFound to administrators, and Forbidden when the caller may not read the team of the
 * project.
 */
export const getProject = operation({
  name: 'getProject',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>, { id }: { readonly id: string }): Promise<ProjectView> {
    const caller = callerOf(scope);
    const project = await scope.platform.stores.projects.find(id);
    // An unknown project gets the error of a project of another team, so that a caller cannot probe for project ids.
    if (!isAnyAdmin(caller) && (project === null || !(await mayReadTeam(scope, project.teamId))))
      throw new Forbidden(`User=${caller.userId} not authorized to access this project=${id}`, 'team_member');
    if (project === null) throw unknownProject(id);
    return viewOf(scope, project);
  },
});

/** Lists projects. Administrators see all projects, other callers those of their user's teams. */
export const listProjects = operation({
  name: 'listProjects',
  access: teamReader,
  async run(scope: Scope<TeamPlatform>): Promise<readonly ProjectView[]> {
    const caller = callerOf(scope);
    const { projects } = scope.platform.stores;
    if (isAnyAdmin(caller)) return viewsOf(scope, await projects.all({ teamIds: null }));
    const page = { sort: 'created_at', descending: false, limit: null, from: 0 } as const;
    const userId = nullIfBlank(caller.userId);
    const own = userId === null ? [] : (await listTeams(scope, { filter: ALL_TEAMS, userId, ...page })).teams;
    return viewsOf(scope, await projects.all({ teamIds: own.map(({ team }) => team.id) }));
  },
});

/**
 * The team of a project. Throws Forbidden for a caller that does not manage the team. Null for a proxy administrator
 * when the team does not exist: earlier builds deleted teams with projects.
 */
async function currentTeam(scope: Scope<TeamPlatform>, { teamId }: Project): Promise<Team | null> {
  const isOrphan = (await scope.platform.stores.teams.find(teamId)) === null;
  return isOrphan && callerOf(scope).role === 'proxy_admin' ? null : managedTeam(scope, teamId);
}

/** Changes a project. Throws NotFound, InvalidInput and Forbidden. */
export const updateProject = operation({
  name: 'updateProject',
  access: teamManager,
  async run(
    scope: Scope<TeamPlatform>,
    { id, patch, budget }: { readonly id: string; readonly patch: ProjectPatch; readonly budget: WantedBudget },
  ): Promise<ProjectView> {
    const { projects } = scope.platform.stores;
    const authorship = authored(scope);
    const caller = callerOf(scope);
    const current = await projects.find(id);
    if (current === null) throw caller.role === 'proxy_admin' ? unknownProject(id) : refuseManagement(caller);
    // The caller must manage the team of the project before the change and, when the project moves, the new team.
    const teamBefore = await currentTeam(scope, current);
    const team = patch.teamId === undefined ? teamBefore : await managedTeam(scope, patch.teamId);
    assertModelsOfTeam(patch.models ?? current.models, team?.models ?? []);
    const metadata = team?.metadata ?? {};
    const guarded = allowedGuardrails(scope, patch, { team: metadata, before: current.metadata, ofTeam: false });
    const done = await changeWithBudget(scope, projects, current, {
      wanted: budget,
      budgetOf: ({ budgetId }) => budgetId,
      save: (budgetId) => saveBudgetOfProject(scope, budget, budgetId),
      change: (row, budgetId) => patchedProject(row, { ...guarded, budgetId }, authorship),
    });
    if (done === null) throw unknownProject(id);
    scope.platform.ownedKeys.evictOwner({ kind: 'projectId', id });
    return viewOf(scope, done.after);
  },
});

/** Deletes projects. Throws NotFound for an unknown one, before any is deleted. */
export const deleteProjects = operation({
  name: 'deleteProjects',
  access: tenantAdmin,
  async run(scope: Scope<TeamPlatform>, ids: readonly string[]): Promise<readonly ProjectView[]> {
    const { projects } = scope.platform.stores;
    const known = await projects.findMany(ids);
    const missing = ids.find((id) => !known.some((project) => project.id === id));
    if (missing !== undefined) throw unknownProject(missing);
    const removed = await projects.remove(ids);
    for (const { id } of removed) scope.platform.ownedKeys.evictOwner({ kind: 'projectId', id });
    return viewsOf(scope, removed);
  },
});
