import type { JsonObject } from '../src/domain/json-object.ts';
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
  flag,
  optional,
  members,
  object,
  parseObject,
  requiredText,
  requiredTexts,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { GUARDRAIL_READERS } from './helpers/fields/key-metadata.ts';
import { withIgnoredHeader } from './helpers/http/ignored-members.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { renderBudgetTable } from './helpers/answers/limits.ts';
import {
  BUDGET_MEMBERS,
  budgetFrom,
  withoutUndefined,
  metadataMembersOf,
  MODEL_LIMITS,
  withMetadataMembers,
} from './helpers/fields/limits.ts';
import { merged, textParameters } from './helpers/http/schema.ts';
import { usdNumber } from '../src/domain/money.ts';
import { redactedMetadata } from '../src/domain/settings/redaction.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readMembers = members({
  project_alias: optional(text),
  description: optional(text),
  models: optional(texts),
  tags: optional(texts),
  metadata: optional(object),
  blocked: optional(flag),
  budget_id: text,
});
const readMetadata = members<JsonObject>(GUARDRAIL_READERS);
const readNew = members({ team_id: requiredText, project_id: text });
const readChanged = members({ project_id: requiredText, team_id: optional(text) });

function parseSettings(input: JsonObject) {
  const { project_alias: alias, budget_id: budgetId, blocked, ...columns } = readMembers(input);
  return {
    patch: {
      ...withoutUndefined(columns),
      ...withoutUndefined({ alias, blocked: blocked ?? undefined }),
      // Guardrails and limits per model are stored in the metadata.
      ...withMetadataMembers({ ...readMetadata(input), ...metadataMembersOf(input).metadataMembers }),
    },
    budget: { budgetId, limits: budgetFrom(input) },
  };
}

function parseNew(body: Uint8Array) {
  const input = parseObject(body);
  const { team_id: teamId, project_id: id } = readNew(input);
  return { id, teamId, ...parseSettings(input) };
}

function parseChange(body: Uint8Array) {
  const input = parseObject(body);
  const { project_id: id, team_id: teamId } = readChanged(input);
  const { patch, budget } = parseSettings(input);
  return { id, patch: { ...patch, ...withoutUndefined({ teamId: teamId ?? undefined }) }, budget };
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
  metadata: redactedMetadata(project.metadata),
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
  ...MANAGEMENT_CHANGE,
  statuses: [200, 400, 401, 403, 404, 422],
  failureForm: { body: 'named', param: 'project_id' },
} as const;
const READING = { ...CHANGING, method: 'GET', bodyLimit: 0 } as const;

const readIds = fields({ project_ids: requiredTexts });

/** Projects of teams. */
export const projectRoutes: readonly RouteRow[] = withIgnoredHeader([
  route({
    ...CHANGING,
    name: 'projects.create',
    bodySchema: merged(readMembers, readMetadata, MODEL_LIMITS, BUDGET_MEMBERS, readNew),
    paths: ['/project/new'],
    parse: ({ body }) => parseNew(body),
    run: createProject,
    render: (view) => json(renderProject(view)),
  }),
  route({
    ...CHANGING,
    name: 'projects.update',
    bodySchema: merged(readMembers, readMetadata, MODEL_LIMITS, BUDGET_MEMBERS, readChanged),
    paths: ['/project/update'],
    parse: ({ body }) => parseChange(body),
    run: updateProject,
    render: (view) => json(renderProject(view)),
  }),
  route({
    ...READING,
    name: 'projects.info',
    querySchema: textParameters('project_id'),
    paths: ['/project/info'],
    statuses: [200, 401, 403, 404],
    parse: ({ search }) => ({ id: new URLSearchParams(search).get('project_id') ?? '' }),
    run: getProject,
    render: (view) => json(renderProject(view)),
  }),
  route({
    ...READING,
    name: 'projects.list',
    paths: ['/project/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listProjects,
    render: (views) => json(views.map(renderProject)),
  }),
  route({
    ...CHANGING,
    method: 'DELETE',
    name: 'projects.delete',
    bodySchema: readIds.schema,
    paths: ['/project/delete'],
    statuses: [200, 401, 403, 404, 422],
    parse: ({ body }) => readIds(body).project_ids,
    run: deleteProjects,
    render: (views) => json(views.map(renderProject)),
  }),
]);
