import {
  type ChangedGroup,
  createModelAccessGroup,
  deleteModelAccessGroup,
  getModelAccessGroup,
  listModelAccessGroups,
  updateModelAccessGroup,
} from '../resolvers/model-access-groups.ts';
import type { ModelAccessGroup } from '../src/domain/deployments/model-access-groups.ts';
import { type FieldReader, fields, requiredText, texts } from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

/** A list of texts; null when absent. */
const optionalTexts: FieldReader<readonly string[] | null> = (input) =>
  input === undefined || input === null ? { value: null } : texts(input);

const MEMBERS = { model_names: optionalTexts, model_ids: optionalTexts };
const readNew = fields({ access_group: requiredText, ...MEMBERS });
const readChange = fields(MEMBERS);

const nameIn = ({ params }: HttpRequest): { readonly name: string } => ({ name: params['group'] ?? '' });

const renderChanged = ({ name, models, deploymentIds, changed }: ChangedGroup) =>
  json({ access_group: name, model_names: models, model_ids: deploymentIds, models_updated: changed });

/** `spend` is always 0: spend is not counted by access group, but clients require the member. */
const renderGroup = ({ name, models, deployments }: ModelAccessGroup) => ({
  access_group: name,
  model_names: models,
  deployment_count: deployments,
  spend: 0,
  budget: null,
});

const COMMON = {
  ...MANAGEMENT,
  failureForm: { body: 'detail', conflictAs: 'conflict' },
} as const;
const READING = { ...COMMON, method: 'GET', bodyLimit: 0 } as const;
const BODY_LIMIT = 1024 * 1024;

/** Access groups of models: a key whose `models` contains the name of a group may call the models of the group. */
export const modelAccessGroupRoutes: readonly RouteRow[] = [
  route({
    ...COMMON,
    method: 'POST',
    name: 'modelAccessGroups.create',
    bodySchema: readNew.schema,
    paths: ['/access_group/new'],
    statuses: [200, 400, 401, 403, 409, 422],
    bodyLimit: BODY_LIMIT,
    parse({ body }) {
      const { access_group: name, model_names: models, model_ids: deploymentIds } = readNew(body);
      return { name, models, deploymentIds };
    },
    run: createModelAccessGroup,
    render: renderChanged,
  }),
  route({
    ...READING,
    name: 'modelAccessGroups.list',
    paths: ['/access_group/list'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listModelAccessGroups,
    render: (groups) => json({ access_groups: groups.map(renderGroup) }),
  }),
  route({
    ...READING,
    name: 'modelAccessGroups.info',
    paths: ['/access_group/:group/info'],
    statuses: [200, 401, 404],
    parse: nameIn,
    run: getModelAccessGroup,
    render: (group) => json(renderGroup(group)),
  }),
  route({
    ...COMMON,
    method: 'PUT',
    name: 'modelAccessGroups.update',
    bodySchema: readChange.schema,
    paths: ['/access_group/:group/update'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: BODY_LIMIT,
    parse(request) {
      const { model_names: models, model_ids: deploymentIds } = readChange(request.body);
      return { ...nameIn(request), models, deploymentIds };
    },
    run: updateModelAccessGroup,
    render: renderChanged,
  }),
  route({
    ...COMMON,
    method: 'DELETE',
    name: 'modelAccessGroups.delete',
    paths: ['/access_group/:group/delete'],
    statuses: [200, 400, 401, 403, 404],
    bodyLimit: 0,
    parse: nameIn,
    run: deleteModelAccessGroup,
    render: ({ name, changed }) =>
      json({
        access_group: name,
        models_updated: changed,
        message: `Access group '${name}' deleted successfully`,
      }),
  }),
];
