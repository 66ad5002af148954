import {
  createProject,
  deleteProjects,
  getProject,
  listProjects,
  type ProjectView,
  updateProject,
} from '../resolvers/projects.ts';
import {
  fields,
  flagOf,
  given,
  members,
  object,
  parseObject,
  requiredText,
  requiredTexts,
  text,
  texts,
} from './http/body-fields.ts';
import { GUARDRAIL_READERS } from './key-metadata.ts';
import { namingIgnored } from './http/ignored-members.ts';
import { json, route, type RouteRow } from './http/route.ts';
import {
  BUDGET_MEMBERS,
  budgetFrom,
  defined,
  metadataMembersOf,
  MODEL_LIMITS,
  renderBudgetTable,
} from './limit-fields.ts';
import { merged, textParameters } from './http/schema.ts';
import { usdNumber } from '../src/domain/money.ts';
import { shownMetadata } from '../src/domain/settings/redaction.ts';

type SentFields = Readonly<Record<string, unknown>>;

const readMembers = members({
  project_alias: given(text),
  description: given(text),
  models: given(texts),
  tags: given(texts),
  metadata: given(object),
  blocked: given(flagOf),
  budget_id: text,
});
const readMetadata = members<SentFields>(GUARDRAIL_READERS);
const readNew = members({ team_id: requiredText, project_id: text });
const readChanged = members({ project_id: requiredText, team_id: given(text) });

function settingsOf(sent: SentFields) {
  const { project_alias: alias, budget_id: budgetId, blocked, ...read } = readMembers(sent);
  const metadataMembers = { ...defined(readMetadata(sent)), ...metadataMembersOf(sent).metadataMembers };
  return {
    patch: {
      ...defined(read),
      ...defined({ alias, blocked: blocked ?? undefined }),
      ...(Object.keys(metadataMembers).length === 0 ? {} : { metadataMembers }),
    },
    budget: { budgetId, limits: budgetFrom(sent) },
  };
}

function parseNew(body: Uint8Array) {
  const sent = parseObject(body);
  const { team_id: teamId, project_id: id } = readNew(sent);
  return { id, teamId, ...settingsOf(sent) };
}

function parseChange(body: Uint8Array) {
  const sent = parseObject(body);
  const { project_id: id, team_id: teamId } = readChanged(sent);
  const { patch, budget } = settingsOf(sent);
  return { id, patch: { ...patch, ...defined({ teamId: teamId ?? undefined }) }, budget };
}

const renderProject = ({ project, budget, spend }: ProjectView) => ({
  project_id: project.id,
  project_alias: project.alias,
  description: project.description,
  team_id: project.teamId,
  budget_id: project.budgetId,
  litellm_budget_table: renderBudgetTable(budget),
  models: project.models,
  tags: project.tags,
  metadata: shownMetadata(project.metadata),
  spend: usdNumber(spend),
  model_spend: {},
  blocked: project.blocked,
  object_permission: null,
  created_at: project.createdAt.toISOString(),
  created_by: project.createdBy,
  updated_at: project.updatedAt.toISOString(),
  updated_by: project.updatedBy,
});

const CHANGING = {
  method: 'POST',
  surface: 'management',
  category: null,
  credential: 'required',
  answers: [200, 400, 401, 403, 404, 422],
  failures: { body: 'named', param: 'project_id' },
  bodyLimit: 1024 * 1024,
} as const;

const readIds = fields({ project_ids: requiredTexts });

/** Projects of teams. */
export const projectRoutes: readonly RouteRow[] = namingIgnored([
  route({
    ...CHANGING,
    name: 'projects.create',
    request: merged(readMembers, readMetadata, MODEL_LIMITS, BUDGET_MEMBERS, readNew),
    paths: ['/project/new'],
    parse: ({ body }) => parseNew(body),
    run: createProject,
    render: (view) => json(renderProject(view)),
  }),
  route({
    ...CHANGING,
    name: 'projects.update',
    request: merged(readMembers, readMetadata, MODEL_LIMITS, BUDGET_MEMBERS, readChanged),
    paths: ['/project/update'],
    parse: ({ body }) => parseChange(body),
    run: updateProject,
    render: (view) => json(renderProject(view)),
  }),
  route({
    ...CHANGING,
    method: 'GET',
    name: 'projects.info',
    query: textParameters('project_id'),
    paths: ['/project/info'],
    answers: [200, 401, 403, 404],
    bodyLimit: 0,
    parse: ({ search }) => ({ id: new URLSearchParams(search).get('project_id') ?? '' }),
    run: getProject,
    render: (view) => json(renderProject(view)),
  }),
  route({
    ...CHANGING,
    method: 'GET',
    name: 'projects.list',
    paths: ['/project/list'],
    answers: [200, 401],
    bodyLimit: 0,
    parse: () => undefined,
    run: listProjects,
    render: (views) => json(views.map(renderProject)),
  }),
  route({
    ...CHANGING,
    method: 'DELETE',
    name: 'projects.delete',
    request: readIds.schema,
    paths: ['/project/delete'],
    answers: [200, 401, 403, 404, 422],
    parse: ({ body }) => readIds(body).project_ids,
    run: deleteProjects,
    render: (views) => json(views.map(renderProject)),
  }),
]);
