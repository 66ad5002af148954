import { listMatchingPolicies, testPipeline } from '../resolvers/policies.ts';
import { testGuardrails } from '../resolvers/policy-trials.ts';
import { InvalidInput } from '../src/domain/errors.ts';
import { pipelineOf } from '../src/domain/policies/pipeline.ts';
import { renderGuardrailTrial, renderMatches, renderTrial } from './helpers/answers/policies.ts';
import {
  dictionary,
  listOf,
  literalOf,
  members,
  object,
  optional,
  orNull,
  parseObject,
  required,
  text,
  texts,
} from './helpers/http/body-fields.ts';
import { type HttpRequest, json, route, type RouteRow } from './helpers/http/route.ts';
import { MANAGEMENT_CHANGE } from './helpers/http/row-facts.ts';

const readFacts = members({ team_alias: text, key_alias: text, model: text, tags: texts });
const readTrial = members({ pipeline: required(dictionary), test_messages: required(listOf(dictionary)) });
const readGuardrailTrial = members({
  policy_names: texts,
  guardrail_names: texts,
  inputs_list: listOf(dictionary),
  request_data: optional(orNull(object)),
  input_type: literalOf(['request', 'response'] as const),
  agent_id: text,
});
const readInput = members({ texts });

const ROLES = ['system', 'user', 'assistant', 'tool'] as const;

function parseTrial({ body }: HttpRequest) {
  const sent = readTrial(parseObject(body));
  const pipeline = pipelineOf(sent.pipeline);
  if (pipeline === null) throw new InvalidInput('pipeline must be an object');
  const messages = (sent.test_messages ?? []).map(({ role, content }) => {
    if (typeof content !== 'string') throw new InvalidInput('content of test_messages must be a text');
    return { role: ROLES.find((one) => one === role) ?? ('user' as const), text: content };
  });
  return { pipeline, texts: messages };
}

function parseFacts({ body }: HttpRequest) {
  const { team_alias: teamAlias, key_alias: keyAlias, model, tags } = readFacts(parseObject(body));
  return { teamAlias, teamId: null, keyAlias, model, tags };
}

const inputsOf = ({ body }: HttpRequest) => readGuardrailTrial(parseObject(body)).inputs_list ?? [];

/** `request_data` has facts that no guardrail here reads. Throws InvalidInput. */
function parseGuardrailTrial(request: HttpRequest) {
  const sent = readGuardrailTrial(parseObject(request.body));
  if (sent.agent_id !== null)
    throw new InvalidInput('agent_id is not supported: a trial calls no model. Leave agent_id out.');
  return {
    policies: sent.policy_names,
    guardrails: sent.guardrail_names,
    phase: sent.input_type ?? 'request',
    inputs: inputsOf(request).map((input, index) => readInput(input, ['body', 'inputs_list', index]).texts),
  };
}

const CHANGE = { ...MANAGEMENT_CHANGE, failureForm: { body: 'text' } } as const satisfies Partial<RouteRow>;

/** The policies that apply to a call, and trials of pipelines and guardrails. */
export const policyTrialRoutes: readonly RouteRow[] = [
  route({
    ...CHANGE,
    name: 'policies.resolve',
    bodySchema: readFacts.schema,
    paths: ['/policies/resolve'],
    statuses: [200, 401, 422],
    parse: parseFacts,
    run: listMatchingPolicies,
    render: (matched) => json(renderMatches(matched)),
  }),
  route({
    ...CHANGE,
    name: 'policies.match',
    bodySchema: readFacts.schema,
    paths: ['/policy/test'],
    statuses: [200, 401, 422],
    parse: parseFacts,
    run: listMatchingPolicies,
    render(matched, request) {
      const { teamAlias, keyAlias, model, tags } = parseFacts(request);
      return json({
        context: { team_alias: teamAlias, key_alias: keyAlias, model, tags: tags.length === 0 ? null : tags },
        matching_policies: matched.map(({ name }) => name),
        resolved_guardrails: renderMatches(matched).effective_guardrails,
        message: null,
      });
    },
  }),
  route({
    ...CHANGE,
    name: 'policies.testPipeline',
    bodySchema: readTrial.schema,
    paths: ['/policies/test-pipeline'],
    statuses: [200, 400, 401, 403, 422],
    parse: parseTrial,
    run: testPipeline,
    render: (trial, request) => json(renderTrial(trial, parseTrial(request).texts)),
  }),
  route({
    ...CHANGE,
    name: 'policies.testGuardrails',
    bodySchema: readGuardrailTrial.schema,
    paths: ['/utils/test_policies_and_guardrails'],
    statuses: [200, 400, 401, 403, 404, 422],
    parse: parseGuardrailTrial,
    run: testGuardrails,
    render(trials, request) {
      const inputs = inputsOf(request);
      return json({ results: trials.map((trial, index) => renderGuardrailTrial(inputs[index] ?? {}, trial)) });
    },
  }),
];
