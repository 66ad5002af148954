import {
  createCredential,
  deleteCredential,
  getCredential,
  getModelCredential,
  listCredentials,
  type NewCredential,
  updateCredential,
} from '../resolvers/credentials.ts';
import type { KnownCredential } from '../src/domain/credentials/credential.ts';
import { maskedParameters } from '../src/domain/deployments/parameters.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { fields, object, requiredText, text, required } from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT } from './helpers/http/row-facts.ts';

/** Absent `credential_values` are read as an empty object. */
const readNew = fields({
  credential_name: requiredText,
  credential_values: object,
  credential_info: required(object),
  model_id: text,
});
/** `credential_name` is only checked: the path names the credential. */
const readChange = fields({ credential_name: text, credential_values: object, credential_info: object });

function parseNew({ body }: HttpRequest): NewCredential {
  const { credential_name: name, credential_values: values, credential_info: info, model_id: modelId } = readNew(body);
  if (name === '') throw invalidMember(['credential_name'], 'the name is empty');
  if (Object.keys(values).length > 0) return { name, from: { values }, info };
  if (modelId === null || modelId === '') throw invalidMember([], 'Either credential_values or model_id must be set');
  return { name, from: { modelId }, info };
}

const invalidMember = (path: readonly string[], message: string): InvalidInput =>
  new InvalidInput('The body is not valid.', [
    { path: ['body', ...path], rule: 'value_error', message: `Value error, ${message}` },
  ]);

const renderCredential = (row: KnownCredential) => ({
  credential_name: row.id,
  display_name: row.displayName,
  credential_info: row.info,
  credential_values: maskedParameters(row),
  source: row.stored === null ? 'config' : 'db',
  ...(row.isStoredIgnored ? { stored_database_value_ignored: true } : {}),
});

const nameIn = ({ params }: HttpRequest): { readonly name: string } => ({ name: params['name'] ?? '' });
const changedAnswer = (verb: string) => json({ success: true, message: `Credential ${verb} successfully` });

const CREDENTIALS = {
  ...MANAGEMENT,
  failureForm: { body: 'rule', conflictAs: 'conflict' },
} as const;
const READING = { ...CREDENTIALS, method: 'GET', bodyLimit: 0 } as const;
const BODY_LIMIT = 1024 * 1024;

/** Provider credentials that models refer to by name. */
export const credentialRoutes: readonly RouteRow[] = [
  route({
    ...CREDENTIALS,
    name: 'credentials.create',
    bodySchema: readNew.schema,
    method: 'POST',
    paths: ['/credentials'],
    statuses: [200, 400, 401, 403, 404, 409, 422],
    bodyLimit: BODY_LIMIT,
    parse: parseNew,
    run: createCredential,
    render: () => changedAnswer('created'),
  }),
  route({
    ...READING,
    name: 'credentials.list',
    paths: ['/credentials'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listCredentials,
    render: (rows) => json({ success: true, credentials: rows.map(renderCredential) }),
  }),
  route({
    ...READING,
    name: 'credentials.get',
    paths: ['/credentials/by_name/{*name}'],
    statuses: [200, 401, 404],
    parse: nameIn,
    run: getCredential,
    render: (row) => json(renderCredential(row)),
  }),
  route({
    ...READING,
    name: 'credentials.ofModel',
    paths: ['/credentials/by_model/{*name}'],
    statuses: [200, 401, 404],
    parse: (request) => ({ id: nameIn(request).name }),
    run: getModelCredential,
    render: ({ id, model, parameters }) =>
      json({
        credential_name: `${model}-credential-${id}`,
        display_name: null,
        credential_info: {},
        credential_values: maskedParameters(parameters),
      }),
  }),
  route({
    ...CREDENTIALS,
    name: 'credentials.update',
    bodySchema: readChange.schema,
    method: 'PATCH',
    paths: ['/credentials/{*name}'],
    statuses: [200, 400, 401, 403, 404, 422],
    bodyLimit: BODY_LIMIT,
    parse(request) {
      const { credential_values: values, credential_info: info } = readChange(request.body);
      return { ...nameIn(request), values, info };
    },
    run: updateCredential,
    render: () => changedAnswer('updated'),
  }),
  route({
    ...CREDENTIALS,
    name: 'credentials.delete',
    method: 'DELETE',
    paths: ['/credentials/{*name}'],
    statuses: [200, 400, 401, 403, 404],
    bodyLimit: 0,
    parse: nameIn,
    run: deleteCredential,
    render: () => changedAnswer('deleted'),
  }),
];
