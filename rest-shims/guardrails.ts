import type { JsonObject } from '../src/domain/json-object.ts';
import {
  applyGuardrail,
  createGuardrail,
  deleteGuardrail,
  getGuardrail,
  getGuardrailCategory,
  listConfiguredGuardrails,
  listGuardrailKinds,
  listGuardrails,
  testGuardrailCode,
  updateGuardrail,
} from '../resolvers/guardrails.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import type { GuardrailDefinition } from '../src/domain/guardrails/definition.ts';
import { redacted } from '../src/domain/settings/redaction.ts';
import {
  type FieldReader,
  optional,
  members,
  object,
  parseObject,
  requiredText,
  text,
  texts,
  required,
  dictionary,
} from './helpers/http/body-fields.ts';
import { renderKinds, renderSettings } from './helpers/answers/guardrails.ts';
import { type HttpAnswer, type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { described, objectSchema } from './helpers/http/schema.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const objectOrNull: FieldReader<JsonObject | null> = described({ type: ['object', 'null'] }, (input) =>
  input === null ? { value: null } : object(input),
);

const readGuardrail = members({
  guardrail_name: requiredText,
  litellm_params: required(dictionary),
  guardrail_info: optional(objectOrNull),
  guardrail_id: text,
  team_id: text,
});
const readPatch = members({
  guardrail_name: text,
  litellm_params: optional(objectOrNull),
  guardrail_info: optional(objectOrNull),
  team_id: optional(text),
});
const readApplied = members({ guardrail_name: requiredText, text: requiredText, language: text, entities: texts });
/** A body with code of a guardrail. Nothing of it is used: code does not run here. */
const readCode = members({
  custom_code: requiredText,
  test_input: required(dictionary),
  input_type: text,
  request_data: optional(objectOrNull),
});
/** Reads only the outer object of `{guardrail: {…}}`. `WRAPPED` is the schema of the whole body. */
const readOuter = members({ guardrail: required(dictionary) });
const WRAPPED = objectSchema({ guardrail: readGuardrail.schema }, ['guardrail']);

/** Parses the body `{guardrail: {…}}`. Throws InvalidInput. */
function parseWrapped(body: Uint8Array) {
  const { guardrail } = readOuter(parseObject(body));
  try {
    return readGuardrail(guardrail);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const issues = error.issues.map(({ path, ...issue }) => ({
      ...issue,
      path: ['body', 'guardrail', ...path.slice(1)],
    }));
    throw new InvalidInput(error.message, issues);
  }
}

function parseApplied({ body }: HttpRequest) {
  const { guardrail_name: name, text: checkedText, language, entities } = readApplied(parseObject(body));
  return { name, text: checkedText, language, entities: entities.length === 0 ? null : entities };
}

function parseNew({ body }: HttpRequest) {
  const { guardrail_name: name, litellm_params: params, ...input } = parseWrapped(body);
  return { id: input.guardrail_id, name, params, info: input.guardrail_info ?? null, teamId: input.team_id };
}

function parseReplaced({ body, params: { id = '' } }: HttpRequest) {
  const {
    guardrail_name: name,
    litellm_params: params,
    guardrail_info: info = null,
    team_id: teamId,
  } = parseWrapped(body);
  return { id, patch: { name, params, info, teamId } };
}

function parsePatch({ body, params: { id = '' } }: HttpRequest) {
  const input = readPatch(parseObject(body));
  const { guardrail_name: name, litellm_params: changedParams, guardrail_info: info, team_id: teamId } = input;
  const patch = {
    ...(name === null ? {} : { name }),
    ...(changedParams ? { changedParams } : {}),
    ...(info === undefined ? {} : { info }),
    ...(teamId === undefined ? {} : { teamId }),
  };
  return { id, patch };
}

/** A guardrail in the answer to its creation. The other forms have more members. Secrets are redacted. */
const renderNew = (one: GuardrailDefinition) => ({
  guardrail_id: one.id,
  guardrail_name: one.name,
  litellm_params: redacted('litellm_params', one.params, 'admin'),
  guardrail_info: one.info,
});

const renderWithTimes = (one: GuardrailDefinition) => ({
  ...renderNew(one),
  created_at: one.createdAt?.toISOString() ?? null,
  updated_at: one.updatedAt?.toISOString() ?? null,
});

const renderWithSource = (one: GuardrailDefinition) => ({
  ...renderWithTimes(one),
  guardrail_definition_location: one.isFromConfig ? 'config' : 'db',
});

const answerOf = (definitions: readonly GuardrailDefinition[]) =>
  json({ guardrails: definitions.map(renderWithSource) });

/** A changed guardrail. Changes need no review: the status is always `active`. */
const renderChanged = (one: GuardrailDefinition): HttpAnswer =>
  json({ ...renderWithTimes(one), team_id: one.teamId, status: 'active', submitted_at: null, reviewed_at: null });

const idIn = ({ params }: HttpRequest): { readonly id: string } => ({ id: params['id'] ?? '' });

const ROW = {
  ...MANAGEMENT_READ,
  failureForm: { body: 'text', conflictAs: 'conflict' },
} as const satisfies Partial<RouteRow>;
const ROW_WITH_BODY = { ...ROW, bodyLimit: 1024 * 1024 } as const;
const LISTED = { ...ROW, statuses: [200, 401] } as const;

/** Guardrails: lists, changes, form options and checks of texts. */
export const guardrailRoutes: readonly RouteRow[] = [
  route({
    ...LISTED,
    name: 'guardrails.list',
    paths: ['/guardrails/list'],
    parse: () => undefined,
    run: listConfiguredGuardrails,
    render: answerOf,
  }),
  route({
    ...LISTED,
    name: 'guardrails.listAll',
    paths: ['/v2/guardrails/list'],
    parse: () => undefined,
    run: listGuardrails,
    render: answerOf,
  }),
  route({
    ...LISTED,
    name: 'guardrails.submissions',
    paths: ['/guardrails/submissions'],
    parse: () => undefined,
    run: listGuardrails,
    // The operation only checks the caller. There are no submissions: administrators store guardrails directly.
    render: () => json({ submissions: [], summary: { total: 0, pending_review: 0, active: 0, rejected: 0 } }),
  }),
  route({
    ...LISTED,
    name: 'guardrails.settings',
    paths: ['/guardrails/ui/add_guardrail_settings'],
    parse: () => undefined,
    run: listGuardrailKinds,
    render: (kinds) => json(renderSettings(kinds)),
  }),
  route({
    ...LISTED,
    name: 'guardrails.kinds',
    paths: ['/guardrails/ui/provider_specific_params'],
    parse: () => undefined,
    run: listGuardrailKinds,
    render: (kinds) => json(renderKinds(kinds)),
  }),
  route({
    ...LISTED,
    name: 'guardrails.airlines',
    paths: ['/guardrails/ui/major_airlines'],
    parse: () => undefined,
    run: listGuardrailKinds,
    // The operation only checks the caller. The list is for guardrails about competitors, which do not exist here.
    render: () => json({ airlines: [] }),
  }),
  route({
    ...ROW,
    name: 'guardrails.category',
    paths: ['/guardrails/ui/category_yaml/:name'],
    statuses: [401, 404],
    parse: ({ params }) => ({ name: params['name'] ?? '' }),
    run: getGuardrailCategory,
    // The operation always throws NotFound.
    render: (none) => none,
  }),
  route({
    ...ROW_WITH_BODY,
    method: 'POST',
    name: 'guardrails.create',
    bodySchema: WRAPPED,
    paths: ['/guardrails'],
    statuses: [200, 400, 401, 403, 409, 422],
    parse: parseNew,
    run: createGuardrail,
    render: (one) => json(renderNew(one)),
  }),
  route({
    ...ROW,
    name: 'guardrails.get',
    paths: ['/guardrails/:id', '/guardrails/:id/info'],
    statuses: [200, 401, 404],
    parse: idIn,
    run: getGuardrail,
    render: (one) => json(renderWithSource(one)),
  }),
  route({
    ...ROW_WITH_BODY,
    method: 'PUT',
    name: 'guardrails.replace',
    bodySchema: WRAPPED,
    paths: ['/guardrails/:id'],
    statuses: [200, 400, 401, 403, 404, 409, 422],
    parse: parseReplaced,
    run: updateGuardrail,
    render: renderChanged,
  }),
  route({
    ...ROW_WITH_BODY,
    method: 'PATCH',
    name: 'guardrails.update',
    bodySchema: readPatch.schema,
    paths: ['/guardrails/:id'],
    statuses: [200, 400, 401, 403, 404, 409, 422],
    parse: parsePatch,
    run: updateGuardrail,
    render: renderChanged,
  }),
  route({
    ...ROW,
    method: 'DELETE',
    name: 'guardrails.delete',
    paths: ['/guardrails/:id'],
    statuses: [200, 401, 403, 404, 409],
    parse: idIn,
    run: deleteGuardrail,
    render: ({ id }) => json({ message: `Guardrail ${id} deleted successfully` }),
  }),
  route({
    ...ROW_WITH_BODY,
    method: 'POST',
    name: 'guardrails.apply',
    failureForm: { body: 'rule' },
    bodySchema: readApplied.schema,
    paths: ['/guardrails/apply_guardrail', '/apply_guardrail'],
    statuses: [200, 400, 401, 404, 422],
    parse: parseApplied,
    run: applyGuardrail,
    render: (checkedText) => json({ response_text: checkedText }),
  }),
  route({
    ...ROW_WITH_BODY,
    method: 'POST',
    name: 'guardrails.testCode',
    bodySchema: readCode.schema,
    paths: ['/guardrails/test_custom_code'],
    statuses: [200, 401, 403, 422],
    parse({ body }) {
      readCode(parseObject(body));
      return undefined;
    },
    run: testGuardrailCode,
    render: ({ error }) => json({ success: false, result: null, error, error_type: 'compilation' }),
  }),
];
