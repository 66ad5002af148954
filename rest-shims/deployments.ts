import type { JsonObject } from '../src/domain/json-object.ts';
import {
  type ChangedDeployment,
  createDeployment,
  deleteDeployment,
  type NewDeployment,
  patchDeployment,
  updateDeployment,
} from '../resolvers/deployment-changes.ts';
import { maskedParameters } from '../src/domain/deployments/parameters.ts';
import type { StoredDeployment } from '../src/domain/deployments/stored-deployment.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import {
  fields,
  optional,
  members,
  object,
  parseObject,
  requiredText,
  text,
  missingField,
} from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import { withoutUndefined } from './helpers/fields/limits.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readNew = members({ model_name: requiredText, litellm_params: object, model_info: object });
const readChange = members({ model_name: optional(text), litellm_params: object, model_info: object });
const readId = fields({ id: requiredText });
const readModelId = fields({ model_id: requiredText });

function parseNew(body: Uint8Array): NewDeployment {
  const input = parseObject(body);
  const { model_name: modelGroup, litellm_params: params, model_info: info } = readNew(input);
  if (input['litellm_params'] === undefined) throw missingField('litellm_params');
  if (params['model'] === undefined) throw missingField('litellm_params', 'model');
  return { id: idIn(info), modelGroup, params, info };
}

function idIn({ id }: JsonObject): string | null {
  if (id === undefined || id === null || id === '') return null;
  if (typeof id === 'string') return id;
  const issue = { path: ['body', 'model_info', 'id'], rule: 'string_type', message: 'Input should be a valid string' };
  throw new InvalidInput('The body is not valid.', [issue]);
}

function parseChange(body: Uint8Array) {
  const { model_name: name, litellm_params: params, model_info: info } = readChange(parseObject(body));
  return {
    id: idIn(info),
    params,
    info,
    ...withoutUndefined({ modelGroup: name === null || name === '' ? undefined : name }),
  };
}

const renderRow = (row: StoredDeployment) => ({
  model_id: row.id,
  model_name: row.modelGroup,
  litellm_params: maskedParameters(row),
  model_info: { ...row.info, id: row.id, db_model: true },
  blocked: row.blocked,
  created_at: row.createdAt.toISOString(),
  created_by: row.createdBy,
  updated_at: row.updatedAt.toISOString(),
  updated_by: row.updatedBy,
});

/** Header with the warning about prices, if any. The body of the reference has no member for a warning. */
const warningHeaders = ({ warning }: ChangedDeployment): Readonly<Record<string, string>> =>
  warning === null ? {} : { 'x-lensgate-warning': warning };

const blocking = (name: 'block' | 'unblock'): RouteRow =>
  route({
    ...MANAGEMENT_CHANGE,
    name: `deployments.${name}`,
    bodySchema: readModelId.schema,
    paths: [`/model/${name}`],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ body }) => ({ id: readModelId(body).model_id, blocked: name === 'block' }),
    run: patchDeployment,
    render: (row) => json(renderRow(row), warningHeaders(row)),
  });

/** Deployments that administrators store at run time. */
export const deploymentRoutes: readonly RouteRow[] = [
  route({
    ...MANAGEMENT_CHANGE,
    name: 'deployments.create',
    bodySchema: readNew.schema,
    paths: ['/model/new'],
    statuses: [200, 400, 401, 403, 422],
    failureForm: { body: 'model' },
    parse: ({ body }) => parseNew(body),
    run: createDeployment,
    render: (row) => json(renderRow(row), warningHeaders(row)),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    name: 'deployments.update',
    bodySchema: readChange.schema,
    paths: ['/model/update'],
    statuses: [200, 400, 401, 403, 422],
    failureForm: { body: 'model', notFoundAs: 'bad_request' },
    parse: ({ body }) => parseChange(body),
    run: updateDeployment,
    render: (row) => json(renderRow(row), warningHeaders(row)),
  }),
  route({
    ...MANAGEMENT_CHANGE,
    method: 'PATCH',
    name: 'deployments.patch',
    bodySchema: readChange.schema,
    paths: ['/model/:id/update'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: ({ params, body }) => ({ ...parseChange(body), id: params['id'] ?? '' }),
    run: patchDeployment,
    render: (row) => json(renderRow(row), warningHeaders(row)),
  }),
  blocking('block'),
  blocking('unblock'),
  route({
    ...MANAGEMENT_CHANGE,
    name: 'deployments.delete',
    bodySchema: readId.schema,
    paths: ['/model/delete'],
    statuses: [200, 400, 401, 403, 422],
    failureForm: { body: 'model', notFoundAs: 'bad_request' },
    parse: ({ body }) => readId(body),
    run: deleteDeployment,
    render: ({ id }) => json({ message: `Model: ${id} deleted successfully` }),
  }),
];
